// yardmaster-serve: all commands which need gRPC.
#include <cstdlib>

#include "env/base/os/program.h"
#include "env/base/text/nearest_name.h"
#include "experiments/programs/serve/commands.h"

namespace yard {

namespace {

int run(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "serve") return run_serve(argc - 1, argv + 1);
  if (name == "decide") return run_decide(argc - 1, argv + 1);
  if (name == "log") return run_decision_log(argc - 1, argv + 1);
  if (name == "bench-served") return run_bench_served(argc - 1, argv + 1);
  if (name == "--describe") {
    for (const auto command : {run_serve, run_decide, run_decision_log}) command(argc, argv);
    return 0;
  }
  throw unknown_name("yardmaster-serve: command", {"serve", "decide", "log", "bench-served"}, name);
}

}  // namespace
}  // namespace yard

int main(int argc, char** argv) {
  // Silence gRPC's own messages, such as about a port in use, which the server reports itself.
  // GivenSetting the variable outside enables them for debugging.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  return yard::run_main(argc, argv, yard::run);
}
