#include "policies/learned/job_scorer.h"

#include <cmath>

#include "env/base/error.h"

namespace yard {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + ")";
}

// Checks all tensors against the shapes that follow from the first layer's.
void check(const Tensors& weights, const TaskShape& task, const std::string& where) {
  const auto first = weights.find("b1");
  if (first == weights.end() || first->second.shape.size() != 1) {
    throw InputError(where, "a tensor b1 (hidden)", "none");
  }
  const auto hidden = static_cast<int>(first->second.shape[0]);
  for (const auto& [name, shape] : job_scorer_shapes(hidden, task)) {
    const auto it = weights.find(name);
    if (it == weights.end()) throw InputError(where, "a tensor " + name, "none");
    if (it->second.shape != shape) {
      throw InputError(where + ": " + name, "shape " + shape_text(shape),
                       shape_text(it->second.shape));
    }
    for (const float value : it->second.data) {
      if (!std::isfinite(value))
        throw InputError(where + ": " + name, "finite weights", "NaN or Inf");
    }
  }
}

}  // namespace

std::map<std::string, std::vector<int64_t>> job_scorer_shapes(int hidden, const TaskShape& shape) {
  const int64_t h = hidden, f = shape.row_features, c = shape.cluster_features;
  return {{"job_mean", {f}},
          {"job_scale", {f}},
          {"cluster_mean", {c}},
          {"cluster_scale", {c}},
          {"w1_job", {h, f}},
          {"w1_cluster", {h, c}},
          {"b1", {h}},
          {"w2", {h, h}},
          {"b2", {h}},
          {"w3", {h}},
          {"b3", {1}},
          {"w4_pool", {h, h}},
          {"w4_cluster", {h, c}},
          {"b4", {h}},
          {"w5", {h}},
          {"b5", {1}}};
}

JobScorer::JobScorer(const Tensors& weights, const TaskShape& shape, const std::string& where)
    : shape_(shape) {
  check(weights, shape, where);
  const auto vector = [&](const char* name) -> Vector {
    const Tensor& t = weights.at(name);
    return Eigen::Map<const Vector>(t.data.data(), t.shape[0]);
  };
  const auto matrix = [&](const char* name) -> Matrix {
    const Tensor& t = weights.at(name);
    return Eigen::Map<const Matrix>(t.data.data(), t.shape[0], t.shape[1]);
  };
  job_mean_ = vector("job_mean");
  job_scale_ = vector("job_scale");
  cluster_mean_ = vector("cluster_mean");
  cluster_scale_ = vector("cluster_scale");
  w1_job_ = matrix("w1_job");
  w1_cluster_ = matrix("w1_cluster");
  b1_ = vector("b1");
  w2_ = matrix("w2");
  b2_ = vector("b2");
  w3_ = vector("w3");
  b3_ = weights.at("b3").data[0];
  w4_pool_ = matrix("w4_pool");
  w4_cluster_ = matrix("w4_cluster");
  b4_ = vector("b4");
  w5_ = vector("w5");
  b5_ = weights.at("b5").data[0];
}

void JobScorer::forward(const Observation& o, std::span<float> logits) const {
  using Rows = Eigen::Map<const Matrix>;
  const Eigen::Map<const Vector> raw(o.cluster, shape_.cluster_features);
  const Vector cluster = (raw - cluster_mean_).cwiseProduct(cluster_scale_);
  Vector pool = Vector::Zero(hidden());
  Vector scores;  // (rows)
  if (o.rows > 0) {
    Matrix x = Rows(o.jobs, o.rows, shape_.row_features);
    x = (x.rowwise() - job_mean_.transpose()).array().rowwise() * job_scale_.transpose().array();
    const Vector context = w1_cluster_ * cluster + b1_;  // the same for all rows
    Matrix h = x * w1_job_.transpose();
    h = (h.rowwise() + context.transpose()).cwiseMax(0.0F);
    h = ((h * w2_.transpose()).rowwise() + b2_.transpose()).cwiseMax(0.0F).eval();
    scores = (h * w3_).array() + b3_;
    pool = h.colwise().mean();
  }
  const Vector n = (w4_pool_ * pool + w4_cluster_ * cluster + b4_).cwiseMax(0.0F);
  for (int32_t r = 0; r < shape_.rows; ++r) {
    const bool legal = r < o.rows && o.mask[r] != 0;
    logits[static_cast<size_t>(r)] = legal ? o.prior[r] + scores[r] : kMaskedLogit;
  }
  const auto nothing = static_cast<size_t>(shape_.rows);
  logits[nothing] = o.mask[nothing] != 0 ? o.prior[nothing] + w5_.dot(n) + b5_ : kMaskedLogit;
}

}  // namespace yard
