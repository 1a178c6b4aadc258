// Replay under the rules of Tiresias' simulator: the engine, and the whole process up to the closed
// file of jobs, beside our own slow reference in the same run and the time published for theirs.
#include "experiments/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "env/base/error.h"
#include "env/base/program.h"
#include "experiments/programs/bench/bench.h"
#include "experiments/scenario.h"
#include "tests/reference/tiresias_reference.h"

namespace yard::bench {
namespace {

// CPU seconds that the published simulator took for the same trace under fifo; for the others they
// are no lower (docs/benchmarks.md).
constexpr double kPublishedSeconds = 24.4;
constexpr std::array<std::array<const char*, 2>, 6> kCases = {{{"fifo", "yarn"},
                                                               {"fifo", "count"},
                                                               {"shortest", "count"},
                                                               {"shortest-gpu", "count"},
                                                               {"dlas", "count"},
                                                               {"dlas-gpu", "count"}}};

Scenario xv(int jobs) {
  ScenarioOptions options;
  options.trace = "synthetic:xv";
  options.generate_jobs = jobs;
  options.cluster = "8x8";
  return load_scenario(options);
}

double engine_seconds(const Scenario& scenario, const char* policy, const char* placement, int runs,
                      int64_t& events) {
  RunOptions run;
  run.rules = "tiresias";
  run.placement = placement;
  const Contestant contestant = prepare(policy, run);
  double best = 1e300;
  for (int i = 0; i < runs; ++i) {
    const Run done = run_prepared(scenario, contestant, run);
    best = std::min(best, done.wall_s);
    events = done.outcome.events;
  }
  return best;
}

// The slow reference takes minutes for ten thousand jobs, so both play a thousand for the ratio.
double reference_ratio(const Scenario& scenario, const char* policy, const char* placement) {
  std::vector<reference::SecondsJob> jobs;
  for (const Job& job : scenario.trace.jobs) {
    jobs.push_back({job.submit_us / 1'000'000, job.run_us / 1'000'000, job.gpus});
  }
  int64_t events = 0;
  const double ours = engine_seconds(scenario, policy, placement, 5, events);
  const double slow = seconds([&] { reference::tiresias(jobs, {8, 8, 8}, policy, placement); });
  return slow / ours;
}

// From the start of the process to the closed file of jobs.
double process_seconds(const char* policy, const char* placement) {
  const std::string out = fmt::format("/tmp/yardmaster-bench-{}.csv", getpid());
  const std::string command = fmt::format(
      "'{}yardmaster-sim' simulate --trace synthetic:xv --set trace.jobs=10000 "
      "--cluster 8x8 --rules tiresias --policy {} --placement {} --jobs-out {} "
      ">/dev/null",
      folder_of_this_program(), policy, placement, out);
  const double best = best_seconds(7, [&] {
    if (std::system(command.c_str()) != 0) throw RunError("cannot run: " + command);
  });
  unlink(out.c_str());
  return best;
}

}  // namespace

void bench_replay(Json& results) {
  const Scenario large = xv(10'000), small = xv(1'000);
  for (const auto& [policy, placement] : kCases) {
    int64_t events = 0;
    const double engine = engine_seconds(large, policy, placement, 9, events);
    const double slower = reference_ratio(small, policy, placement);
    const double process = process_seconds(policy, placement);
    const std::string name = fmt::format("replay_xv10k_{}_{}", policy, placement);
    results.push_back({{"name", name},
                       {"value", 1e3 * engine},
                       {"unit", "ms"},
                       {"ratio", kPublishedSeconds / engine},
                       {"against", "24.4 CPU s, published for the Tiresias simulator, fifo"},
                       {"better", "lower"},
                       {"detail",
                        {{"events", events},
                         {"events_per_s", static_cast<double>(events) / engine},
                         {"slow_reference_ratio_1k_jobs", slower}}}});
    results.push_back({{"name", name + "_reference"},
                       {"value", slower},
                       {"unit", "x"},
                       {"ratio", slower},
                       {"against", "our slow reference simulator, 1,000 jobs, same run"},
                       {"better", "higher"}});
    results.push_back({{"name", name + "_process"},
                       {"value", 1e3 * process},
                       {"unit", "ms"},
                       {"ratio", kPublishedSeconds / process},
                       {"against", "24.4 CPU s; from start of process to the closed jobs file"},
                       {"better", "lower"}});
  }
}

}  // namespace yard::bench
