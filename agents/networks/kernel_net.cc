// The network `kernel` (policies/learned/kernel.cc has its equations) for training, with
// RLScheduler's critic: a net over the window of all rows (Zhang et al., SC 2020, section 4.2).
// Dims: B samples, R rows of all samples together, J rows per sample at most, F, C features.
#include "agents/networks/action_distribution.h"
#include "agents/networks/mlp.h"

namespace yard {
namespace {

class KernelNet final : public Network {
 public:
  NetworkOutput forward(const RaggedBatch& batch, const Heads& heads) override {
    const auto x = standardised_jobs(batch);     // (R, F)
    const auto c = standardised_cluster(batch);  // (B, C)
    NetworkOutput out;
    if (has(heads, kPolicyHead)) {
      const auto both = torch::cat({x, c.repeat_interleave(batch.offset.diff(), 0)}, 1);
      const auto score = score_->forward(kernel_->forward(both)).squeeze(-1);  // (R)
      out.set(kPolicyHead,
              action_logits(batch.prior, score, nothing_->forward(c), batch.offset));  // (R + B)
    }
    if (has(heads, kValueHead)) {
      const auto all = window_->forward(x, c, batch.offset);
      out.set(kValueHead, value_->forward(critic_->forward(all)).squeeze(-1));  // (B)
    }
    return out;
  }

 protected:
  void make_layers(const ObservationShape& shape) override {
    const int64_t c = shape.cluster_features;
    kernel_ = register_module("kernel", make_mlp({shape.row_features + c, 32, 16, 8}));
    // Zero: the untrained policy equals the prior.
    score_ = register_linear("score", 8, 1, 0.0, true);
    nothing_ = register_linear("nothing", c, 1, 0.0, true);
    window_ = register_module("window", std::make_shared<TorchWindowLayer>(shape, 64));
    critic_ = register_module("critic", make_mlp({64, 32, 8}));
    value_ = register_linear("value", 8, 1, 1.0, true);
  }

  NamedTensors policy_tensors() const override {
    NamedTensors out = named_mlp_tensors("kernel", kernel_, score_);
    for (auto& named : named_mlp_tensors("nothing", {}, nothing_)) out.push_back(std::move(named));
    return out;
  }

 private:
  std::shared_ptr<TorchWindowLayer> window_;  // the critic's
  torch::nn::Sequential kernel_{nullptr}, critic_{nullptr};
  torch::nn::Linear score_{nullptr}, nothing_{nullptr}, value_{nullptr};
};

const NetworkRegistry::Add<KernelNet> kKernel{
    "kernel",
    {.about =
         "RLScheduler's: a small network of fixed size scores each job; the critic sees all jobs",
     .source = "Zhang et al., RLScheduler, SC 2020",
     .settings = describe<NoConfig>}};

}  // namespace
}  // namespace yard
