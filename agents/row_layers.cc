#include "agents/row_layers.h"

#include "agents/row_passes.h"

namespace yard {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

torch::Tensor dense(const torch::Tensor& t) { return t.detach().contiguous(); }

RowsOf rows_of(const torch::Tensor& offset, int64_t width) {
  return {offset.data_ptr<int64_t>(), offset.size(0) - 1, width};
}

float* at(const torch::Tensor& t) { return t.data_ptr<float>(); }

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& weight) {
  return torch::mm(x, weight.detach().t());
}

struct ScoreRows : torch::autograd::Function<ScoreRows> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& w1, const torch::Tensor& b1,
                               const torch::Tensor& c, const torch::Tensor& w2,
                               const torch::Tensor& b2, const torch::Tensor& w3,
                               const torch::Tensor& b3, const torch::Tensor& offset) {
    const auto in = dense(x);
    const auto h = product(in, w1);
    add_and_cut(rows_of(offset, h.size(1)), at(dense(b1)), at(dense(c)), at(h));
    const auto g = product(h, w2);
    const int64_t samples = offset.size(0) - 1;
    const auto score = torch::empty({g.size(0)}), sum = torch::zeros({samples, g.size(1)});
    cut_and_score(rows_of(offset, g.size(1)), at(dense(b2)), at(dense(w3)), *at(dense(b3)), at(g),
                  at(score), at(sum));
    context->save_for_backward({in, h, g, w2, w3, offset});
    return {score, sum};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &h = saved[1], &g = saved[2], &w2 = saved[3], &w3 = saved[4],
               &offset = saved[5];
    const int64_t samples = offset.size(0) - 1, wide = h.size(1), last = g.size(1);
    const auto of_score = dense(grads[0]), of_sum = dense(grads[1]);
    const auto d_g = torch::empty_like(g), d_w3 = torch::zeros({1, last}),
               d_b2 = torch::zeros({last}), d_c = torch::zeros({samples, wide});
    score_gradient(rows_of(offset, last), at(g), at(dense(w3)), at(of_score), at(of_sum), at(d_g),
                   at(d_w3), at(d_b2));
    const auto d_w2 = torch::mm(d_g.t(), h);
    const auto d_h = torch::mm(d_g, w2.detach());
    cut_gradient(rows_of(offset, wide), at(h), at(d_h), at(d_c));
    return {{},   torch::mm(d_h.t(), x),    d_c.sum(0), d_c, d_w2, d_b2,
            d_w3, of_score.sum().view({1}), {}};
  }
};

struct SumRows : torch::autograd::Function<SumRows> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& w, const torch::Tensor& b,
                               const torch::Tensor& c, const torch::Tensor& offset) {
    const auto in = dense(x);
    const auto h = product(in, w);
    const auto sum = torch::zeros({offset.size(0) - 1, h.size(1)});
    add_and_cut(rows_of(offset, h.size(1)), at(dense(b)), at(dense(c)), at(h));
    add_up(rows_of(offset, h.size(1)), at(h), at(sum));
    context->save_for_backward({in, h, offset});
    return sum;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &h = saved[1], &offset = saved[2];
    const auto d_h = torch::empty_like(h), d_c = torch::zeros({offset.size(0) - 1, h.size(1)});
    sum_gradient(rows_of(offset, h.size(1)), at(h), at(dense(grads[0])), at(d_h), at(d_c));
    return {{}, torch::mm(d_h.t(), x), d_c.sum(0), d_c, {}};
  }
};

struct ActionLogits : torch::autograd::Function<ActionLogits> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& prior,
                               const torch::Tensor& score, const torch::Tensor& nothing,
                               const torch::Tensor& offset) {
    const auto out = dense(prior).clone();
    const int64_t actions = out.size(1);
    add_to_actions(rows_of(offset, actions), at(dense(score)), at(dense(nothing)), at(out));
    context->save_for_backward({offset});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto offset = context->get_saved_variables()[0];
    const auto grad = dense(grads[0]);
    const auto score = torch::empty({offset.data_ptr<int64_t>()[offset.size(0) - 1]});
    rows_of_actions(rows_of(offset, grad.size(1)), at(grad), at(score));
    return {grad, score, grad.slice(1, grad.size(1) - 1), {}};
  }
};

}  // namespace

RowScores score_rows(const torch::Tensor& x, const torch::nn::Linear& first,
                     const torch::Tensor& context, const torch::nn::Linear& second,
                     const torch::nn::Linear& last, const torch::Tensor& offset) {
  const auto out = ScoreRows::apply(x, first->weight, first->bias, context, second->weight,
                                    second->bias, last->weight, last->bias, offset);
  return {out[0], out[1]};
}

torch::Tensor sum_rows(const torch::Tensor& x, const torch::nn::Linear& layer,
                       const torch::Tensor& context, const torch::Tensor& offset) {
  return SumRows::apply(x, layer->weight, layer->bias, context, offset);
}

torch::Tensor action_logits(const torch::Tensor& prior, const torch::Tensor& score,
                            const torch::Tensor& nothing, const torch::Tensor& offset) {
  return ActionLogits::apply(prior, score, nothing, offset);
}

}  // namespace yard
