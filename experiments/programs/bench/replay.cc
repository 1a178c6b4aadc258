// Replay under the rules of Tiresias' simulator: the engine alone, and the whole process up to the
// closed jobs file, relative to the time published for the original. The results of the slow
// reference implementation, a program of the tests, are added.
#include "experiments/replay/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "env/base/core/error.h"
#include "env/base/os/program.h"
#include "experiments/programs/bench/bench.h"
#include "experiments/replay/load_scenario.h"

namespace yard::bench {
namespace {

// CPU seconds of the published simulator for the same trace under fifo; its other policies take at
// least as long (docs/design/benchmarks.md).
constexpr double kPublishedSeconds = 24.4;
constexpr std::array<std::array<const char*, 2>, 6> kCases = {{{"fifo", "yarn"},
                                                               {"fifo", "count"},
                                                               {"shortest", "count"},
                                                               {"shortest-gpu", "count"},
                                                               {"dlas", "count"},
                                                               {"dlas-gpu", "count"}}};

// Seconds of the engine, least of 9 runs.
double engine_seconds(const Scenario& scenario, const char* policy, const char* placement,
                      int64_t& events) {
  RunOptions run;
  run.rules = "tiresias";
  run.placement = placement;
  const PreparedPolicy prepared = prepare(policy, run);
  double best = 1e300;
  for (int i = 0; i < 9; ++i) {
    const Run done = run_prepared(scenario, prepared, run);
    best = std::min(best, done.wall_s);
    events = done.outcome.events;
  }
  return best;
}

// Seconds from the start of the process to the closed jobs file, least of 7 runs.
double process_seconds(const char* policy, const char* placement) {
  const std::string out = fmt::format("/tmp/yardmaster-bench-{}.csv", getpid());
  const std::string command = fmt::format(
      "'{}yardmaster-sim' simulate --trace synthetic:xv --generate-jobs 10000 "
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
  ScenarioOptions options;
  options.trace = "synthetic:xv";
  options.generate_jobs = 10'000;
  options.cluster = "8x8";
  const Scenario scenario = load_scenario(options);
  for (const auto& [policy, placement] : kCases) {
    int64_t events = 0;
    const double engine = engine_seconds(scenario, policy, placement, events);
    const double process = process_seconds(policy, placement);
    const std::string name = fmt::format("replay_xv10k_{}_{}", policy, placement);
    add_result(results, name, 1e3 * engine, "ms", kPublishedSeconds / engine,
               "24.4 CPU s, published for the Tiresias simulator, fifo")["detail"] = {
        {"events", events}, {"events_per_s", static_cast<double>(events) / engine}};
    add_result(results, name + "_process", 1e3 * process, "ms", kPublishedSeconds / process,
               "24.4 CPU s; from process start to the closed jobs file");
  }
  run_bench_program(results, "yardmaster-reference", "");
}

}  // namespace yard::bench
