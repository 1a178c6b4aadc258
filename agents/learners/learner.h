// An RL algorithm: which experience it needs, its advantages and targets, its loss, and how it
// explores. A learner is one file with a class which registers itself (see ppo.cc).
// Dims: I samples, N environments, B samples of a minibatch.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/learners/returns.h"
#include "agents/networks/action_distribution.h"
#include "agents/networks/network.h"
#include "env/base/core/rng.h"
#include "env/batch/pool.h"

namespace yard {

// The samples collected for an update, preceded by those which a replay buffer kept.
struct Experience {
  Rollout& rollout;
  std::span<const float>
      last_value;  // (N) values of current observations; empty without critic or with replay
  int worlds, group;
  double horizon_s, reward_scale;
  Communicator& ranks;
  Network &network, &target_network;  // current weights; their moving average (target network)
  ThreadPool& threads;
  Rng rng;
};

// A sampled action and its log-probability.
struct SampledAction {
  int32_t action;
  float log_prob;
};

// Settings of job-aware exploration (Bao et al., Harmony, INFOCOM 2019; Peng et al., DL2, 2021).
struct JobAwareExplorationConfig {
  double explore = 0;

  void fields(FieldList& f) {
    f("explore", explore, 0.0, 1.0,
      "share of decisions that try an action which the task marks for exploration");
  }
};

struct Minibatch {
  RaggedBatch seen;
  torch::Tensor action;              // (B) int64
  torch::Tensor old_log_prob;        // (B)  log pi(a) of the policy when the sample was collected
  torch::Tensor behaviour_log_prob;  // (B)  log mu(a) of the behaviour policy, which may explore
  torch::Tensor advantage;           // (B)  advantage, normalised over the minibatch of all ranks
  torch::Tensor target;              // (B)  target of the critic; undefined without a critic
  torch::Tensor old_value;  // (B)  value by the critic at collection; undefined without a critic
  torch::Tensor expert_action;  // (B) int64  the expert's action
};

struct Loss {
  torch::Tensor each;  // (B) loss of each sample; training minimises the mean
  torch::Tensor kl;    // (B) divergence from the policy at collection; undefined: not measured
  std::vector<std::pair<const char*, torch::Tensor>> metrics;  // named values (B), logged as means
};

class Learner {
 public:
  static constexpr const char* kKind = "learner";
  struct Info {
    std::string about, source;
    std::vector<Field> (*settings)();
  };
  struct Requirements {
    int steps = 0;              // decisions per environment between updates; 0: whole episodes
    bool critic = false;        // whether the learner needs value estimates of observations
    bool groups = false;        // whether neighbouring environments replay the same jobs
    bool expert_acts = false;   // whether the expert decides in all environments
    bool expert_leads = false;  // whether the expert decides in the first environment of each
                                // group, from which nothing is learned
    int replay = 0;             // number of samples kept for later updates
    double explore = 0;         // share of decisions drawn from the exploration mask
  };

  virtual ~Learner() = default;
  virtual Requirements requirements() const = 0;
  // Samples a legal action. With probability requirements().explore, draws it uniformly from the
  // exploration mask. Otherwise, or if the mask has no legal action, pick_action() chooses the
  // action. If pick_action() samples from pi, the log-probability returned is log mu(a):
  //   mu = (1 - e) pi + e h,   h = 1 / (actions in the exploration mask) for those, else 0
  SampledAction act(const ActionDistribution& options, Rng& rng) const;
  virtual Returns compute_advantages(const Experience& experience) = 0;
  virtual Loss loss(Network& network, const Minibatch& batch) const = 0;

  // save() returns the state that the learner keeps between updates, apart from the network.
  virtual std::string save() const { return {}; }
  virtual void restore(const std::string&) {}

 protected:
  // Returns a legal action. The default samples from the policy.
  virtual int32_t pick_action(const ActionDistribution& options, Rng& rng) const;
};

using LearnerRegistry = Registry<Learner>;

}  // namespace yard
