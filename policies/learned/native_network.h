// A trained network without LibTorch: what policies and servers ask. A network is one file here
// (see job_scorer.cc) beside its other half, for training, in agents/; `verify` holds the two
// together, and ONNX Runtime with them.
// Dims: J rows, F row features, C cluster features.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "env/base/registry.h"
#include "env/task/observation.h"
#include "policies/learned/onnx_graph.h"
#include "policies/learned/tensors.h"

namespace yard {

constexpr int64_t kMostHidden = 1024;   // units of a layer
constexpr float kLayerNormEps = 1e-5F;  // added to the variance

// What a network is made of; only while it is made.
struct TrainedWeights {
  const Tensors& tensors;
  TaskShape shape;
  std::string where;  // they are from, for errors
};

// Of each row and of doing nothing, R numbers and one, whatever their shapes.
struct DrawnScores {
  OnnxGraph::Value rows, nothing;
};

class NativeNetwork {
 public:
  static constexpr const char* kKind = "network";
  struct Info {};

  virtual ~NativeNetwork() = default;

  // Writes logits (J + 1), prior + scores; masked actions get kMaskedLogit. Thread-safe.
  virtual void forward(const Observation& observation, std::span<float> logits) const = 0;

  // With which such weights were trained.
  virtual Settings settings() const = 0;

  // The scores that forward() adds to the prior, as operators over standardised rows (R, F) and
  // cluster (1, C). Where a network draws none, its checkpoints have no model.onnx.
  virtual std::optional<DrawnScores> draw(OnnxGraph&, const OnnxGraph::Value& /*rows*/,
                                          const OnnxGraph::Value& /*cluster*/) const {
    return std::nullopt;
  }
};

// Constructors throw InputError naming `where` when a tensor is missing, has another shape or is
// not finite.
using NativeNetworkRegistry = Registry<NativeNetwork, NativeNetwork::Info, TrainedWeights>;

}  // namespace yard
