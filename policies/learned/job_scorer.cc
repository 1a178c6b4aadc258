#include "policies/learned/job_scorer.h"

namespace yard {
namespace {

// Returns the weights after checking their shapes against those that follow from the first layer.
const TrainedWeights& checked(const TrainedWeights& weights) {
  return check_tensors(weights, job_scorer_shapes(vector_length(weights, "b1"), weights.shape));
}

const NativeNetworkRegistry::Add<JobScorer> kJobScorer{"job-scorer", {}};

}  // namespace

Shapes job_scorer_shapes(int64_t hidden, const ObservationShape& shape) {
  const int64_t h = hidden, f = shape.row_features, c = shape.cluster_features;
  auto out = Normaliser::shapes(shape);
  out.insert({{"w1_job", {h, f}},
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
              {"b5", {1}}});
  return out;
}

JobScorer::JobScorer(const TrainedWeights& weights)
    : shape_(checked(weights).shape), normaliser_(weights.tensors, shape_) {
  const Tensors& t = weights.tensors;
  w1_job_ = matrix_of(t, "w1_job");
  w1_cluster_ = matrix_of(t, "w1_cluster");
  b1_ = vector_of(t, "b1");
  w2_ = matrix_of(t, "w2");
  b2_ = vector_of(t, "b2");
  w3_ = vector_of(t, "w3");
  b3_ = t.at("b3").data[0];
  w4_pool_ = matrix_of(t, "w4_pool");
  w4_cluster_ = matrix_of(t, "w4_cluster");
  b4_ = vector_of(t, "b4");
  w5_ = vector_of(t, "w5");
  b5_ = t.at("b5").data[0];
}

void JobScorer::forward(const Observation& o, std::span<float> logits) const {
  const Vector cluster = normaliser_.cluster(o);
  Vector pool = Vector::Zero(w2_.rows());
  Vector score(o.rows + 1);
  if (o.rows > 0) {
    const Vector context = w1_cluster_ * cluster + b1_;  // the same for all rows
    RowMatrix h = normaliser_.rows(o) * w1_job_.transpose();
    h = (h.rowwise() + context.transpose()).cwiseMax(0.0F);
    h = ((h * w2_.transpose()).rowwise() + b2_.transpose()).cwiseMax(0.0F).eval();
    score.head(o.rows) = (h * w3_).array() + b3_;
    pool = h.colwise().mean();
  }
  const Vector n = (w4_pool_ * pool + w4_cluster_ * cluster + b4_).cwiseMax(0.0F);
  score[o.rows] = w5_.dot(n) + b5_;
  write_logits(o, shape_, score, logits);
}

std::optional<OnnxScores> JobScorer::export_onnx(OnnxGraph& g, const OnnxGraph::Value& rows,
                                                 const OnnxGraph::Value& cluster) const {
  const auto context = g.linear(cluster, "w1_cluster", g.weight("b1"));
  auto h = g.relu(g.linear(rows, "w1_job", context));
  h = g.relu(g.linear(h, "w2", g.weight("b2")));
  const auto score = g.add("Add", {g.add("MatMul", {h, g.weight("w3")}), g.weight("b3")});
  const auto rows_or_one =
      g.add("Max", {g.count(rows), g.integer_constant({1})});  // no rows: mean 0
  const auto pool =
      g.add("Div", {g.add("ReduceSum", {h, g.integer_constant({0})}), g.real(rows_or_one)});
  const auto noop_bias = g.linear(cluster, "w4_cluster", g.weight("b4"));
  const auto n = g.relu(g.linear(pool, "w4_pool", noop_bias));
  return OnnxScores{score, g.add("Add", {g.add("MatMul", {n, g.weight("w5")}), g.weight("b5")})};
}

}  // namespace yard
