// How experience becomes a better policy: which experience it takes, how good each decision in it
// was, and what is minimised; and, where it is no draw from the policy, what is tried. A learner is
// one file: a class that enters itself into the registry (see ppo.cc); collecting, descending the
// gradient and saving are not its business.
// Dims: I samples, N worlds, B samples of a minibatch.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/network.h"
#include "agents/returns.h"
#include "env/base/rng.h"
#include "env/batch/pool.h"

namespace yard {

// What the worlds went through between two updates, and before it what a replay has kept.
struct Experience {
  Rollout& rollout;
  std::span<const float>
      last_value;  // (N) of what each world sees now; empty without critic, or with replay
  int worlds, group;
  double horizon_s, reward_scale;
  Communicator& ranks;
  Network &network, &follower;  // as it is; the average of its weights over the last updates
  ThreadPool& threads;
  Rng rng;
};

// What one world may do now. Rows are R, and what is drawn or said is a row or `nothing`.
struct Alternatives {
  std::span<const float> log_prob;  // (R + 1) of the network: of each row, then of doing nothing
  const uint8_t* mask;              // by action
  int32_t nothing;                  // the action
  const uint8_t* hints = nullptr;   // by action: worth trying; null: nobody asked

  int32_t rows() const { return static_cast<int32_t>(log_prob.size()) - 1; }
  int32_t action(int32_t choice) const { return choice < rows() ? choice : nothing; }
  float log_prob_of(int32_t action) const {
    return log_prob[static_cast<size_t>(std::min(action, rows()))];
  }
};

// What a world does, and how likely it was to.
struct Acted {
  int32_t action;
  float log_prob;
};

// Job-aware exploration (Bao, Peng and Wu, Harmony, INFOCOM 2019; Peng et al., DL2, TPDS 2021), of
// learners that have settings.
struct ExploreConfig {
  double explore = 0;

  void fields(FieldList& f) {
    f("explore", explore, 0.0, 1.0,
      "share of decisions in which one of those that the task hints at is tried");
  }
};

struct Minibatch {
  RaggedBatch seen;
  torch::Tensor action;          // (B) int64
  torch::Tensor old_log_prob;    // (B)  of the policy when it was made
  torch::Tensor acted_log_prob;  // (B)  of what acted, which may explore: mu
  torch::Tensor advantage;       // (B)  normalised over the minibatch of all ranks
  torch::Tensor target;          // (B)  for the critic; undefined without one
  torch::Tensor teacher;         // (B) int64  what the task's heuristic would do
};

struct Loss {
  torch::Tensor each;  // (B) minimised in the mean
  // (B) how far the policy is from the one that acted; undefined: no update stops early for it.
  torch::Tensor kl;
  std::vector<std::pair<const char*, torch::Tensor>> figures;  // (B) each; their means are reported
};

class Learner {
 public:
  static constexpr const char* kKind = "learner";
  struct Info {
    std::string about, source;
    std::vector<Field> (*settings)();
  };
  struct Wants {
    int steps = 0;              // decisions a world between updates; 0: an episode each
    bool critic = false;        // values of what was seen
    bool groups = false;        // neighbouring worlds that play the same jobs
    bool teacher_acts = false;  // the heuristic decides, in all worlds
    bool teacher_leads =
        false;           // it decides in the first world of each group, which is not learned from
    int replay = 0;      // samples that are kept beyond their update
    double explore = 0;  // how often what is hinted at is tried
  };

  virtual ~Learner() = default;
  virtual Wants wants() const = 0;
  // What is done, one of the legal actions: where none of them is hinted at, what pick() says, else
  // with probability e = wants().explore one of the hinted ones, all alike likely. Returns with it
  // log mu(a), for learners that pick() by the policy pi:
  //   mu = (1 - e) pi + e h,   h = 1 / hints of what is hinted at, else 0
  Acted act(const Alternatives& options, Rng& rng) const;
  virtual Returns judge(const Experience& experience) = 0;
  virtual Loss loss(Network& network, const Minibatch& batch) const = 0;

  // What it remembers from update to update, beside the network.
  virtual std::string save() const { return {}; }
  virtual void restore(const std::string&) {}

 protected:
  // One of the actions that are legal: unless overridden, drawn from the policy.
  virtual int32_t pick(const Alternatives& options, Rng& rng) const;
};

using LearnerRegistry = Registry<Learner>;

}  // namespace yard
