// The categorical distribution over a sample's actions: its rows, then the no-op. Samples are
// packed without padding, each with its own softmax. Dims: B samples, R rows; offset (B + 1) int64:
// sample b has rows [offset[b], offset[b + 1]), and its choices begin at offset[b] + b.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "agents/kernels/torch.h"

namespace yard {

// The actions of one environment at one decision: R rows, then the no-op.
struct ActionDistribution {
  std::span<const float> log_prob;  // (R + 1) log-probabilities of rows, then the no-op
  const uint8_t* mask;              // by action
  int32_t nothing;                  // index of the no-op
  const uint8_t* exploration_mask =
      nullptr;  // 1: exploration may take this action; null: not requested

  int32_t num_rows() const { return static_cast<int32_t>(log_prob.size()) - 1; }
  int32_t action_of_index(int32_t index) const { return index < num_rows() ? index : nothing; }
  float log_prob_of(int32_t action) const {
    return log_prob[static_cast<size_t>(std::min(action, num_rows()))];
  }
};

// Adds the scores of the rows (R) and of the no-op (B, 1) to the prior (R + B).
torch::Tensor action_logits(const torch::Tensor& prior, const torch::Tensor& score,
                            const torch::Tensor& noop_score, const torch::Tensor& offset);

// Without gradients, log_probs() returns log pi (R + B) and argmax_action() the index of the most
// likely action (B) int64. The index of the no-op follows that of the last row.
torch::Tensor log_probs(const torch::Tensor& logits, const torch::Tensor& offset);
torch::Tensor argmax_action(const torch::Tensor& logits, const torch::Tensor& offset);

struct ActionStats {
  torch::Tensor log_prob;  // (B) log pi(a)
  torch::Tensor entropy;   // (B) entropy H(pi) = -sum_i pi_i log pi_i
};

// `action` (B) int64: the index of a row within the sample; any index past the last row is the
// no-op.
ActionStats action_stats(const torch::Tensor& logits, const torch::Tensor& action,
                         const torch::Tensor& offset);

// Returns l_a - max_i l_i (B): the logit of the action minus the largest logit.
torch::Tensor logit_minus_best(const torch::Tensor& logits, const torch::Tensor& action,
                               const torch::Tensor& offset);

// KL(pi || q) = sum_i pi_i (log pi_i - log q_i) (B), where q is the softmax of the prior (R + B).
torch::Tensor kl_divergence(const torch::Tensor& logits, const torch::Tensor& prior,
                            const torch::Tensor& offset);

}  // namespace yard
