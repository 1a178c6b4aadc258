#include "agents/networks/action_distribution.h"

#include <algorithm>
#include <cmath>

#include "agents/kernels/dense.h"

namespace yard {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Calls does(b, from, to) with the range of choices of each sample b.
template <class Does>
void for_samples(const torch::Tensor& offset, const Does& does) {
  const int64_t* at = raw_data<int64_t>(offset);
  for (int64_t b = 0; b + 1 < offset.numel(); ++b) does(b, at[b] + b, at[b + 1] + b + 1);
}

struct ActionLogits : torch::autograd::Function<ActionLogits> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& prior,
                               const torch::Tensor& score, const torch::Tensor& nothing,
                               const torch::Tensor& offset) {
    const auto of_rows = contiguous_without_gradient(score),
               of_nothing = contiguous_without_gradient(nothing),
               out = contiguous_without_gradient(prior).clone();
    const float *rows = raw_data(of_rows), *none = raw_data(of_nothing);
    float* logit = raw_data(out);
    for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
      for (int64_t i = from; i + 1 < to; ++i) logit[i] += rows[i - b];
      logit[to - 1] += none[b];
    });
    context->save_for_backward({offset});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto offset = context->get_saved_variables()[0];
    const auto grad = contiguous_without_gradient(grads[0]);
    const int64_t samples = offset.numel() - 1;
    const auto score = torch::empty({grad.numel() - samples}), nothing = torch::empty({samples, 1});
    const float* g = raw_data(grad);
    float *rows = raw_data(score), *none = raw_data(nothing);
    for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
      std::copy(g + from, g + to - 1, rows + from - b);
      none[b] = g[to - 1];
    });
    return {grad, score, nothing, {}};
  }
};

// d log pi(a) / d l_i = [i = a] - pi_i,   d H / d l_i = -pi_i (log pi_i + H)
struct ActionStatsFunction : torch::autograd::Function<ActionStatsFunction> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& logits,
                               const torch::Tensor& action, const torch::Tensor& offset) {
    const auto log_prob = log_probs(logits, offset);
    const auto taken = torch::empty({action.numel()}), entropy = torch::empty_like(taken);
    const auto place = torch::empty_like(action);  // index of the action among all choices
    const float* lp = raw_data(log_prob);
    const int64_t* asked = raw_data<int64_t>(action);
    int64_t* at = raw_data<int64_t>(place);
    float *of_action = raw_data(taken), *h = raw_data(entropy);
    for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
      at[b] = std::min(from + asked[b], to - 1);
      of_action[b] = lp[at[b]];
      float sum = 0;
      for (int64_t i = from; i < to; ++i) sum -= std::exp(lp[i]) * lp[i];
      h[b] = sum;
    });
    context->save_for_backward({log_prob, entropy, place, offset});
    return {taken, entropy};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &log_prob = saved[0], &entropy = saved[1], &place = saved[2], &offset = saved[3];
    const auto of_taken = contiguous_without_gradient(grads[0]),
               of_entropy = contiguous_without_gradient(grads[1]);
    const auto out = torch::empty_like(log_prob);
    const float *lp = raw_data(log_prob), *h = raw_data(entropy), *t = raw_data(of_taken),
                *e = raw_data(of_entropy);
    const int64_t* at = raw_data<int64_t>(place);
    float* gradient = raw_data(out);
    for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        gradient[i] = -std::exp(lp[i]) * (t[b] + e[b] * (lp[i] + h[b]));
      }
      gradient[at[b]] += t[b];
    });
    return {out, {}, {}};
  }
};

// d (l_a - l_best) / d l_i = [i = a] - [i = best]
struct LogitGap : torch::autograd::Function<LogitGap> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& logits,
                               const torch::Tensor& action, const torch::Tensor& offset) {
    const auto in = contiguous_without_gradient(logits), out = torch::empty({action.numel()});
    const auto taken = torch::empty_like(action), best = torch::empty_like(action);
    const float* l = raw_data(in);
    const int64_t* asked = raw_data<int64_t>(action);
    int64_t *at = raw_data<int64_t>(taken), *most = raw_data<int64_t>(best);
    float* gap = raw_data(out);
    for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
      at[b] = std::min(from + asked[b], to - 1);
      most[b] = std::max_element(l + from, l + to) - l;
      gap[b] = l[at[b]] - l[most[b]];
    });
    context->save_for_backward({taken, best});
    context->saved_data["choices"] = in.numel();
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto grad = contiguous_without_gradient(grads[0]);
    const auto out = torch::zeros({context->saved_data["choices"].toInt()});
    const int64_t *at = raw_data<int64_t>(saved[0]), *most = raw_data<int64_t>(saved[1]);
    const float* g = raw_data(grad);
    float* gradient = raw_data(out);
    for (int64_t b = 0; b < grad.numel(); ++b) {
      gradient[at[b]] += g[b];
      gradient[most[b]] -= g[b];
    }
    return {out, {}, {}};
  }
};

// d KL / d l_i = pi_i (log pi_i - log q_i - KL)
struct KlDivergence : torch::autograd::Function<KlDivergence> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& logits,
                               const torch::Tensor& prior, const torch::Tensor& offset) {
    const auto log_p = log_probs(logits, offset), log_q = log_probs(prior, offset);
    const auto out = torch::zeros({offset.numel() - 1});
    const float *p = raw_data(log_p), *q = raw_data(log_q);
    float* kl = raw_data(out);
    for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) kl[b] += std::exp(p[i]) * (p[i] - q[i]);
    });
    context->save_for_backward({log_p, log_q, out, offset});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const float *p = raw_data(saved[0]), *q = raw_data(saved[1]), *kl = raw_data(saved[2]);
    const auto grad = contiguous_without_gradient(grads[0]), out = torch::empty_like(saved[0]);
    const float* g = raw_data(grad);
    float* gradient = raw_data(out);
    for_samples(saved[3], [&](int64_t b, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        gradient[i] = g[b] * std::exp(p[i]) * (p[i] - q[i] - kl[b]);
      }
    });
    return {out, {}, {}};
  }
};

}  // namespace

// log pi_i = l_i - log sum_k exp l_k, with the largest logit subtracted first for stability.
torch::Tensor log_probs(const torch::Tensor& logits, const torch::Tensor& offset) {
  const auto in = contiguous_without_gradient(logits), out = torch::empty_like(in);
  const float* l = raw_data(in);
  float* log_prob = raw_data(out);
  for_samples(offset, [&](int64_t, int64_t from, int64_t to) {
    const float most = *std::max_element(l + from, l + to);
    float sum = 0;
    for (int64_t i = from; i < to; ++i) sum += std::exp(l[i] - most);
    const float shift = most + std::log(sum);
    for (int64_t i = from; i < to; ++i) log_prob[i] = l[i] - shift;
  });
  return out;
}

torch::Tensor action_logits(const torch::Tensor& prior, const torch::Tensor& score,
                            const torch::Tensor& noop_score, const torch::Tensor& offset) {
  return ActionLogits::apply(prior, score, noop_score, offset);
}

torch::Tensor argmax_action(const torch::Tensor& logits, const torch::Tensor& offset) {
  const auto in = contiguous_without_gradient(logits);
  const auto out = torch::empty({offset.numel() - 1}, torch::kInt64);
  const float* l = raw_data(in);
  int64_t* best = raw_data<int64_t>(out);
  for_samples(offset, [&](int64_t b, int64_t from, int64_t to) {
    best[b] = std::max_element(l + from, l + to) - (l + from);
  });
  return out;
}

ActionStats action_stats(const torch::Tensor& logits, const torch::Tensor& action,
                         const torch::Tensor& offset) {
  const auto out = ActionStatsFunction::apply(logits, action, offset);
  return {out[0], out[1]};
}

torch::Tensor logit_minus_best(const torch::Tensor& logits, const torch::Tensor& action,
                               const torch::Tensor& offset) {
  return LogitGap::apply(logits, action, offset);
}

torch::Tensor kl_divergence(const torch::Tensor& logits, const torch::Tensor& prior,
                            const torch::Tensor& offset) {
  return KlDivergence::apply(logits, prior, offset);
}

}  // namespace yard
