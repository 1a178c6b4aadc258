#include "agents/networks/network.h"

#include <algorithm>
#include <cmath>

#include "agents/kernels/row_kernels.h"
#include "env/base/core/check.h"
#include "env/base/core/error.h"

namespace yard {
namespace {

torch::Tensor standard(const torch::Tensor& x, const torch::Tensor& mean,
                       const torch::Tensor& scale) {
  const auto in = x.contiguous(), out = torch::empty_like(in);
  standardise(in.size(0), in.size(1), mean.data_ptr<float>(), scale.data_ptr<float>(),
              in.data_ptr<float>(), out.data_ptr<float>());
  return out;
}

Tensor to_tensor(const torch::Tensor& t) {
  const torch::Tensor flat = t.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  Tensor out;
  out.shape.assign(flat.sizes().begin(), flat.sizes().end());
  out.data.assign(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  return out;
}

}  // namespace

const torch::Tensor& NetworkOutput::at(const std::string& head) const {
  const auto it = heads_.find(head);
  YARD_CHECK(it != heads_.end(), "the network has no head " + head);
  return it->second;
}

void Network::build(const ObservationShape& shape) {
  YARD_CHECK(!job_mean_.defined(), "a network is built once");
  job_mean_ = register_buffer("job_mean", torch::zeros({shape.row_features}));
  job_scale_ = register_buffer("job_scale", torch::ones({shape.row_features}));
  cluster_mean_ = register_buffer("cluster_mean", torch::zeros({shape.cluster_features}));
  cluster_scale_ = register_buffer("cluster_scale", torch::ones({shape.cluster_features}));
  make_layers(shape);
}

torch::Tensor Network::standardised_jobs(const RaggedBatch& batch) const {
  return standard(batch.jobs, job_mean_, job_scale_);
}

torch::Tensor Network::standardised_cluster(const RaggedBatch& batch) const {
  return standard(batch.cluster, cluster_mean_, cluster_scale_);
}

NamedTensors Network::policy_and_normaliser_tensors() const {
  NamedTensors out = {{"job_mean", job_mean_},
                      {"job_scale", job_scale_},
                      {"cluster_mean", cluster_mean_},
                      {"cluster_scale", cluster_scale_}};
  for (auto& named : policy_tensors()) out.push_back(std::move(named));
  return out;
}

Tensors Network::export_policy() const {
  Tensors out;
  for (const auto& [name, tensor] : policy_and_normaliser_tensors()) out[name] = to_tensor(tensor);
  return out;
}

void Network::import_policy(const Tensors& tensors, const std::string& where) {
  torch::NoGradGuard no_grad;
  const NamedTensors own = policy_and_normaliser_tensors();
  for (const auto& [name, to] : own) {
    const auto from = tensors.find(name);
    const std::string expected =
        "a tensor " + name + " of " + std::to_string(to.numel()) + " numbers";
    if (from == tensors.end()) throw InputError(where, expected, "none");
    if (from->second.shape != to.sizes().vec()) {
      throw InputError(where, expected, std::to_string(from->second.data.size()));
    }
  }
  for (const auto& [name, to] : own) {
    to.copy_(torch::from_blob(const_cast<float*>(tensors.at(name).data.data()), to.sizes()));
  }
}

void Network::fit_normaliser(const RaggedBatch& batch, Communicator& ranks) {
  torch::NoGradGuard no_grad;
  const auto fit = [&](const torch::Tensor& x, torch::Tensor& mean, torch::Tensor& scale) {
    const auto wide = x.to(torch::kFloat64);
    const auto moments =
        torch::cat({wide.sum(0), wide.pow(2).sum(0),
                    torch::full({1}, static_cast<double>(x.size(0)), torch::kFloat64)})
            .contiguous();  // (2 F + 1)
    ranks.sum({moments.data_ptr<double>(), static_cast<size_t>(moments.numel())});
    const int64_t f = x.size(1);
    const double n = std::max(moments[2 * f].item<double>(), 1.0);
    const auto first = moments.slice(0, 0, f) / n;
    const auto sd = (moments.slice(0, f, 2 * f) / n - first.pow(2)).clamp_min(0).sqrt();
    mean.copy_(first);
    // A constant feature stays unscaled: division by a tiny deviation would blow it up later.
    scale.copy_(torch::where(sd > 1e-3, 1 / sd, torch::ones_like(sd)));
  };
  fit(batch.jobs, job_mean_, job_scale_);
  fit(batch.cluster, cluster_mean_, cluster_scale_);
}

torch::nn::Linear orthogonal_linear(int64_t in, int64_t out, double gain, bool bias) {
  torch::nn::Linear layer(torch::nn::LinearOptions(in, out).bias(bias));
  torch::NoGradGuard no_grad;
  torch::nn::init::orthogonal_(layer->weight, gain);
  if (bias) layer->bias.zero_();
  return layer;
}

torch::nn::Linear Network::register_linear(const char* name, int64_t in, int64_t out, double gain,
                                           bool bias) {
  return register_module(name, orthogonal_linear(in, out, gain, bias));
}

std::unique_ptr<Network> make_network(const std::string& name, const Settings& settings,
                                      const ObservationShape& shape, uint64_t seed) {
  torch::manual_seed(seed);
  auto network = NetworkRegistry::make(name, settings);
  network->build(shape);
  return network;
}

}  // namespace yard
