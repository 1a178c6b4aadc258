// Adapts the batch environment of an agent (env/batch/batch_env.h) to VectorEnv, for training.
#pragma once

#include "agents/rollout/vector_env.h"

namespace yard {

class BatchVectorEnv final : public VectorEnv {
 public:
  // Requires: as BatchEnv.
  BatchVectorEnv(std::vector<EnvSpec> env_specs, const VectorEnvOptions& options,
                 std::shared_ptr<const Agent> agent)
      : env_(std::move(env_specs), with_agent(options, std::move(agent))) {}

  ObservationShape shape() const override { return env_.shape(); }
  int count() const override { return env_.worlds(); }
  Observations observations() const override {
    return {env_.jobs(),
            env_.cluster(),
            env_.mask(),
            env_.prior(),
            env_.rows(),
            env_.expert_action(),
            env_.reward(),
            env_.dt_s(),
            env_.ending(),
            env_.final_jobs(),
            env_.final_cluster(),
            env_.final_rows(),
            env_.exploration_mask()};
  }
  void reset() override { env_.reset(); }
  void step(std::span<const int32_t> actions) override { env_.step(actions); }
  void begin_next_episodes() override { env_.begin_next_episodes(); }
  bool is_done(int world) const override { return env_.is_done(world); }
  double elapsed_s(int world) const override { return env_.elapsed_s(world); }
  int num_env_specs() const override { return env_.num_env_specs(); }
  void select_env_spec(int env_spec) override {
    std::vector<double> env_spec_weights(static_cast<size_t>(num_env_specs()));
    env_spec_weights[static_cast<size_t>(env_spec)] = 1;
    env_.set_env_spec_weights(env_spec_weights);
  }

  std::vector<double> take_mean_jcts_s() override {
    std::vector<double> out;
    for (const EpisodeResult& result : env_.take_results()) out.push_back(result.mean_jct_s);
    return out;
  }

  std::string save() const override {
    const std::vector<std::byte> bytes = env_.save();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void restore(std::string_view saved) override {
    env_.restore({reinterpret_cast<const std::byte*>(saved.data()), saved.size()});
  }

 private:
  static BatchConfig with_agent(BatchConfig config, std::shared_ptr<const Agent> agent) {
    config.task = std::move(agent);
    return config;
  }

  BatchEnv env_;
};

}  // namespace yard
