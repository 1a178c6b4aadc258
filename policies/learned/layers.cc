#include "policies/learned/layers.h"

#include <cmath>

#include "env/base/core/error.h"

namespace yard {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + ")";
}

std::string layer_name(const std::string& name, size_t layer, const char* part) {
  return name + "." + std::to_string(layer) + "." + part;
}

}  // namespace

const TrainedWeights& check_tensors(const TrainedWeights& weights, const Shapes& shapes) {
  for (const auto& [name, tensor] : weights.tensors) {
    if (!shapes.contains(name)) throw InputError(weights.where, "no tensor " + name, "one");
  }
  for (const auto& [name, shape] : shapes) {
    const auto it = weights.tensors.find(name);
    if (it == weights.tensors.end()) throw InputError(weights.where, "a tensor " + name, "none");
    if (it->second.shape != shape) {
      throw InputError(weights.where + ": " + name, "shape " + shape_text(shape),
                       shape_text(it->second.shape));
    }
    for (const float value : it->second.data) {
      if (!std::isfinite(value))
        throw InputError(weights.where + ": " + name, "finite weights", "NaN or Inf");
    }
  }
  return weights;
}

int64_t vector_length(const TrainedWeights& weights, const std::string& name) {
  const auto it = weights.tensors.find(name);
  const std::string expected = "a vector " + name + " of 1 to " + std::to_string(kMaxHidden);
  if (it == weights.tensors.end()) throw InputError(weights.where, expected, "none");
  const std::vector<int64_t>& shape = it->second.shape;
  if (shape.size() != 1 || shape[0] < 1 || shape[0] > kMaxHidden) {
    throw InputError(weights.where, expected, "shape " + shape_text(shape));
  }
  return shape[0];
}

Settings settings_with_hidden_size(int64_t hidden) {
  Settings out;
  out.set("hidden", std::to_string(hidden), "weights");
  return out;
}

Vector vector_of(const Tensors& tensors, const std::string& name) {
  const Tensor& t = tensors.at(name);
  return Eigen::Map<const Vector>(t.data.data(), t.shape.at(0));
}

RowMatrix matrix_of(const Tensors& tensors, const std::string& name) {
  const Tensor& t = tensors.at(name);
  return Eigen::Map<const RowMatrix>(t.data.data(), t.shape.at(0), t.shape.at(1));
}

void write_logits(const Observation& o, const ObservationShape& shape, const Vector& score,
                  std::span<float> logits) {
  for (int32_t r = 0; r < shape.rows; ++r) {
    const bool legal = r < o.rows && o.mask[r] != 0;
    logits[static_cast<size_t>(r)] = legal ? o.prior[r] + score[r] : kMaskedLogit;
  }
  const auto nothing = static_cast<size_t>(shape.rows);
  logits[nothing] = o.mask[nothing] != 0 ? o.prior[nothing] + score[o.rows] : kMaskedLogit;
}

Shapes Normaliser::shapes(const ObservationShape& shape) {
  const int64_t f = shape.row_features, c = shape.cluster_features;
  return {{"job_mean", {f}}, {"job_scale", {f}}, {"cluster_mean", {c}}, {"cluster_scale", {c}}};
}

Normaliser::Normaliser(const Tensors& tensors, const ObservationShape& shape)
    : shape_(shape),
      row_mean_(vector_of(tensors, "job_mean")),
      row_scale_(vector_of(tensors, "job_scale")),
      cluster_mean_(vector_of(tensors, "cluster_mean")),
      cluster_scale_(vector_of(tensors, "cluster_scale")) {}

RowMatrix Normaliser::rows(const Observation& o) const {
  const Eigen::Map<const RowMatrix> raw(o.jobs, o.rows, shape_.row_features);
  return (raw.rowwise() - row_mean_.transpose()).array().rowwise() * row_scale_.transpose().array();
}

Vector Normaliser::cluster(const Observation& o) const {
  const Eigen::Map<const Vector> raw(o.cluster, shape_.cluster_features);
  return (raw - cluster_mean_).cwiseProduct(cluster_scale_);
}

Shapes WindowLayer::shapes(const std::string& name, const ObservationShape& shape, int64_t hidden) {
  return {{name + ".rows", {int64_t{shape.rows} * shape.row_features, hidden}},
          {name + ".cluster", {hidden, shape.cluster_features}},
          {name + ".bias", {hidden}}};
}

WindowLayer::WindowLayer(const Tensors& tensors, const std::string& name)
    : rows_(matrix_of(tensors, name + ".rows")),
      cluster_(matrix_of(tensors, name + ".cluster")),
      bias_(vector_of(tensors, name + ".bias")) {}

Vector WindowLayer::operator()(const RowMatrix& rows, const Vector& cluster) const {
  const Eigen::Map<const Vector> all(rows.data(), rows.size());  // rows concatenated
  const Vector sum = rows_.topRows(rows.size()).transpose() * all + cluster_ * cluster + bias_;
  return sum.cwiseMax(0.0F);
}

Shapes Mlp::shapes(const std::string& name, const std::vector<int64_t>& widths) {
  Shapes out;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    out[layer_name(name, i, "weight")] = {widths[i + 1], widths[i]};
    out[layer_name(name, i, "bias")] = {widths[i + 1]};
  }
  return out;
}

Mlp::Mlp(const Tensors& tensors, const std::string& name, int layers) {
  for (size_t i = 0; i < static_cast<size_t>(layers); ++i) {
    layers_.push_back({matrix_of(tensors, layer_name(name, i, "weight")),
                       vector_of(tensors, layer_name(name, i, "bias"))});
  }
}

RowMatrix Mlp::operator()(RowMatrix x) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto& [weight, bias] = layers_[i];
    x = ((x * weight.transpose()).rowwise() + bias.transpose()).eval();
    if (i + 1 < layers_.size()) x = x.cwiseMax(0.0F);
  }
  return x;
}

}  // namespace yard
