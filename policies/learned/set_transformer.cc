// The network `set-transformer` without LibTorch: jobs attend to each other before they are scored.
//
//   e_j = relu(W_e [job features j, cluster features] + b_e)
//   a_jk = softmax_k (Q e_j . K e_k / sqrt H);   u_j = N(e_j + V sum_k a_jk e_k)
//   o_j = N(u_j + relu(W_o u_j + b_o));          score of job j = w . o_j + b
//   z = sum_j softmax_j (s . o_j / sqrt H) o_j;  score of doing nothing = M([z, cluster features])
// N(x) = (x - mean) / sd over the H numbers of a row (Lee et al., "Set Transformer", ICML 2019: one
// self-attention block and pooling by attention, with one head; N has no weights). The critic pools
// rows of its own in the same way. agents/networks/set_transformer_net.cc is the same network for
// training.
#include <cmath>

#include "policies/learned/layers.h"

namespace yard {
namespace {

// Applies softmax to each row, in place.
void softmax(RowMatrix& m) {
  m = (m.colwise() - m.rowwise().maxCoeff().eval()).array().exp().matrix().eval();
  m = m.array().colwise() / m.rowwise().sum().array().eval();
}

RowMatrix layer_norm(RowMatrix m) {
  m.colwise() -= m.rowwise().mean().eval();
  const Vector variance = m.rowwise().squaredNorm() / static_cast<float>(m.cols());
  m.array().colwise() /= (variance.array() + kLayerNormEps).sqrt();
  return m;
}

class SetTransformer final : public NativeNetwork {
 public:
  explicit SetTransformer(const TrainedWeights& weights)
      : shape_(checked(weights).shape),
        normaliser_(weights.tensors, shape_),
        embed_(weights.tensors, "embed", 1),
        widen_(weights.tensors, "widen", 1),
        score_(weights.tensors, "score", 1),
        nothing_(weights.tensors, "nothing", 2),
        query_(matrix_of(weights.tensors, "query")),
        key_(matrix_of(weights.tensors, "key")),
        mix_(matrix_of(weights.tensors, "mix")),
        seed_(vector_of(weights.tensors, "seed")) {}

  void forward(const Observation& o, std::span<float> logits) const override {
    const Vector cluster = normaliser_.cluster(o);
    const int64_t h = seed_.size();
    const float scale = 1 / std::sqrt(static_cast<float>(h));
    RowMatrix pooled(1, h + shape_.cluster_features);
    pooled << RowMatrix::Zero(1, h), cluster.transpose();
    Vector score(o.rows + 1);
    if (o.rows > 0) {
      RowMatrix x(o.rows, shape_.row_features + shape_.cluster_features);
      x << normaliser_.rows(o), cluster.transpose().replicate(o.rows, 1);
      const RowMatrix e = embed_(x).cwiseMax(0.0F);
      RowMatrix share = scale * (e * query_.transpose()) * (e * key_.transpose()).transpose();
      softmax(share);
      const RowMatrix u = layer_norm(e + (share * e) * mix_.transpose());
      const RowMatrix all = layer_norm(u + widen_(u).cwiseMax(0.0F));
      score.head(o.rows) = score_(all);
      RowMatrix weight = scale * (all * seed_).transpose();
      softmax(weight);
      pooled.leftCols(h) = weight * all;
    }
    score[o.rows] = nothing_(pooled)(0, 0);
    write_logits(o, shape_, score, logits);
  }

  std::optional<OnnxScores> export_onnx(OnnxGraph& g, const OnnxGraph::Value& rows,
                                        const OnnxGraph::Value& cluster) const override {
    const int64_t h = seed_.size();
    const float scale = 1 / std::sqrt(static_cast<float>(h));
    const auto ones = g.constant({{h}, std::vector<float>(static_cast<size_t>(h), 1.0F)});
    const auto layer_norm = [&](const OnnxGraph::Value& x) {
      return g.add("LayerNormalization", {x, ones}, {{"epsilon", kLayerNormEps}});
    };
    const auto e = g.relu(g.mlp(g.append_to_each_row(rows, cluster), "embed", 1));
    const auto attention_logits = g.add("Gemm", {g.linear(e, "query", ""), g.linear(e, "key", "")},
                                        {{"alpha", scale}, {"transB", int64_t{1}}});
    const auto attended = g.add("MatMul", {g.add("Softmax", {attention_logits}), e});
    const auto u = layer_norm(g.add("Add", {e, g.linear(attended, "mix", "")}));
    const auto all = layer_norm(g.add("Add", {u, g.relu(g.mlp(u, "widen", 1))}));
    const auto pooling_logits =
        g.add("Mul", {g.add("MatMul", {all, g.weight("seed")}), g.constant({{}, {scale}})});
    const auto pooled = g.add("MatMul", {g.add("Softmax", {pooling_logits}), all});
    return OnnxScores{g.mlp(all, "score", 1),
                      g.mlp(g.concat(g.reshape(pooled, {1, h}), cluster, 1), "nothing", 2)};
  }

  Settings settings() const override { return settings_with_hidden_size(seed_.size()); }

 private:
  static const TrainedWeights& checked(const TrainedWeights& weights) {
    const ObservationShape& s = weights.shape;
    const int64_t h = vector_length(weights, "seed");
    auto shapes = Normaliser::shapes(s);
    shapes.merge(Mlp::shapes("embed", {s.row_features + s.cluster_features, h}));
    shapes.merge(Mlp::shapes("widen", {h, h}));
    shapes.merge(Mlp::shapes("score", {h, 1}));
    shapes.merge(Mlp::shapes("nothing", {h + s.cluster_features, h, 1}));
    shapes.insert({{"query", {h, h}}, {"key", {h, h}}, {"mix", {h, h}}, {"seed", {h}}});
    return check_tensors(weights, shapes);
  }

  ObservationShape shape_;
  Normaliser normaliser_;
  Mlp embed_, widen_, score_, nothing_;
  RowMatrix query_, key_, mix_;
  Vector seed_;
};

const NativeNetworkRegistry::Add<SetTransformer> kSetTransformer{"set-transformer", {}};

}  // namespace
}  // namespace yard
