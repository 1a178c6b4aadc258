// `bench-served`: compares a served decision with a gRPC echo. Called by `yardmaster bench`.

#include "serving/net/bench_served.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/run/machine.h"

namespace yard {

int run_bench_served(int argc, char** argv) {
  std::string policy = "las";
  int calls = 2000, nodes = 64, waiting = 64;
  bool json = false;
  CLI::App app("Compare a served decision with a gRPC echo of the same messages.", "bench-served");
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Benchmark");
  app.add_option("--policy", policy, "policy: a name, checkpoint:DIR or a file")
      ->type_name(kPolicyType);
  app.add_option("--calls", calls, "calls of each kind")->check(CLI::Range(10, 10'000'000));
  app.add_option("--nodes", nodes, "nodes of 8 GPUs")->check(CLI::Range(1, 4096));
  app.add_option("--waiting", waiting, "waiting jobs")->check(CLI::Range(0, 100'000));
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster-serve bench-served --calls 100"});
  if (!parse_arguments(app, argc, argv)) return 0;

  const ServedBench b = bench_served(policy, busy_cluster(nodes, waiting), calls);
  if (!json) {
    print_to(stdout,
             "{} calls each, {} B per request, {} B per response, "
             "{} decided by the policy\n"
             "served p50 {:.3f} ms p99 {:.3f} ms, policy p50 {:.3f} ms\n"
             "echo   p50 {:.3f} ms p99 {:.3f} ms, ratio p50 {:.2f} p99 {:.2f}\n",
             b.calls, b.request_bytes, b.response_bytes, b.by_policy, b.served.p50_ms,
             b.served.p99_ms, b.policy.p50_ms, b.echo.p50_ms, b.echo.p99_ms,
             b.served.p50_ms / b.echo.p50_ms, b.served.p99_ms / b.echo.p99_ms);
    return 0;
  }
  const Machine machine = this_machine();
  const auto result = [&](const char* name, double served_ms, double echo_ms) {
    return nlohmann::ordered_json{{"name", name},
                                  {"value", served_ms},
                                  {"unit", "ms"},
                                  {"ratio", served_ms / echo_ms},
                                  {"against", "gRPC echo of the same messages, alternating calls"},
                                  {"better", "lower"},
                                  {"detail",
                                   {{"echo_ms", echo_ms},
                                    {"policy", policy},
                                    {"policy_p50_ms", b.policy.p50_ms},
                                    {"policy_p99_ms", b.policy.p99_ms},
                                    {"decided_by_policy", b.by_policy},
                                    {"calls", b.calls},
                                    {"nodes", nodes},
                                    {"waiting_jobs", waiting},
                                    {"request_bytes", b.request_bytes},
                                    {"response_bytes", b.response_bytes}}}};
  };
  const nlohmann::ordered_json out = {
      {"machine",
       {{"cpu", machine.cpu}, {"cores", machine.cores}, {"memory_gib", machine.memory_gib}}},
      {"results",
       {result("served_decision_p50", b.served.p50_ms, b.echo.p50_ms),
        result("served_decision_p99", b.served.p99_ms, b.echo.p99_ms)}}};
  std::puts(out.dump(2).c_str());
  return 0;
}

}  // namespace yard
