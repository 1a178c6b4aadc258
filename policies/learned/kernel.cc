// The network `kernel` without LibTorch: RLScheduler's policy, a small net of fixed size that
// scores each job by itself.
//
//   x_j = [job features j, cluster features]                                    standardised
//   score of job j = K(x_j), layers of 32, 16, 8, 1;     score of doing nothing = u cluster + b
// (Zhang et al., "RLScheduler", SC 2020, figure 5; it has no action that does nothing.) The critic
// is another net over all rows by position. agents/networks/kernel_net.cc is the same network for
// training.
#include "policies/learned/layers.h"

namespace yard {
namespace {

class Kernel final : public NativeNetwork {
 public:
  explicit Kernel(const TrainedWeights& weights)
      : shape_(checked(weights).shape),
        normaliser_(weights.tensors, shape_),
        kernel_(weights.tensors, "kernel", 4),
        nothing_(weights.tensors, "nothing", 1) {}

  void forward(const Observation& o, std::span<float> logits) const override {
    const Vector cluster = normaliser_.cluster(o);
    RowMatrix x(o.rows, shape_.row_features + shape_.cluster_features);
    x << normaliser_.rows(o), cluster.transpose().replicate(o.rows, 1);
    Vector score(o.rows + 1);
    score.head(o.rows) = kernel_(x);
    score[o.rows] = nothing_(cluster.transpose())(0, 0);
    write_logits(o, shape_, score, logits);
  }

  std::optional<OnnxScores> export_onnx(OnnxGraph& g, const OnnxGraph::Value& rows,
                                        const OnnxGraph::Value& cluster) const override {
    return OnnxScores{g.mlp(g.append_to_each_row(rows, cluster), "kernel", 4),
                      g.mlp(cluster, "nothing", 1)};
  }

 private:
  static const TrainedWeights& checked(const TrainedWeights& weights) {
    const ObservationShape& s = weights.shape;
    auto shapes = Normaliser::shapes(s);
    shapes.merge(Mlp::shapes("kernel", {s.row_features + s.cluster_features, 32, 16, 8, 1}));
    shapes.merge(Mlp::shapes("nothing", {s.cluster_features, 1}));
    return check_tensors(weights, shapes);
  }

  ObservationShape shape_;
  Normaliser normaliser_;
  Mlp kernel_, nothing_;
};

const NativeNetworkRegistry::Add<Kernel> kKernel{"kernel", {}};

}  // namespace
}  // namespace yard
