// Network layers for inference, built from tensors of a checkpoint. Dims: see native_network.h.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "policies/learned/native_network.h"

namespace yard {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
using Shapes = std::map<std::string, std::vector<int64_t>>;  // shapes of tensors, by name

// Returns `weights`. Throws InputError naming weights.where unless the weights are exactly the
// tensors in `shapes`, each with the given shape and finite values.
const TrainedWeights& check_tensors(const TrainedWeights& weights, const Shapes& shapes);

// Returns the length of the vector `name` among the weights. Throws InputError if the vector is
// missing, empty or longer than kMaxHidden.
int64_t vector_length(const TrainedWeights& weights, const std::string& name);

// Returns the settings of a network whose only setting is `hidden`.
Settings settings_with_hidden_size(int64_t hidden);

// Requires: the tensor `name` exists and has one dimension (vector_of) or two (matrix_of).
Vector vector_of(const Tensors& tensors, const std::string& name);
RowMatrix matrix_of(const Tensors& tensors, const std::string& name);

// Writes prior + score of legal actions and kMaskedLogit of illegal ones, the no-op last.
void write_logits(const Observation& observation, const ObservationShape& shape,
                  const Vector& score, std::span<float> logits);

// Standardises the features of rows and of the cluster: (x - mean) * scale.
class Normaliser {
 public:
  static Shapes shapes(const ObservationShape& shape);
  Normaliser(const Tensors& tensors, const ObservationShape& shape);

  RowMatrix rows(const Observation& observation) const;  // (rows, F)
  Vector cluster(const Observation& observation) const;  // (C)

 private:
  ObservationShape shape_;
  Vector row_mean_, row_scale_, cluster_mean_, cluster_scale_;  // shapes (F), (F), (C), (C)
};

// A layer over the rows of a window, each position with its own weights, and cluster features:
//   y = relu(sum_r W_r row_r + U cluster + b).
class WindowLayer {
 public:
  // Returns the shapes of the tensors NAME.rows (J F, H), which has the weights of all positions,
  // NAME.cluster (H, C) and NAME.bias (H).
  static Shapes shapes(const std::string& name, const ObservationShape& shape, int64_t hidden);
  WindowLayer(const Tensors& tensors, const std::string& name);

  Vector operator()(const RowMatrix& rows, const Vector& cluster) const;  // (H)

  int64_t hidden_size() const { return bias_.size(); }

 private:
  RowMatrix rows_, cluster_;
  Vector bias_;
};

// MLP with ReLU after all layers but the last: y = W_n relu(... relu(W_0 x + b_0)) + b_n.
class Mlp {
 public:
  // Returns the shapes of tensors NAME.0.weight (out, in), NAME.0.bias (out), NAME.1.weight and so
  // on, for layers of the sizes `widths`, input first.
  static Shapes shapes(const std::string& name, const std::vector<int64_t>& widths);
  Mlp(const Tensors& tensors, const std::string& name, int layers);

  RowMatrix operator()(RowMatrix x) const;  // maps (rows, in) to (rows, out)

 private:
  struct Layer {
    RowMatrix weight;
    Vector bias;
  };
  std::vector<Layer> layers_;
};

}  // namespace yard
