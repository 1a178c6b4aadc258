// Shared by learners with a replay buffer: draws samples and computes n-step returns.
// Dims: I samples, N environments.
#pragma once

#include <cstdint>
#include <vector>

#include "agents/learners/learner.h"

namespace yard {

struct ReplayConfig {
  int buffer_size = 65'536;
  int batch_size = 4'096;
  int num_steps = 16;
  int n_step = 4;
  ExploreConfig explore;

  void fields(FieldList& f);
  Learner::Requirements requirements() const;
};

// The n-step return of a decision: discounted rewards over the next `n_step` decisions which let
// time pass, and the sample to bootstrap from.
struct NStepReturn {
  double reward = 0;
  double discount = 0;  // factor of the bootstrap value; 0: the episode terminated
  int64_t next = -1;    // index of the sample to bootstrap from; -1: none
};

struct ReplayBatch {
  std::vector<int64_t> sample;
  std::vector<NStepReturn> n_step_return;  // n-step return of each sample
};

// Draws with replacement from all samples with a known successor. The newest sample of each
// environment and the last one of a truncated episode have no known successor. Rewards are
// discounted as in time_aware_gae().
ReplayBatch sample_replay(const Experience& experience, const ReplayConfig& config);

// Network outputs for samples: the `heads` of each, computed in parts on the threads.
struct BatchOutput {
  RaggedBatch seen;
  NetworkOutput output;
};
std::vector<BatchOutput> forward_samples(Network& network, const Rollout& rollout,
                                         const std::vector<int64_t>& samples, const Heads& heads,
                                         ThreadPool& threads);

// Returns the bootstrap samples of all draws, in order. A sample appears once per draw.
std::vector<int64_t> value_bootstrap_samples(const ReplayBatch& drawn);

// Returns targets R + discount V(next) of the draws; `values` are those of
// value_bootstrap_samples().
Returns n_step_targets(const ReplayBatch& drawn, const std::vector<float>& values, int64_t samples);

}  // namespace yard
