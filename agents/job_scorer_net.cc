#include "agents/job_scorer_net.h"

#include <cmath>

#include "agents/ragged.h"

namespace yard {
namespace {

constexpr int64_t kF = Dispatch::kJobFeatures;
constexpr int64_t kC = Dispatch::kClusterFeatures;

// Orthogonal weights and zero biases (Huang et al. 2022, detail 2).
torch::nn::Linear linear(int64_t in, int64_t out, double gain, bool bias) {
  torch::nn::Linear layer(torch::nn::LinearOptions(in, out).bias(bias));
  torch::NoGradGuard no_grad;
  torch::nn::init::orthogonal_(layer->weight, gain);
  if (bias) layer->bias.zero_();
  return layer;
}

Tensor to_tensor(const torch::Tensor& t) {
  const torch::Tensor flat = t.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  Tensor out;
  out.shape.assign(flat.sizes().begin(), flat.sizes().end());
  out.data.assign(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  return out;
}

}  // namespace

JobScorerNetImpl::JobScorerNetImpl(int hidden) {
  const int64_t h = hidden;
  const double relu = std::sqrt(2.0);
  job_mean_ = register_buffer("job_mean", torch::zeros({kF}));
  job_scale_ = register_buffer("job_scale", torch::ones({kF}));
  cluster_mean_ = register_buffer("cluster_mean", torch::zeros({kC}));
  cluster_scale_ = register_buffer("cluster_scale", torch::ones({kC}));
  w1_job_ = register_module("w1_job", linear(kF, h, relu, true));
  w1_cluster_ = register_module("w1_cluster", linear(kC, h, relu, false));
  w2_ = register_module("w2", linear(h, h, relu, true));
  // Zero: training begins exactly at the prior.
  w3_ = register_module("w3", linear(h, 1, 0.0, true));
  w4_pool_ = register_module("w4_pool", linear(h, h, relu, true));
  w4_cluster_ = register_module("w4_cluster", linear(kC, h, relu, false));
  w5_ = register_module("w5", linear(h, 1, 0.0, true));
  v1_job_ = register_module("v1_job", linear(kF, h, relu, true));
  v1_cluster_ = register_module("v1_cluster", linear(kC, h, relu, false));
  v2_pool_ = register_module("v2_pool", linear(h, h, relu, true));
  v2_cluster_ = register_module("v2_cluster", linear(kC, h, relu, false));
  v3_ = register_module("v3", linear(h, 1, 1.0, true));
}

torch::Tensor JobScorerNetImpl::logits(const RaggedBatch& batch) {
  const auto x = (batch.jobs - job_mean_) * job_scale_;                                  // (R, F)
  const auto c = (batch.cluster - cluster_mean_) * cluster_scale_;                       // (B, C)
  const auto context = expand_rows(w1_cluster_->forward(c), batch.offset);               // (R, H)
  const auto h = torch::relu(w2_->forward(torch::relu(w1_job_->forward(x) + context)));  // (R, H)
  const auto scores = w3_->forward(h).squeeze(-1);                                       // (R)
  const auto pool = segment_sum(h, batch.offset) / batch.count;                          // (B, H)
  const auto n = torch::relu(w4_pool_->forward(pool) + w4_cluster_->forward(c));         // (B, H)
  const auto nothing = w5_->forward(n);                                                  // (B, 1)
  const int64_t samples = batch.cluster.size(0);
  const auto jobs = torch::zeros({samples * Dispatch::kJobs})
                        .index_put({batch.slot}, scores)
                        .view({samples, Dispatch::kJobs});  // (B, J)
  return batch.prior + torch::cat({jobs, nothing}, 1);      // (B, A)
}

torch::Tensor JobScorerNetImpl::value(const RaggedBatch& batch) {
  const auto x = (batch.jobs - job_mean_) * job_scale_;
  const auto c = (batch.cluster - cluster_mean_) * cluster_scale_;
  const auto context = expand_rows(v1_cluster_->forward(c), batch.offset);
  const auto h = torch::relu(v1_job_->forward(x) + context);  // (R, H)
  // A sum, since the cost to come grows with the number of jobs.
  const auto sum = segment_sum(h, batch.offset) * (1.0 / 16);  // (B, H)
  return v3_->forward(torch::relu(v2_pool_->forward(sum) + v2_cluster_->forward(c))).squeeze(-1);
}

void JobScorerNetImpl::fit_normaliser(const RaggedBatch& batch) {
  torch::NoGradGuard no_grad;
  const auto fit = [](const torch::Tensor& x, torch::Tensor& mean, torch::Tensor& scale) {
    mean.copy_(x.mean(0));
    // A feature that never varied stays as it is: dividing by almost nothing would blow it up
    // later.
    const auto sd = x.std(0, /*unbiased=*/false);
    scale.copy_(torch::where(sd > 1e-3, 1 / sd, torch::ones_like(sd)));
  };
  fit(batch.jobs, job_mean_, job_scale_);
  fit(batch.cluster, cluster_mean_, cluster_scale_);
}

Tensors JobScorerNetImpl::export_policy() const {
  const auto vector = [](const torch::Tensor& t) { return to_tensor(t.flatten()); };
  return {{"job_mean", to_tensor(job_mean_)},
          {"job_scale", to_tensor(job_scale_)},
          {"cluster_mean", to_tensor(cluster_mean_)},
          {"cluster_scale", to_tensor(cluster_scale_)},
          {"w1_job", to_tensor(w1_job_->weight)},
          {"w1_cluster", to_tensor(w1_cluster_->weight)},
          {"b1", to_tensor(w1_job_->bias)},
          {"w2", to_tensor(w2_->weight)},
          {"b2", to_tensor(w2_->bias)},
          {"w3", vector(w3_->weight)},
          {"b3", to_tensor(w3_->bias)},
          {"w4_pool", to_tensor(w4_pool_->weight)},
          {"w4_cluster", to_tensor(w4_cluster_->weight)},
          {"b4", to_tensor(w4_pool_->bias)},
          {"w5", vector(w5_->weight)},
          {"b5", to_tensor(w5_->bias)}};
}

void JobScorerNetImpl::import_policy(const Tensors& tensors) {
  torch::NoGradGuard no_grad;
  const auto copy = [&](const char* name, torch::Tensor to) {
    const Tensor& from = tensors.at(name);
    YARD_CHECK(static_cast<int64_t>(from.data.size()) == to.numel(), "a tensor of another size");
    to.copy_(torch::from_blob(const_cast<float*>(from.data.data()), to.sizes()));
  };
  copy("job_mean", job_mean_);
  copy("job_scale", job_scale_);
  copy("cluster_mean", cluster_mean_);
  copy("cluster_scale", cluster_scale_);
  copy("w1_job", w1_job_->weight);
  copy("w1_cluster", w1_cluster_->weight);
  copy("b1", w1_job_->bias);
  copy("w2", w2_->weight);
  copy("b2", w2_->bias);
  copy("w3", w3_->weight);
  copy("b3", w3_->bias);
  copy("w4_pool", w4_pool_->weight);
  copy("w4_cluster", w4_cluster_->weight);
  copy("b4", w4_pool_->bias);
  copy("w5", w5_->weight);
  copy("b5", w5_->bias);
}

}  // namespace yard
