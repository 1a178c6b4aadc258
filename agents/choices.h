// What a policy chooses among: the rows of a decision, then doing nothing. Those of all samples lie
// one after the other, so that only what exists is computed; each sample has a softmax of its own.
// Dims: B samples, R rows; offset (B + 1) int64: rows [offset[b], offset[b + 1]) are b's, and its
// choices begin at offset[b] + b.
#pragma once

#include "agents/torch.h"

namespace yard {

// Adds the scores of rows (R), and of doing nothing (B, 1), to the prior (R + B).
torch::Tensor choice_logits(const torch::Tensor& prior, const torch::Tensor& score,
                            const torch::Tensor& nothing, const torch::Tensor& offset);

// Of logits (R + B), without a gradient: log pi (R + B), and the likeliest action (B) int64, doing
// nothing being as many as there are rows.
torch::Tensor log_probs(const torch::Tensor& logits, const torch::Tensor& offset);
torch::Tensor likeliest(const torch::Tensor& logits, const torch::Tensor& offset);

struct Chosen {
  torch::Tensor log_prob;  // (B) log pi(a)
  torch::Tensor entropy;   // (B) H(pi) = -sum_i pi_i log pi_i
};

// `action` (B) int64: a row of the sample's; whatever lies beyond them is doing nothing.
Chosen choose(const torch::Tensor& logits, const torch::Tensor& action,
              const torch::Tensor& offset);

// l_a - max_i l_i (B): what the action lacks to the best.
torch::Tensor lead(const torch::Tensor& logits, const torch::Tensor& action,
                   const torch::Tensor& offset);

// KL(pi || q) = sum_i pi_i (log pi_i - log q_i) (B), q the softmax of the prior (R + B).
torch::Tensor divergence(const torch::Tensor& logits, const torch::Tensor& prior,
                         const torch::Tensor& offset);

}  // namespace yard
