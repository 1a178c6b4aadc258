// A trained network for inference without LibTorch, in policies and servers. The training versions
// of networks are in agents/. `verify` compares the outputs of native, training and ONNX versions.
// Dims: J rows of a window, R rows of a decision, F row features, C cluster features.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "env/base/config/registry.h"
#include "env/task/observation.h"
#include "policies/learned/onnx_graph.h"
#include "policies/learned/tensors.h"

namespace yard {

constexpr int64_t kMaxHidden = 1024;    // largest number of hidden units of a layer
constexpr float kLayerNormEps = 1e-5F;  // added to the variance in layer normalisation

// Arguments for the constructor of a network, which keeps no reference to them.
struct TrainedWeights {
  const Tensors& tensors;
  ObservationShape shape;
  std::string where;  // origin of the weights, for error messages
};

// Tensors of any shape with the scores of the rows (R numbers) and of doing nothing (1 number).
struct OnnxScores {
  OnnxGraph::Value rows, nothing;
};

class NativeNetwork {
 public:
  static constexpr const char* kKind = "network";
  struct Info {};

  virtual ~NativeNetwork() = default;

  // Writes the logits (J + 1): prior + score. Masked actions get kMaskedLogit. Thread-safe.
  virtual void forward(const Observation& observation, std::span<float> logits) const = 0;

  // Returns the network settings with which the weights were trained, as seen from their shapes.
  virtual Settings settings() const { return {}; }

  // Adds ONNX operators that compute the scores of forward() from standardised rows (R, F) and
  // cluster features (1, C). The default returns nothing, so that checkpoints have no model.onnx.
  virtual std::optional<OnnxScores> export_onnx(OnnxGraph&, const OnnxGraph::Value& /*rows*/,
                                                const OnnxGraph::Value& /*cluster*/) const {
    return std::nullopt;
  }
};

// Constructors of networks throw InputError naming `where` if a tensor is missing, has a wrong
// shape or is not finite.
using NativeNetworkRegistry = Registry<NativeNetwork, NativeNetwork::Info, TrainedWeights>;

}  // namespace yard
