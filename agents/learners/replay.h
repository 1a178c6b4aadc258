// Draws samples and computes n-step returns, for all learners with a replay buffer. Dims: I
// samples, N environments.
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
  JobAwareExplorationConfig explore;

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

// Draws samples with replacement, except those with an unknown successor: the newest sample of each
// environment and the last of a truncated episode. Discounts rewards like time_aware_gae().
ReplayBatch sample_replay(const Experience& experience, const ReplayConfig& config);

// The network's outputs for a part of the samples; threads compute the parts in parallel.
struct BatchOutput {
  RaggedBatch seen;
  NetworkOutput output;
};
std::vector<BatchOutput> forward_samples(Network& network, const Rollout& rollout,
                                         const std::vector<int64_t>& samples, const Heads& heads,
                                         ThreadPool& threads);

// Returns the samples to bootstrap from, in the order of the draws and with repetitions.
std::vector<int64_t> value_bootstrap_samples(const ReplayBatch& drawn);

// Returns the targets R + discount V(next) of the drawn samples. `values` are the values V(next) in
// the order of value_bootstrap_samples().
Returns n_step_targets(const ReplayBatch& drawn, const std::vector<float>& values, int64_t samples);

}  // namespace yard
