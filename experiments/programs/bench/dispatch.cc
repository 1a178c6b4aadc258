// Decisions per second of the agent `dispatcher`, with and without prior; reference: large memcpy.
#include <cstring>

#include "env/base/text/text.h"
#include "env/batch/batch_env.h"
#include "experiments/programs/bench/play.h"

namespace yard::bench {
namespace {

// Memory bandwidth of this machine, measured by a copy of 64 MiB.
double copy_gb_per_s() {
  std::vector<char> from(64 << 20, 1), to(64 << 20);
  const double s = best_seconds(5, [&] { std::memcpy(to.data(), from.data(), from.size()); });
  return 1e-9 * static_cast<double>(from.size()) / s;
}

struct EnvCase {
  const char* name;
  double load;
  int episode_jobs;
  bool preempt, prior;
};

void run_case(Json& results, const EnvCase& c, double copy_gbps) {
  const Scenario scenario =
      generated_habit_scenario("8x8", 20'000, {"load=" + shortest_text(c.load)});
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
  const ObservationShape& shape = env.shape();
  const double bytes = sizeof(float) * (shape.rows * shape.row_features + shape.cluster_features +
                                        (c.prior ? shape.actions() : 0)) +
                       shape.actions();
  const EnvSpeed played = measure_env_speed(env, config.worlds, shape.rows, 24, 250, [] {});
  const double rate = played.best_per_s;
  add_result(results, c.name, rate, "decisions/s", rate * bytes * 1e-9 / copy_gbps,
             "the bandwidth of a large memcpy, in bytes of observations",
             "higher")["detail"] = {{"worlds", config.worlds},
                                    {"threads", 1},
                                    {"load", c.load},
                                    {"episode_jobs", c.episode_jobs},
                                    {"preempt", c.preempt},
                                    {"prior", c.prior},
                                    {"mean", played.mean_per_s},
                                    {"mean_rows", played.rows},
                                    {"mean_waiting", played.waiting},
                                    {"observation_bytes", bytes}};
}

}  // namespace

void bench_dispatcher_environment(Json& results) {
  const double gbps = copy_gb_per_s();
  for (const EnvCase& c : {EnvCase{"env_load_0.8", 0.8, 256, false, false},
                           EnvCase{"env_prior_load_0.8", 0.8, 256, false, true},
                           EnvCase{"env_preempt_prior_load_0.8", 0.8, 256, true, true},
                           EnvCase{"env_full_window", 10, 640, false, false}}) {
    run_case(results, c, gbps);
  }
}

}  // namespace yard::bench
