// The result of training: weights, and golden states which verify copies of the weights.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "policies/learned/checkpoint.h"
#include "policies/learned/golden.h"

namespace yard {

struct TrainingResult {
  std::string network;
  Tensors weights;
  std::vector<GoldenState> golden;  // golden states with the logits of this network
  nlohmann::ordered_json provenance;
  double core_s = 0;  // CPU time of all ranks, in core-seconds
};

}  // namespace yard
