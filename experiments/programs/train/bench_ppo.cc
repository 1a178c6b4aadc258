// `bench-ppo`: samples a second of whole updates, rollout and learning, beside the time that the
// same machine needs for the matrix products alone. Called by `yardmaster bench`.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "agents/agent.h"
#include "agents/trainer.h"
#include "experiments/programs/train/commands.h"
#include "experiments/programs/train/setup.h"

namespace yard {

int run_bench_ppo(int, char**) {
  Settings settings;
  for (const char* assignment : {"learner=group", "trace_jobs=4000", "validate_windows=1",
                                 "updates=6", "validate_every=1000", "threads=1"}) {
    settings.overlay(assignment, "bench");
  }
  const TrainingSetup setup = read_setup(settings, 1);
  const TrainingData data(setup.data, setup.loop.episode_jobs,
                          *AgentRegistry::make(setup.data.agent, setup.agent)->heuristic());
  const auto agent = AgentRegistry::make(setup.data.agent, setup.agent);
  const auto ranks = alone();
  Trainer trainer(
      setup.loop, setup.learner, setup.network,
      [&](const WorldsOptions& options) { return agent->worlds(data.courses(), options); }, *ranks,
      {});
  double best = 0;
  TrainEvents events;
  events.on_update = [&](const TrainStats& s) {
    if (s.update > 1) best = std::max(best, s.samples_per_s);  // the first one fits the normaliser
  };
  trainer.run(events);
  const nlohmann::ordered_json out = {{"results",
                                       {{{"name", "ppo_samples"},
                                         {"value", best},
                                         {"unit", "samples/s"},
                                         {"better", "higher"},
                                         {"detail",
                                          {{"worlds", setup.loop.worlds},
                                           {"episode_jobs", setup.loop.episode_jobs},
                                           {"epochs", setup.loop.descent.epochs},
                                           {"hidden", setup.value("hidden")},
                                           {"threads", 1}}}}}}};
  std::puts(out.dump(2).c_str());
  return 0;
}

}  // namespace yard
