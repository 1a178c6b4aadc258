// Memory of simulator states and of training environments, relative to limits.
#include "env/sim/rules/world.h"
#include "env/task/select.h"
#include "experiments/programs/bench/bench.h"

namespace yard::bench {
void bench_memory(Json& results) {
  const auto add = [&](const char* name, size_t used, double limit, const char* against) {
    const auto bytes = static_cast<double>(used);
    add_result(results, name, 1e-3 * bytes, "kB", bytes / limit, against);
  };
  const Scenario large = generated_habit_scenario("1250x8", 100'000);
  const World state(large.fixed, 100'000);
  add("state_100k_jobs_10k_gpus", state.raw_state().size(), 100'000'000, "100 MB");
  const Scenario small = generated_habit_scenario("8x8", 1'000);
  const World world(small.fixed, 256);
  const View view(small.fixed, world.state(), InformationLevel::kEstimate);
  add("training_world_256_jobs", world.raw_state().size() + JobSelectionTask::memory_bytes(view),
      65'536, "64 KiB");
}

}  // namespace yard::bench
