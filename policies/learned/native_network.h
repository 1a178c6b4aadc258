// A trained network without LibTorch, for policies and servers. Its counterpart for training is in
// agents/. `verify` compares this network and its counterpart with each other and with ONNX
// Runtime. Dims: J rows of a window, R rows of a decision, F row features, C cluster features.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "env/base/config/registry.h"
#include "env/task/observation.h"
#include "policies/learned/onnx_graph.h"
#include "policies/learned/tensors.h"

namespace yard {

constexpr int64_t kMaxHidden = 1024;    // largest number of units of a layer
constexpr float kLayerNormEps = 1e-5F;  // added to the variance in layer normalisation

// Arguments for the construction of a network; not kept afterwards.
struct TrainedWeights {
  const Tensors& tensors;
  ObservationShape shape;
  std::string where;  // origin of the weights, for errors
};

// Scores of the rows (R numbers) and of doing nothing (one), of any shape.
struct OnnxScores {
  OnnxGraph::Value rows, nothing;
};

class NativeNetwork {
 public:
  static constexpr const char* kKind = "network";
  struct Info {};

  virtual ~NativeNetwork() = default;

  // Writes logits (J + 1): prior + scores. Masked actions get kMaskedLogit. Thread-safe.
  virtual void forward(const Observation& observation, std::span<float> logits) const = 0;

  // The settings with which such weights were trained.
  virtual Settings settings() const { return {}; }

  // Draws the scores that forward() adds to the prior, as ONNX operators over standardised rows (R,
  // F) and cluster (1, C). Returns nothing by default: its checkpoints have no model.onnx.
  virtual std::optional<OnnxScores> export_onnx(OnnxGraph&, const OnnxGraph::Value& /*rows*/,
                                                const OnnxGraph::Value& /*cluster*/) const {
    return std::nullopt;
  }
};

// Constructors throw InputError naming `where` if a tensor is missing, has another shape or is not
// finite.
using NativeNetworkRegistry = Registry<NativeNetwork, NativeNetwork::Info, TrainedWeights>;

}  // namespace yard
