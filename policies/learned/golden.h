// Golden states: recorded observations and network outputs, to verify and warm up the network.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/task/observation.h"
#include "policies/learned/tensors.h"

namespace yard {

// G states of J rows, F row features and C cluster features are packed as tensors jobs (G, J, F),
// cluster (G, C), rows (G), and mask, prior and logits (the network's output), each (G, J + 1).
struct GoldenState {
  std::vector<float> jobs, cluster, prior, logits;
  std::vector<uint8_t> mask;
  std::vector<int32_t> slots;
  int32_t rows = 0;

  Observation observation();  // points into this

  // Returns the largest |logits - other_logits| over legal actions; infinite if `other_logits` is
  // not finite.
  double max_logit_difference(std::span<const float> other_logits) const;
};

Tensors pack_golden(const std::vector<GoldenState>& states, const ObservationShape& shape);
// Throws InputError naming `where` if the shape of a tensor does not fit `shape`.
std::vector<GoldenState> unpack_golden(const Tensors& tensors, const ObservationShape& shape,
                                       const std::string& where);

}  // namespace yard
