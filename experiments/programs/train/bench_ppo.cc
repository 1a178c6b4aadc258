// `bench-ppo`: samples a second of whole PPO updates, rollout and learning, and how far that is
// from what the machine's matrix product could do. Called by `yardmaster bench`.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "agents/agent.h"
#include "agents/matrix_product.h"
#include "agents/trainer.h"
#include "experiments/programs/train/commands.h"
#include "experiments/programs/train/setup.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

// Floating-point operations of the products of `job-scorer` with its critic, of H hidden units, for
// a decision of so many rows: once forward where it is made, and forward and backward an epoch.
// What is given (features) needs no gradient.
double flop_of_sample(const WorldsShape& shape, double rows, double h, int epochs) {
  const double f = shape.row_features, c = shape.cluster_features;
  const double row_forward = 2 * f * h + 2 * h * h + 2 * h + 2 * f * h;  // the last: the critic's
  const double row_backward = 2 * f * h + 4 * h * h + 4 * h + 2 * f * h;
  // The context, then what is pooled and its output; both of policy and critic.
  const double whole_forward = 2 * (2 * c * h + 2 * h * h + 2 * c * h + 2 * h);
  const double whole_backward = 2 * (2 * c * h + 4 * h * h + 2 * c * h + 4 * h);
  const double forward = rows * row_forward + whole_forward;
  return forward + epochs * (forward + rows * row_backward + whole_backward);
}

struct Measured {
  double samples_per_s = 0, rows = 0;
  Json seconds = Json::object();
};

Measured train(const TrainingSetup& setup, const Agent& agent, const TrainingData& data) {
  const auto ranks = alone();
  Trainer trainer(
      setup.loop, setup.learner, setup.network,
      [&](const WorldsOptions& options) { return agent.worlds(data.courses(), options); }, *ranks,
      {});
  Measured out;
  TrainEvents events;
  events.on_update = [&](const TrainStats& s) {
    if (s.update == 1 || s.samples_per_s < out.samples_per_s) return;  // it fits the normaliser
    out.samples_per_s = s.samples_per_s;
    out.rows = s.rows;
  };
  trainer.run(events);
  for (const auto& [stage, seconds] : trainer.profile()) out.seconds[stage] = seconds;
  return out;
}

Json bench(const char* name, std::initializer_list<const char*> assignments) {
  Settings settings;
  for (const char* assignment :
       {"trace_jobs=4000", "validate_windows=1", "validate_every=1000", "threads=1"}) {
    settings.overlay(assignment, "bench");
  }
  for (const char* assignment : assignments) settings.overlay(assignment, "bench");
  const TrainingSetup setup = read_setup(settings, 1);
  const auto agent = AgentRegistry::make(setup.data.agent, setup.agent);
  const TrainingData data(setup.data, setup.loop.episode_jobs, *agent->heuristic());
  const Measured measured = train(setup, *agent, data);
  const WorldsShape shape = agent->worlds(data.courses(), {})->shape();
  const double flop = flop_of_sample(shape, measured.rows, std::stod(setup.value("hidden")),
                                     setup.loop.descent.epochs);
  const double sgemm = matrix_product_flop_per_s();
  return {{"name", name},
          {"value", measured.samples_per_s},
          {"unit", "samples/s"},
          {"better", "higher"},
          {"ratio", flop * measured.samples_per_s / sgemm},
          {"against", "sgemm, 1024 cubed, one thread"},
          {"detail",
           {{"learner", setup.loop.learner},
            {"worlds", setup.loop.worlds},
            {"epochs", setup.loop.descent.epochs},
            {"hidden", setup.value("hidden")},
            {"rows_a_sample", measured.rows},
            {"flop_a_sample", flop},
            {"sgemm_flop_per_s", sgemm},
            {"seconds", measured.seconds},
            {"threads", 1}}}};
}

}  // namespace

int run_bench_ppo(int, char**) {
  const Json out = {
      {"results",
       {bench("group_samples", {"learner=group", "updates=6"}),
        bench("ppo_samples", {"learner=ppo", "hidden=128", "epochs=4", "steps=128", "worlds=64",
                              "minibatch=2048", "updates=5", "target_kl=1e9"})}}};
  std::puts(out.dump(2).c_str());
  return 0;
}

}  // namespace yard
