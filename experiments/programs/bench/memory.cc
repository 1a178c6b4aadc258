// Memory of simulator states and of training environments, relative to limits.
#include <string>

#include "env/sim/rules/world.h"
#include "env/task/select.h"
#include "experiments/programs/bench/bench.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/scenario/scenario.h"

namespace yard::bench {
namespace {

Scenario load(const char* cluster, int jobs) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = cluster;
  options.generate_jobs = jobs;
  return load_scenario(options);
}

void add(Json& results, const char* name, size_t bytes, size_t limit, const char* against) {
  results.push_back({{"name", name},
                     {"value", 1e-3 * static_cast<double>(bytes)},
                     {"unit", "kB"},
                     {"ratio", static_cast<double>(bytes) / static_cast<double>(limit)},
                     {"against", against},
                     {"better", "lower"}});
}

}  // namespace

void bench_memory(Json& results) {
  const Scenario large = load("1250x8", 100'000);
  const World state(large.fixed, 100'000);
  add(results, "state_100k_jobs_10k_gpus", state.block().size(), 100'000'000, "100 MB");
  const Scenario small = load("8x8", 1'000);
  const World world(small.fixed, 256);
  const View view(small.fixed, world.state(), Level::kEstimate);
  add(results, "training_world_256_jobs", world.block().size() + Select::memory_bytes(view), 65'536,
      "64 KiB");
}

}  // namespace yard::bench
