// The network `set-transformer` (policies/learned/set_transformer.cc has its equations) for
// training, with a critic which pools its own rows by attention. Dims: B samples, R rows of all
// samples together, N rows of the longest sample, F, C features, H hidden.
#include <algorithm>
#include <cmath>

#include "agents/networks/action_distribution.h"
#include "agents/networks/mlp.h"

namespace yard {
namespace {

using Config = HiddenLayersConfig<32>;

// Pads the rows of each sample to the length of the longest. Only attention uses this layout; all
// layers run on rows which exist.
class Sets {
 public:
  explicit Sets(const torch::Tensor& offset) : samples_(offset.numel() - 1), count_(offset.diff()) {
    const int64_t rows = offset[samples_].item<int64_t>();
    max_rows_ = samples_ > 0 ? std::max<int64_t>(count_.max().item<int64_t>(), 1) : 1;
    const auto begin = torch::arange(samples_) * max_rows_ - offset.slice(0, 0, samples_);
    at_ = torch::arange(rows) + begin.repeat_interleave(count_);
    empty_ = torch::arange(max_rows_) >= count_.unsqueeze(1);
  }

  // (R, H) to (B, N, H), with zeros as padding.
  torch::Tensor spread(const torch::Tensor& rows) const {
    const auto out = torch::zeros({samples_ * max_rows_, rows.size(1)});
    return out.index_copy(0, at_, rows).view({samples_, max_rows_, rows.size(1)});
  }

  // (B, N, H) to (R, H).
  torch::Tensor rows(const torch::Tensor& spread) const {
    return spread.reshape({samples_ * max_rows_, spread.size(2)}).index_select(0, at_);
  }

  // Attention of each row over the rows of its sample, with weights softmax(q k / sqrt H): (R, H).
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k,
                       const torch::Tensor& value) const {
    const auto attention_scores = torch::bmm(spread(q), spread(k).transpose(1, 2));  // (B, N, N)
    return rows(torch::bmm(attention_weights(attention_scores, empty_.unsqueeze(1), q.size(1)),
                           spread(value)));
  }

  // Pools each sample's rows with weights softmax(seed row / sqrt H): (B, H); zero without rows.
  torch::Tensor pool(const torch::Tensor& seed, const torch::Tensor& value) const {
    const auto all = spread(value);
    const auto attention_scores = torch::matmul(all, seed);  // (B, N)
    return torch::bmm(attention_weights(attention_scores, empty_, seed.numel()).unsqueeze(1), all)
        .squeeze(1);
  }

 private:
  static torch::Tensor attention_weights(const torch::Tensor& attention_scores,
                                         const torch::Tensor& empty, int64_t h) {
    constexpr double kNone = -1e30;  // finite, so that a sample without rows gets no NaN
    const double scale = 1 / std::sqrt(static_cast<double>(h));
    return torch::softmax((attention_scores * scale).masked_fill(empty, kNone), -1);
  }

  int64_t samples_, max_rows_ = 1;
  torch::Tensor count_, at_, empty_;  // (B), (R), (B, N)
};

class SetTransformerNet final : public Network {
 public:
  explicit SetTransformerNet(const Settings& settings) : config_(parse<Config>(settings)) {}

  NetworkOutput forward(const RaggedBatch& batch, const Heads& heads) override {
    const auto c = standardised_cluster(batch);  // (B, C)
    const auto context = c.repeat_interleave(batch.offset.diff(), 0);
    const auto x = torch::cat({standardised_jobs(batch), context}, 1);  // (R, F + C)
    const Sets sets(batch.offset);
    NetworkOutput out;
    if (has(heads, kPolicyHead)) {
      const auto e = torch::relu(embed_->forward(x));  // (R, H)
      const auto mixed = sets.attend(query_->forward(e), key_->forward(e), e);
      const auto u = normal(e + mix_->forward(mixed));
      const auto o = normal(u + torch::relu(widen_->forward(u)));
      const auto z = sets.pool(seed_, o);  // (B, H)
      const auto nothing = nothing_->forward(pooled_->forward(torch::cat({z, c}, 1)));
      out.set(kPolicyHead,
              action_logits(batch.prior, score_->forward(o).squeeze(-1), nothing, batch.offset));
    }
    if (has(heads, kValueHead)) {
      const auto z = sets.pool(critic_seed_, torch::relu(critic_embed_->forward(x)));
      out.set(kValueHead, value_->forward(critic_->forward(torch::cat({z, c}, 1))).squeeze(-1));
    }
    return out;
  }

 protected:
  void make_layers(const ObservationShape& shape) override {
    const int64_t h = config_.hidden, c = shape.cluster_features, in = shape.row_features + c;
    const double relu = std::sqrt(2.0);
    embed_ = register_linear("embed", in, h, relu, true);
    query_ = register_linear("query", h, h, 1.0, false);
    key_ = register_linear("key", h, h, 1.0, false);
    mix_ = register_linear("mix", h, h, 1.0, false);
    widen_ = register_linear("widen", h, h, relu, true);
    seed_ = register_parameter("seed", torch::zeros({h}));  // uniform pooling at first
    pooled_ = register_module("pooled", make_mlp({h + c, h}));
    // Zero: the untrained policy equals the prior.
    score_ = register_linear("score", h, 1, 0.0, true);
    nothing_ = register_linear("nothing", h, 1, 0.0, true);
    critic_embed_ = register_linear("critic_embed", in, h, relu, true);
    critic_seed_ = register_parameter("critic_seed", torch::zeros({h}));
    critic_ = register_module("critic", make_mlp({h + c, h}));
    value_ = register_linear("value", h, 1, 1.0, true);
  }

  NamedTensors policy_tensors() const override {
    NamedTensors out = {
        {"query", query_->weight}, {"key", key_->weight}, {"mix", mix_->weight}, {"seed", seed_}};
    const auto add = [&](const char* name, const torch::nn::Sequential& layers,
                         const torch::nn::Linear& last) {
      for (auto& named : named_mlp_tensors(name, layers, last)) out.push_back(std::move(named));
    };
    add("embed", {}, embed_);
    add("widen", {}, widen_);
    add("score", {}, score_);
    add("nothing", pooled_, nothing_);
    return out;
  }

 private:
  static torch::Tensor normal(const torch::Tensor& rows) {
    return torch::layer_norm(rows, {rows.size(1)}, {}, {}, kLayerNormEps);
  }

  Config config_;
  torch::nn::Linear embed_{nullptr}, query_{nullptr}, key_{nullptr}, mix_{nullptr};
  torch::nn::Linear widen_{nullptr}, score_{nullptr}, nothing_{nullptr};
  torch::nn::Sequential pooled_{nullptr}, critic_{nullptr};
  torch::nn::Linear critic_embed_{nullptr}, value_{nullptr};
  torch::Tensor seed_, critic_seed_;  // (H)
};

const NetworkRegistry::Add<SetTransformerNet> kSetTransformer{
    "set-transformer",
    {.about = "jobs attend to each other before scoring; the critic and the score of doing nothing "
              "pool jobs by attention",
     .source = "Lee et al., Set Transformer, ICML 2019: one block, one head",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
