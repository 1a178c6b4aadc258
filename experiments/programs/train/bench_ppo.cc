// `bench-ppo`: samples a second of whole updates, rollout and learning, beside the time that the
// same machine needs for the matrix products alone. Called by `yardmaster bench`.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/programs/train/commands.h"
#include "experiments/programs/train/training.h"

namespace yard {

int run_bench_ppo(int, char**) {
  TrainingConfig config;
  config.trace_jobs = 4000;
  config.validate_windows = 1;
  config.learner.updates = 6;
  config.learner.validate_every = 1000;
  config.learner.threads = 1;
  const TrainingData data(config);
  Trainer trainer(config.learner, data.fixed(), data.workload(), {});
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
                                          {{"worlds", config.learner.worlds},
                                           {"steps", config.learner.ppo.steps},
                                           {"epochs", config.learner.ppo.epochs},
                                           {"hidden", config.learner.hidden},
                                           {"threads", 1}}}}}}};
  std::puts(out.dump(2).c_str());
  return 0;
}

}  // namespace yard
