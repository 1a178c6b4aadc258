// What learners that replay share: which samples are drawn, and what came of each over the next
// decisions. Dims: I samples, N worlds.
#pragma once

#include <cstdint>
#include <vector>

#include "agents/learner.h"

namespace yard {

struct ReplayConfig {
  int replay = 65'536;
  int drawn = 4'096;
  int steps = 16;
  int n_step = 4;
  ExploreConfig explore;

  void fields(FieldList& f);
  Learner::Wants wants() const;
};

// What a decision led to: what was earned over the next `n_step` decisions that let time pass,
// discounted, and where that ended.
struct Ahead {
  double reward = 0;
  double discount = 0;  // of what comes after: 0 where the episode was over
  int64_t next = -1;    // the sample that follows; -1: none
};

struct Drawn {
  std::vector<int64_t> sample;
  std::vector<Ahead> ahead;  // of each
};

// Draws with replacement from all samples but the newest of each world, of which nobody knows yet
// what they led to, and the last of episodes that were cut off, of which nobody will; what leads to
// those is worth what they are worth. Discounts are those of time_aware_gae().
Drawn draw_replayed(const Experience& experience, const ReplayConfig& config);

// What the network makes of samples: `heads` of each, cut into parts for the threads.
struct Judgement {
  RaggedBatch seen;
  Judged judged;
};
std::vector<Judgement> judge_samples(Network& network, const Rollout& rollout,
                                     const std::vector<int64_t>& samples, Heads heads,
                                     ThreadPool& threads);

// The samples that follow those drawn, each once for each that leads there.
std::vector<int64_t> following(const Drawn& drawn);

// R + discount V(next), `values` of what following() names, as targets of the samples drawn.
Returns bootstrapped(const Drawn& drawn, const std::vector<float>& values, int64_t samples);

}  // namespace yard
