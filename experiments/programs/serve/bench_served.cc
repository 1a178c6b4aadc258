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
  std::string policy = "las", server;
  int calls = 2000, nodes = 64, waiting = 64;
  std::vector<int> callers;
  double deadline_ms = 20, seconds = 5;
  bool deltas = false, json = false;
  CLI::App app("Compare a served decision with a gRPC echo of the same messages.", "bench-served");
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Benchmark");
  app.add_option("--policy", policy, "policy: a name, checkpoint:DIR or a file")
      ->type_name(kPolicyType);
  app.add_option("--calls", calls, "calls of each kind")->check(CLI::Range(10, 10'000'000));
  app.add_option("--nodes", nodes, "nodes of 8 GPUs")->check(CLI::Range(1, 4096));
  app.add_option("--waiting", waiting, "waiting jobs")->check(CLI::Range(0, 100'000));
  app.add_flag("--deltas", deltas,
               "send only changes since the last call; the gRPC echo still gets whole snapshots");
  auto* load =
      app.add_option(
             "--callers", callers,
             "measure how many decisions are in time instead, for each of these numbers of callers")
          ->delimiter(',')
          ->check(CLI::Range(1, 1024));
  app.add_option("--server", server,
                 "with --callers, measure the server at this address, without TLS, instead of one "
                 "started with --policy")
      ->type_name("ADDRESS")
      ->needs(load);
  app.add_option("--deadline-ms", deadline_ms, "deadline of the callers, in milliseconds")
      ->check(CLI::Range(1.0, 3.6e6))
      ->needs(load);
  app.add_option("--seconds", seconds, "time for each number of callers")
      ->check(CLI::Range(0.1, 3600.0))
      ->needs(load);
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster-serve bench-served --calls 100"});
  if (!parse_arguments(app, argc, argv)) return 0;

  if (!callers.empty()) {
    const pb::DecideRequest request = busy_cluster(nodes, waiting);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    double first_per_s = 0;
    for (const int count : callers) {
      const ServedLoad l = server.empty()
                               ? bench_in_process_load(policy, request, count, deadline_ms, seconds)
                               : bench_load(server, request, count, deadline_ms, seconds);
      const ServedLoad echo = bench_echo_load(request, count, deadline_ms, seconds);
      const double echo_per_s = echo.by_policy / echo.seconds;
      const auto per_s = [&](int answers) { return answers / l.seconds; };
      const double in_time_per_s = per_s(l.by_policy + l.by_heuristic);
      if (rows.empty()) first_per_s = in_time_per_s;
      const double ratio = in_time_per_s / first_per_s;
      rows.push_back({{"callers", count},
                      {"ratio", ratio},
                      {"policy_per_s", per_s(l.by_policy)},
                      {"heuristic_per_s", per_s(l.by_heuristic)},
                      {"no_action_per_s", per_s(l.by_nothing)},
                      {"late_per_s", per_s(l.late)},
                      {"echo_per_s", echo_per_s}});
      if (json) continue;
      print_to(stdout,
               "{} callers: in time {:.0f}/s by the policy, {:.0f}/s by the heuristic, {:.0f}/s "
               "without an action; {:.0f}/s late; decisions {:.2f} x those of {} callers; an echo "
               "in time {:.0f}/s\n",
               count, per_s(l.by_policy), per_s(l.by_heuristic), per_s(l.by_nothing), per_s(l.late),
               ratio, callers.front(), echo_per_s);
    }
    const nlohmann::ordered_json out = {
        {"policy", policy}, {"deadline_ms", deadline_ms}, {"load", rows}};
    if (json) std::puts(out.dump(2).c_str());
    return 0;
  }
  const ServedBench b = bench_served(policy, busy_cluster(nodes, waiting), calls, deltas);
  if (!json) {
    print_to(
        stdout,
        "{} calls each, {} B per request, {} B per snapshot, {} B per response, "
        "{} decided by the policy; a delta takes {:.3f} ms to make\n"
        "served p50 {:.3f} ms p99 {:.3f} ms; of these in the server p50 {:.3f} ms: queue {:.3f}, "
        "reading {:.3f}, policy {:.3f}, guard {:.3f}\n"
        "echo   p50 {:.3f} ms p99 {:.3f} ms, ratio p50 {:.2f} p99 {:.2f}\n",
        b.calls, b.request_bytes, b.snapshot_bytes, b.response_bytes, b.by_policy, b.delta.p50_ms,
        b.served.p50_ms, b.served.p99_ms, b.total.p50_ms, b.queue.p50_ms, b.read.p50_ms,
        b.policy.p50_ms, b.guard.p50_ms, b.echo.p50_ms, b.echo.p99_ms,
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
                                    {"deltas", deltas},
                                    {"delta_p50_ms", b.delta.p50_ms},
                                    {"request_bytes", b.request_bytes},
                                    {"snapshot_bytes", b.snapshot_bytes},
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
