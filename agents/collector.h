// Plays the worlds by the network, or by the task's heuristic where a learner wants that, and
// writes down what happened.
#pragma once

#include "agents/learner.h"
#include "agents/profile.h"
#include "agents/trained.h"
#include "env/batch/pool.h"

namespace yard {

struct CollectorConfig {
  uint64_t seed = 1;
  int group = 1;
  int first_world = 0, all_worlds = 1;  // of all ranks
  bool may_be_interrupted = true;       // half way; else whoever calls asks between updates
};

class Collector {
 public:
  // Requires: worlds, network and threads outlive it.
  // `learner`, too.
  Collector(Worlds& worlds, Network& network, const Learner& learner, const CollectorConfig& config,
            ThreadPool& threads, Profile& profile);

  // Forgets what no replay keeps: to be called before an update begins.
  void trim();

  // Plays the experience of update `number`, behind what a replay keeps. Throws Interrupted, the
  // worlds then stand somewhere in it. Where `golden` is given, it takes some of the states that
  // are seen.
  void collect(int number, std::vector<GoldenState>* golden);

  // Of the last collect(): forgets it; its samples.
  void take_back() {
    rollout_.cut(kept_);
    mean_jcts_s_.clear();
  }
  int64_t collected() const { return rollout_.size() - kept_; }
  int64_t collected_rows() const { return rollout_.rows() - kept_rows_; }

  Rollout& rollout() { return rollout_; }
  const Rollout& rollout() const { return rollout_; }
  std::vector<float> last_values();               // (N) of what each world sees now
  std::vector<int64_t> samples_to_learn() const;  // all new ones but those of a leading teacher
  double agreed() const { return agreed_; }       // decisions that were what the heuristic would do
  std::vector<double> take_mean_jcts_s() { return std::exchange(mean_jcts_s_, {}); }

 private:
  struct Outlook;
  Outlook judge(std::span<const int32_t> worlds);
  bool teacher_decides(int world) const;
  void add_final_values(std::span<const int32_t> active);
  void record_golden(std::vector<GoldenState>& golden) const;

  Worlds& worlds_;
  Network& network_;
  const Learner& learner_;
  Learner::Wants wants_;
  CollectorConfig config_;
  ThreadPool& threads_;
  Profile& profile_;
  Rollout rollout_;
  int64_t kept_ = 0, kept_rows_ = 0;  // of earlier updates
  std::vector<double> mean_jcts_s_;
  double agreed_ = 0;
};

// The network's logits for a state (A), masked where it is.
std::vector<float> logits_of(Network& network, const WorldsShape& shape, GoldenState& state);

}  // namespace yard
