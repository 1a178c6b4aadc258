#include "agents/networks/mlp.h"

#include <cmath>

#include "agents/kernels/windowed_linear.h"

namespace yard {

torch::nn::Sequential make_mlp(const std::vector<int64_t>& widths) {
  torch::nn::Sequential out;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    out->push_back(orthogonal_linear(widths[i], widths[i + 1], std::sqrt(2.0), true));
    out->push_back(torch::nn::Functional(torch::relu));
  }
  return out;
}

NamedTensors named_mlp_tensors(const std::string& name, const torch::nn::Sequential& layers,
                               const torch::nn::Linear& last) {
  NamedTensors out;
  int number = 0;
  const auto add = [&](const torch::nn::LinearImpl& layer) {
    const std::string prefix = name + "." + std::to_string(number++);
    out.emplace_back(prefix + ".weight", layer.weight);
    out.emplace_back(prefix + ".bias", layer.bias);
  };
  for (const auto& module : *layers) {
    if (const auto* linear = module.ptr()->as<torch::nn::LinearImpl>()) add(*linear);
  }
  add(*last);
  return out;
}

TorchWindowLayer::TorchWindowLayer(const ObservationShape& shape, int64_t hidden) {
  rows_ = register_parameter("rows", torch::empty({shape.rows * shape.row_features, hidden}));
  cluster_ = register_module(
      "cluster", orthogonal_linear(shape.cluster_features, hidden, std::sqrt(2.0), true));
  torch::NoGradGuard no_grad;
  torch::nn::init::orthogonal_(rows_, std::sqrt(2.0));
}

torch::Tensor TorchWindowLayer::forward(const torch::Tensor& rows, const torch::Tensor& cluster,
                                        const torch::Tensor& offset) {
  return torch::relu(windowed_linear(rows, rows_, offset) + cluster_->forward(cluster));
}

NamedTensors TorchWindowLayer::tensors(const std::string& name) const {
  return {{name + ".rows", rows_},
          {name + ".cluster", cluster_->weight},
          {name + ".bias", cluster_->bias}};
}

}  // namespace yard
