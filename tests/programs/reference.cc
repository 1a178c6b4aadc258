// Speed of the engine relative to the slow reference, on the first thousand jobs of xv10k (all
// would take minutes). `yardmaster bench replay` runs this with its own measurements.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/os/program.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"
#include "experiments/scenario/scenario.h"
#include "tests/reference/tiresias_reference.h"

namespace yard {
namespace {

double slow_seconds(const Scenario& scenario, const char* policy, const char* placement) {
  std::vector<reference::SecondsJob> jobs;
  for (const Job& job : scenario.trace.jobs) {
    jobs.push_back({job.submit_us / 1'000'000, job.run_us / 1'000'000, job.gpus});
  }
  const auto begin = std::chrono::steady_clock::now();
  reference::tiresias(jobs, {8, 8, 8}, policy, placement);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(int, char**) {
  ScenarioOptions options;
  options.trace = "synthetic:xv";
  options.generate_jobs = 1'000;
  options.cluster = "8x8";
  const Scenario scenario = load_scenario(options);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  const char* const cases[][2] = {{"fifo", "yarn"},      {"fifo", "count"},
                                  {"shortest", "count"}, {"shortest-gpu", "count"},
                                  {"dlas", "count"},     {"dlas-gpu", "count"}};
  for (const auto& [policy, placement] : cases) {
    RunOptions how;
    how.rules = "tiresias";
    how.placement = placement;
    const PreparedPolicy prepared = prepare(policy, how);
    double engine = 1e300;
    for (int i = 0; i < 9; ++i) {
      engine = std::min(engine, run_prepared(scenario, prepared, how).wall_s);
    }
    const double slow = slow_seconds(scenario, policy, placement);
    results.push_back({{"name", std::string("replay_xv1k_") + policy + "_" + placement},
                       {"value", 1e3 * engine},
                       {"unit", "ms"},
                       {"ratio", slow / engine},
                       {"against", "the slow reference simulator in the same run"},
                       {"better", "lower"}});
  }
  std::puts(nlohmann::ordered_json{{"results", results}}.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace yard

int main(int argc, char** argv) { return yard::run_main(argc, argv, yard::run); }
