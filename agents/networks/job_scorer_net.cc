// The network `job-scorer` (policies/learned/job_scorer.h has its equations) for training, with a
// critic.
// Dims: B samples, R rows of all samples together, F, C features, H hidden.
#include <cmath>

#include "agents/kernels/row_layers.h"
#include "agents/networks/action_distribution.h"
#include "agents/networks/network.h"

namespace yard {
namespace {

using Config = HiddenLayersConfig<32>;

class JobScorerNet final : public Network {
 public:
  explicit JobScorerNet(const Settings& settings) : config_(parse<Config>(settings)) {}

  NetworkOutput forward(const RaggedBatch& batch, const Heads& heads) override {
    const auto x = standardised_jobs(batch);     // (R, F)
    const auto c = standardised_cluster(batch);  // (B, C)
    NetworkOutput out;
    if (has(heads, kPolicyHead)) {
      const auto rows = score_rows(x, w1_job_, w1_cluster_->forward(c), w2_, w3_, batch.offset);
      const auto pool = rows.sum / batch.count;                                        // (B, H)
      const auto nothing = w5_->forward(relu_linear(pool, w4_pool_, c, w4_cluster_));  // (B, 1)
      out.set(kPolicyHead, action_logits(batch.prior, rows.score, nothing, batch.offset));
    }
    if (has(heads, kValueHead)) {
      // A sum, since the future cost grows with the number of jobs.
      const auto sum = relu_linear_segment_sum(x, v1_job_, v1_cluster_->forward(c), batch.offset) *
                       (1.0 / 16);  // (B, H)
      out.set(kValueHead,
              v3_->forward(relu_linear(sum, v2_pool_, c, v2_cluster_)).squeeze(-1));  // (B)
    }
    return out;
  }

 protected:
  void make_layers(const ObservationShape& shape) override {
    const int64_t h = config_.hidden, f = shape.row_features, c = shape.cluster_features;
    const double relu = std::sqrt(2.0);
    w1_job_ = register_linear("w1_job", f, h, relu, true);
    w1_cluster_ = register_linear("w1_cluster", c, h, relu, false);
    w2_ = register_linear("w2", h, h, relu, true);
    // Zero: the untrained policy equals the prior.
    w3_ = register_linear("w3", h, 1, 0.0, true);
    w4_pool_ = register_linear("w4_pool", h, h, relu, true);
    w4_cluster_ = register_linear("w4_cluster", c, h, relu, false);
    w5_ = register_linear("w5", h, 1, 0.0, true);
    v1_job_ = register_linear("v1_job", f, h, relu, true);
    v1_cluster_ = register_linear("v1_cluster", c, h, relu, false);
    v2_pool_ = register_linear("v2_pool", h, h, relu, true);
    v2_cluster_ = register_linear("v2_cluster", c, h, relu, false);
    v3_ = register_linear("v3", h, 1, 1.0, true);
  }

  // A layer with one output is a vector in the checkpoint; flatten() is a view of its weight.
  NamedTensors policy_tensors() const override {
    return {{"w1_job", w1_job_->weight},
            {"w1_cluster", w1_cluster_->weight},
            {"b1", w1_job_->bias},
            {"w2", w2_->weight},
            {"b2", w2_->bias},
            {"w3", w3_->weight.flatten()},
            {"b3", w3_->bias},
            {"w4_pool", w4_pool_->weight},
            {"w4_cluster", w4_cluster_->weight},
            {"b4", w4_pool_->bias},
            {"w5", w5_->weight.flatten()},
            {"b5", w5_->bias}};
  }

 private:
  Config config_;
  torch::nn::Linear w1_job_{nullptr}, w1_cluster_{nullptr}, w2_{nullptr}, w3_{nullptr};
  torch::nn::Linear w4_pool_{nullptr}, w4_cluster_{nullptr}, w5_{nullptr};
  // The critic has its own layers: v1 embeds rows, v2 reads their sum and the cluster.
  torch::nn::Linear v1_job_{nullptr}, v1_cluster_{nullptr}, v2_pool_{nullptr}, v2_cluster_{nullptr};
  torch::nn::Linear v3_{nullptr};
};

const NetworkRegistry::Add<JobScorerNet> kJobScorer{
    "job-scorer",
    {.about = "a small network scores each job; one on pooled features scores doing nothing; "
              "separate critic",
     .source = "this project; network shared by all jobs as in RLScheduler, SC 2020",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
