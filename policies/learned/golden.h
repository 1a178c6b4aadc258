// Recorded decisions: what a network saw and said, for `verify` and for warm-up.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/task/observation.h"
#include "policies/learned/tensors.h"

namespace yard {

// As tensors jobs (G, J, F), cluster (G, C), mask (G, J + 1), prior (G, J + 1), rows (G) and what
// the network said: logits (G, J + 1).
struct GoldenState {
  std::vector<float> jobs, cluster, prior, logits;
  std::vector<uint8_t> mask;
  std::vector<int32_t> slots;
  int32_t rows = 0;

  Observation observation();  // points into this

  // The largest difference of a legal action's logit; infinite where one is not finite.
  double difference(std::span<const float> other) const;
};

Tensors pack_golden(const std::vector<GoldenState>& states, const TaskShape& shape);
// Throws InputError naming `where` for tensors of another shape.
std::vector<GoldenState> unpack_golden(const Tensors& tensors, const TaskShape& shape,
                                       const std::string& where);

}  // namespace yard
