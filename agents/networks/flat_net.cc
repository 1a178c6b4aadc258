// The network `flat` (policies/learned/flat.cc has its equations) for training: policy and critic
// share one trunk, and the value is one more output.
// Dims: B samples, R rows of all samples together, H hidden units.
#include "agents/kernels/windowed_linear.h"
#include "agents/networks/mlp.h"

namespace yard {
namespace {

using Config = HiddenLayersConfig<128>;

class FlatNet final : public Network {
 public:
  explicit FlatNet(const Settings& settings) : config_(parse<Config>(settings)) {}

  NetworkOutput forward(const RaggedBatch& batch, const Heads& heads) override {
    const auto x = trunk_->forward(window_->forward(
        standardised_jobs(batch), standardised_cluster(batch), batch.offset));  // (B, H)
    NetworkOutput out;
    if (has(heads, kPolicyHead)) {
      out.set(kPolicyHead,
              batch.prior + pack_padded_scores(scores_->forward(x), batch.offset));  // (R + B)
    }
    if (has(heads, kValueHead)) out.set(kValueHead, value_->forward(x).squeeze(-1));  // (B)
    return out;
  }

 protected:
  void make_layers(const ObservationShape& shape) override {
    const int64_t h = config_.hidden;
    window_ = register_module("window", std::make_shared<TorchWindowLayer>(shape, h));
    trunk_ = register_module("trunk", make_mlp({h, h}));
    // Zero: the untrained policy equals the prior.
    scores_ = register_linear("scores", h, shape.actions(), 0.0, true);
    value_ = register_linear("value", h, 1, 1.0, true);
  }

  NamedTensors policy_tensors() const override {
    NamedTensors out = window_->tensors("window");
    for (auto& named : named_mlp_tensors("trunk", trunk_, scores_)) out.push_back(std::move(named));
    return out;
  }

 private:
  Config config_;
  std::shared_ptr<TorchWindowLayer> window_;
  torch::nn::Sequential trunk_{nullptr};
  torch::nn::Linear scores_{nullptr}, value_{nullptr};
};

const NetworkRegistry::Add<FlatNet> kFlat{
    "flat",
    {.about = "one network over the concatenated rows; the critic is an additional output",
     .source = "as in DeepRM, Mao et al., HotNets 2016",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
