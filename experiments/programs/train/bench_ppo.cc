// `bench-ppo`: samples per second of whole PPO updates (rollout and learning), and their arithmetic
// rate relative to a large matrix product. Called by `yardmaster bench`.

#include <cstdio>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "agents/kernels/matrix_product.h"
#include "agents/ranks/connect.h"
#include "agents/train/trainable_agent.h"
#include "agents/train/trainer.h"
#include "experiments/programs/train/commands.h"
#include "experiments/train/child_process.h"
#include "experiments/train/training_setup.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

// Floating-point operations of the matrix products of a network and its critic for one decision,
// with `h` hidden units and `rows` rows: one forward pass in the rollout, then a forward and a
// backward pass per epoch. Input features need no gradient.

double flop_of_job_scorer(const ObservationShape& shape, double rows, double h, int epochs) {
  const double f = shape.row_features, c = shape.cluster_features;
  const double row_forward = 2 * f * h + 2 * h * h + 2 * h + 2 * f * h;  // last term: critic
  const double row_backward = 2 * f * h + 4 * h * h + 4 * h + 2 * f * h;
  // Context, then pooled features and their output, for both policy and critic.
  const double whole_forward = 2 * (2 * c * h + 2 * h * h + 2 * c * h + 2 * h);
  const double whole_backward = 2 * (2 * c * h + 4 * h * h + 2 * c * h + 4 * h);
  const double forward = rows * row_forward + whole_forward;
  return forward + epochs * (forward + rows * row_backward + whole_backward);
}

// The same for the flat network. `rows`: rows which are multiplied, padding included.
double flop_of_flat(const ObservationShape& shape, double rows, double h, int epochs) {
  const double in = rows * shape.row_features + shape.cluster_features;
  const double out = shape.actions() + 1;  // with the critic's value
  const double forward = 2 * (in * h + h * h + h * out);
  return forward + epochs * (2 * forward + 2 * (h * h + h * out));
}

struct Measured {
  double samples_per_s = 0, rows = 0;
  double flop = 0;       // per sample, as computed; the flat network includes padding
  double flop_done = 0;  // per sample, without padding rows
  Json seconds = Json::object();
};

// Trains with this number of ranks, each a thread of this process. Returns the fastest update.
Measured train(const TrainingSetup& setup, const TrainableAgent& agent, const SimulatedData& data,
               int ranks) {
  const ObservationShape shape = agent.make_environments(data.env_specs(), {})->shape();
  const double hidden = std::stod(setup.value("hidden"));
  Measured best;
  const TemporaryFolder rendezvous;
  std::mutex trainer_mutex;
  const auto train_as = [&](int r) {
    Rank rank;
    rank.rank = r;
    rank.size = ranks;
    rank.file = rendezvous.path() / "ranks";
    const auto communicator = connect(rank);
    std::optional<Trainer> trainer;
    {
      const std::lock_guard lock(trainer_mutex);  // LibTorch's seed is global
      trainer.emplace(
          setup.loop, setup.learner, setup.network,
          [&](const VectorEnvOptions& options) {
            return agent.make_environments(data.env_specs(), options);
          },
          *communicator, Json());
    }
    TrainCallbacks events;
    if (r == 0) {
      events.on_update = [&](const TrainStats& s) {
        if (s.update == 1) return;  // this one fits the normaliser
        const int epochs = setup.loop.optimizer_config.update_epochs;
        const bool flat = setup.loop.network == "flat";
        const double done =
            (flat ? flop_of_flat : flop_of_job_scorer)(shape, s.rows, hidden, epochs);
        const double flop = flat ? flop_of_flat(shape, shape.rows, hidden, epochs) : done;
        if (flop * s.samples_per_s < best.flop * best.samples_per_s) return;
        best.samples_per_s = s.samples_per_s;
        best.rows = s.rows;
        best.flop = flop;
        best.flop_done = done;
      };
    }
    trainer->run(events);
    if (r > 0) return;
    for (const auto& [stage, seconds] : trainer->stage_seconds()) best.seconds[stage] = seconds;
  };
  std::vector<std::future<void>> all;
  for (int r = 0; r < ranks; ++r) all.push_back(std::async(std::launch::async, train_as, r));
  for (std::future<void>& one : all) one.wait();
  for (std::future<void>& one : all) one.get();
  return best;
}

// How an update is parallelised: threads of one rank, or ranks with one thread each.
struct Parallelism {
  int threads = 1, ranks = 1;
  int all() const { return threads * ranks; }
  std::string suffix() const { return all() == 1 ? "" : ranks == 1 ? "_2_threads" : "_2_ranks"; }
};

Json bench(const std::string& name, const std::vector<std::string>& assignments,
           const Parallelism& parallelism = {}) {
  const int ranks = parallelism.ranks;
  Settings settings;
  for (const std::string& assignment :
       {std::string("trace_jobs=4000"), std::string("validate_windows=1"),
        std::string("validate_every=1000"), "threads=" + std::to_string(parallelism.threads)}) {
    settings.overlay(assignment, "bench");
  }
  for (const std::string& assignment : assignments) settings.overlay(assignment, "bench");
  const TrainingSetup setup = read_setup(settings, ranks);
  const TrainableAgent agent(setup.data.agent, setup.agent);
  const SimulatedData data(setup.data, setup.loop.episode_jobs, *agent.expert());
  const Measured measured = train(setup, agent, data, ranks);
  const double sgemm_flop_per_s = measure_matrix_product_flop_per_s(parallelism.all());
  const std::string threads =
      parallelism.all() == 1 ? "one thread" : std::to_string(parallelism.all()) + " threads";
  return {{"name", name},
          {"value", measured.samples_per_s},
          {"unit", "samples/s"},
          {"better", "higher"},
          {"ratio", measured.flop * measured.samples_per_s / sgemm_flop_per_s},
          {"against", "sgemm, 1024 cubed, " + threads},
          {"detail",
           {{"learner", setup.loop.learner},
            {"network", setup.loop.network},
            {"num_envs", setup.loop.num_envs},
            {"update_epochs", setup.loop.optimizer_config.update_epochs},
            {"hidden", setup.value("hidden")},
            {"rows_a_sample", measured.rows},
            {"flop_a_sample", measured.flop},
            {"flop_done_a_sample", measured.flop_done},
            {"sgemm_flop_per_s", sgemm_flop_per_s},
            {"seconds", measured.seconds},
            {"ranks", ranks},
            {"threads", parallelism.all()}}}};
}

}  // namespace

int run_bench_ppo(int, char**) {
  // Environments and minibatch grow with the number of threads.
  const auto ppo = [](const std::string& network, const Parallelism& parallelism) {
    const std::string name = network == "flat" ? "ppo_flat_samples" : "ppo_samples";
    return bench(
        name + parallelism.suffix(),
        {"learner=ppo", "network=" + network, "hidden=128", "update_epochs=4", "num_steps=64",
         "updates=10", "target_kl=1e9", "num_envs=" + std::to_string(128 * parallelism.all()),
         "minibatch_size=" + std::to_string(2048 * parallelism.all())},
        parallelism);
  };
  Json results = {bench("group_samples", {"learner=group", "updates=6"})};
  for (const Parallelism& parallelism :
       {Parallelism{}, Parallelism{.threads = 2}, Parallelism{.ranks = 2}}) {
    if (parallelism.all() > 1 && std::thread::hardware_concurrency() < 2) break;
    results.push_back(ppo("job-scorer", parallelism));
    results.push_back(ppo("flat", parallelism));
  }
  std::puts(Json{{"results", results}}.dump(2).c_str());
  return 0;
}

}  // namespace yard
