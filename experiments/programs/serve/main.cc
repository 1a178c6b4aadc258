// yardmaster-serve: all commands which need gRPC.
#include <malloc.h>

#include <cstdlib>

#include "env/base/os/program.h"
#include "env/base/text/nearest_name.h"
#include "experiments/cli/command.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/replay/served.h"
#include "serving/snapshot/served_decider.h"

namespace yard {

namespace {

// Requires: both outlive the result.
std::unique_ptr<Decider> served(const Policy& policy, const Scenario& scenario) {
  return std::make_unique<ServedDecider>(policy, scenario.cluster, scenario.simulated_trace().jobs,
                                         scenario.fixed);
}

// `evaluate --served`, which yardmaster-sim hands over.
int run_evaluate(int argc, char** argv) {
  set_served_decider_maker(served);
  for (const sim::Command* command : sim::Command::all()) {
    if (std::string_view(command->name) != "evaluate") continue;
    return sim::run_command(*command, argc, argv);
  }
  return 1;
}

// Lets the allocator keep freed memory. Each decision allocates and frees blocks of up to
// megabytes, which the allocator would otherwise return to the system and get back as cleared
// pages. Settings of the allocator in the environment go first.
void keep_freed_memory() {
  for (const char* name : {"GLIBC_TUNABLES", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}) {
    if (std::getenv(name) != nullptr) return;
  }
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
}

int run(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "serve" || name == "bench-served") keep_freed_memory();
  if (name == "serve") return run_serve(argc - 1, argv + 1);
  if (name == "decide") return run_decide(argc - 1, argv + 1);
  if (name == "status") return run_status(argc - 1, argv + 1);
  if (name == "reload") return run_reload(argc - 1, argv + 1);
  if (name == "models") return run_models(argc - 1, argv + 1);
  if (name == "drift") return run_drift(argc - 1, argv + 1);
  if (name == "why") return run_why(argc - 1, argv + 1);
  if (name == "log") return run_decision_log(argc - 1, argv + 1);
  if (name == "slurm") return run_slurm(argc - 1, argv + 1);
  if (name == "bench-served") return run_bench_served(argc - 1, argv + 1);
  if (name == "evaluate") return run_evaluate(argc - 1, argv + 1);
  if (name == "--describe") {
    for (const auto command : {run_serve, run_decide, run_status, run_reload, run_models, run_drift,
                               run_why, run_decision_log, run_slurm}) {
      command(argc, argv);
    }
    return 0;
  }
  throw unknown_name("yardmaster-serve: command",
                     {"serve", "decide", "status", "reload", "models", "drift", "why", "log",
                      "slurm", "bench-served"},
                     name);
}

}  // namespace
}  // namespace yard

int main(int argc, char** argv) {
  // Silence gRPC's own messages, such as about a port in use, which the server reports itself.
  // Setting the variable outside enables them for debugging.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  return yard::run_main(argc, argv, yard::run);
}
