// Decisions per second of the agent `dispatcher`, with and without prior; reference: large memcpy.
#include <cstring>
#include <vector>

#include "env/base/core/rng.h"
#include "env/base/text/text.h"
#include "env/batch/batch_env.h"
#include "experiments/programs/bench/bench.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/scenario/scenario.h"

namespace yard::bench {
namespace {

// Memory bandwidth of this machine, measured by a copy of 64 MiB.
double copy_gb_per_s() {
  std::vector<char> from(64 << 20, 1), to(64 << 20);
  const double s = best_seconds(5, [&] { std::memcpy(to.data(), from.data(), from.size()); });
  return 1e-9 * static_cast<double>(from.size()) / s;
}

// Draws a uniformly random legal action for each environment.
class RandomActor {
 public:
  explicit RandomActor(int worlds) : rng_(7), action_(static_cast<size_t>(worlds)) {}

  std::span<const int32_t> choose(const BatchEnv& env) {
    for (size_t n = 0; n < action_.size(); ++n) {
      const auto nothing = static_cast<uint32_t>(env.shape().rows);
      const uint8_t* mask = env.mask().data() + n * (nothing + 1);
      const auto rows = static_cast<uint32_t>(env.rows()[n]);
      // Most rows are legal, so draw until one is.
      uint32_t a;
      do {
        a = rng_.below(rows + 1);
      } while (!mask[a == rows ? nothing : a]);
      action_[n] = static_cast<int32_t>(a == rows ? nothing : a);
    }
    return action_;
  }

 private:
  Rng rng_;
  std::vector<int32_t> action_;
};

struct EnvCase {
  const char* name;
  double load;
  int episode_jobs;
  bool preempt, prior;
};

void run_case(Json& results, const EnvCase& c, double copy_gbps) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "8x8";
  options.generate_jobs = 20'000;
  options.trace_settings.overlay("load=" + shortest(c.load), "bench");
  const Scenario scenario = load_scenario(options);
  BatchConfig config;
  config.worlds = 64;
  config.episode_jobs = c.episode_jobs;
  config.prior = c.prior;
  Settings agent;
  for (const auto& [key, value] :
       {std::pair("preempt", c.preempt ? "true" : "false"), std::pair("held_rows", "64"),
        std::pair("waiting_rows", "128")}) {
    agent.set(key, value, "bench");
  }
  config.task = make_agent("dispatcher", agent);
  BatchEnv env(scenario.fixed, scenario.workload, config);
  env.reset();
  RandomActor actor(config.worlds);
  int64_t rows = 0, waiting = 0, decisions = 0;
  const auto run = [&](int steps) {
    double spent = 0;
    for (int i = 0; i < steps; ++i) {
      const auto action = actor.choose(env);
      spent += seconds([&] { env.step(action); });
      for (int n = 0; n < config.worlds; ++n) {
        rows += env.rows()[static_cast<size_t>(n)];
        waiting += env.num_waiting(n);
      }
    }
    decisions += int64_t{steps} * config.worlds;
    return spent;
  };
  run(3'000);  // warm-up to the middle of episodes
  rows = waiting = decisions = 0;
  // Each stretch is repeated from the same saved state, bit for bit; the fastest repetition counts.
  constexpr int kStretches = 24, kTimes = 6, kSteps = 250;
  double best = 0, mean = 0;
  for (int i = 0; i < kStretches; ++i) {
    const std::vector<std::byte> worlds = env.save();
    const RandomActor before = actor;
    double quickest = 1e300;
    for (int k = 0; k < kTimes; ++k) {
      if (k > 0) {
        env.restore(worlds);
        actor = before;
      }
      const double spent = run(kSteps);
      quickest = std::min(quickest, spent);
      mean += spent / kTimes;
    }
    best += quickest;
  }
  const double played = 1.0 * kStretches * kSteps * config.worlds;
  const double rate = played / best;
  const ObservationShape& shape = env.shape();
  const double bytes = sizeof(float) * (shape.rows * shape.row_features + shape.cluster_features +
                                        (c.prior ? shape.actions() : 0)) +
                       shape.actions();
  results.push_back(
      {{"name", c.name},
       {"value", rate},
       {"unit", "decisions/s"},
       {"ratio", rate * bytes * 1e-9 / copy_gbps},
       {"against", "the bandwidth of a large memcpy, in bytes of observations"},
       {"better", "higher"},
       {"detail",
        {{"worlds", config.worlds},
         {"threads", 1},
         {"load", c.load},
         {"episode_jobs", c.episode_jobs},
         {"preempt", c.preempt},
         {"prior", c.prior},
         {"mean", played / mean},
         {"mean_rows", static_cast<double>(rows) / static_cast<double>(decisions)},
         {"mean_waiting", static_cast<double>(waiting) / static_cast<double>(decisions)},
         {"observation_bytes", bytes}}}});
}

}  // namespace

void bench_dispatch(Json& results) {
  const double gbps = copy_gb_per_s();
  for (const EnvCase& c : {EnvCase{"env_load_0.8", 0.8, 256, false, false},
                           EnvCase{"env_prior_load_0.8", 0.8, 256, false, true},
                           EnvCase{"env_preempt_prior_load_0.8", 0.8, 256, true, true},
                           EnvCase{"env_full_window", 10, 640, false, false}}) {
    run_case(results, c, gbps);
  }
}

}  // namespace yard::bench
