// Golden states: recorded observations and outputs of a network, for `verify` and for warm-up.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/task/observation.h"
#include "policies/learned/tensors.h"

namespace yard {

// G states of J rows, F row features and C cluster features are packed as jobs (G, J, F), cluster
// (G, C), rows (G), and mask, prior and the network's output logits (G, J + 1).
struct GoldenState {
  std::vector<float> jobs, cluster, prior, logits;
  std::vector<uint8_t> mask;
  std::vector<int32_t> slots;
  int32_t rows = 0;

  Observation observation();  // points into this

  // Returns the largest difference of legal actions' logits; infinite if one is not finite.
  double difference(std::span<const float> other) const;
};

Tensors pack_golden(const std::vector<GoldenState>& states, const ObservationShape& shape);
// Throws InputError naming `where` if a tensor has another shape.
std::vector<GoldenState> unpack_golden(const Tensors& tensors, const ObservationShape& shape,
                                       const std::string& where);

}  // namespace yard
