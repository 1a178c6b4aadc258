// Steps the environments with the network's actions, or with the expert's where the learner
// requires it, and records the rollout.
#pragma once

#include "agents/learners/learner.h"
#include "agents/train/stage_timer.h"
#include "agents/train/training_result.h"
#include "env/batch/pool.h"

namespace yard {

struct CollectorConfig {
  uint64_t seed = 1;
  int group = 1;
  int first_world = 0, all_worlds = 1;  // over all ranks
  bool interruptible =
      true;  // whether a signal interrupts a rollout; if not, the caller checks between updates
};

class Collector {
 public:
  // Requires: worlds, network, learner, threads and profile outlive it.
  Collector(VectorEnv& worlds, Network& network, const Learner& learner,
            const CollectorConfig& config, ThreadPool& threads, StageTimer& profile);

  // Drops all samples except the latest, as many as the replay buffer keeps (0 without a buffer).
  // Call it before each update.
  void trim_to_replay_buffer();

  // Collects the samples of update `update` and appends them to the replayed ones. If a signal
  // interrupts it, throws Interrupted and leaves the environments at an arbitrary step. If `golden`
  // is not null, some of the observed states are added to it.
  void collect(int update, std::vector<GoldenState>* golden);

  // Discards the samples of the last collect(). The counts below are those of the
  // last collect().
  void discard_collected() {
    rollout_.keep_first(kept_);
    mean_jcts_s_.clear();
  }
  int64_t num_collected() const { return rollout_.size() - kept_; }
  int64_t collected_action_rows() const { return rollout_.rows() - kept_action_rows_; }

  Rollout& rollout() { return rollout_; }
  const Rollout& rollout() const { return rollout_; }
  std::vector<float> current_values();  // (N) values of the current observations
  // Returns the indices of the new samples, except those of environments where the expert leads.
  std::vector<int64_t> samples_to_learn() const;
  double num_expert_matches() const {
    return expert_matches_;
  }  // number of decisions equal to those of the expert
  std::vector<double> take_mean_jcts_s() { return std::exchange(mean_jcts_s_, {}); }

 private:
  struct PolicyOutput;
  PolicyOutput infer(std::span<const int32_t> worlds);
  bool expert_decides(int world) const;
  void add_values_of_truncated_episodes(std::span<const int32_t> active);
  void record_golden(std::vector<GoldenState>& golden) const;

  VectorEnv& worlds_;
  Network& network_;
  const Learner& learner_;
  Learner::Requirements requirements_;
  CollectorConfig config_;
  ThreadPool& threads_;
  StageTimer& stage_timer_;
  Rollout rollout_;
  int64_t kept_ = 0, kept_action_rows_ = 0;  // from earlier updates
  std::vector<double> mean_jcts_s_;
  double expert_matches_ = 0;
};

// Returns the network's logits for a state (A), masked where the action mask is 0.
std::vector<float> logits_of(Network& network, const ObservationShape& shape, GoldenState& state);

}  // namespace yard
