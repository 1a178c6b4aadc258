// The network `flat` without LibTorch: all rows of a window, each at its position, then the
// cluster's features, through one net. This is the usual network of reinforcement learning, for
// comparison with those that score rows one by one.
//
//   x = [rows 0 .. J-1, zero where absent; cluster]           standardised, (J F + C)
//   scores = W3 relu(W2 relu(W1 x + b1) + b2) + b3             (J + 1)
// W1 is stored by row position, and apart for the cluster, so that absent rows cost nothing (as in
// "DeepRM", Mao et al., HotNets 2016, whose slots are positions of waiting jobs). The critic is one
// more output of the last layer. agents/networks/flat_net.cc is the same network for training.
#include "policies/learned/layers.h"

namespace yard {
namespace {

class Flat final : public NativeNetwork {
 public:
  explicit Flat(const TrainedWeights& weights)
      : shape_(checked(weights).shape),
        normaliser_(weights.tensors, shape_),
        window_(weights.tensors, "window"),
        trunk_(weights.tensors, "trunk", 2) {}

  void forward(const Observation& o, std::span<float> logits) const override {
    const Vector x = window_(normaliser_.rows(o), normaliser_.cluster(o));
    const RowMatrix all = trunk_(x.transpose());  // (1, J + 1)
    Vector score(o.rows + 1);
    score.head(o.rows) = all.leftCols(o.rows).transpose();
    score[o.rows] = all(0, shape_.rows);
    write_logits(o, shape_, score, logits);
  }

  std::optional<OnnxScores> export_onnx(OnnxGraph& g, const OnnxGraph::Value& rows,
                                        const OnnxGraph::Value& cluster) const override {
    // Fills the window with rows of zeros.
    const int64_t window = shape_.rows, f = shape_.row_features;
    const auto zeros = g.add("ConstantOfShape", {g.integer_constant({window, f})});
    const auto filled =
        g.slice(g.concat(rows, zeros, 0), g.integer_constant({0}), g.integer_constant({window}));
    const auto context = g.linear(cluster, "window.cluster", g.weight("window.bias"));
    const auto x = g.relu(
        g.add("Gemm", {g.reshape(filled, {1, window * f}), g.weight("window.rows"), context}));
    const auto all = g.reshape(g.mlp(x, "trunk", 2), {window + 1});
    return OnnxScores{g.slice(all, g.integer_constant({0}), g.count(rows)),
                      g.slice(all, g.integer_constant({window}), g.integer_constant({window + 1}))};
  }

  Settings settings() const override { return settings_with_hidden_size(window_.hidden_size()); }

 private:
  static const TrainedWeights& checked(const TrainedWeights& weights) {
    const int64_t hidden = vector_length(weights, "window.bias");
    auto shapes = Normaliser::shapes(weights.shape);
    shapes.merge(WindowLayer::shapes("window", weights.shape, hidden));
    shapes.merge(Mlp::shapes("trunk", {hidden, hidden, weights.shape.actions()}));
    return check_tensors(weights, shapes);
  }

  ObservationShape shape_;
  Normaliser normaliser_;
  WindowLayer window_;
  Mlp trunk_;
};

const NativeNetworkRegistry::Add<Flat> kFlat{"flat", {}};

}  // namespace
}  // namespace yard
