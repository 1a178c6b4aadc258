// Runs a checkpoint's model.onnx in ONNX Runtime, a Python package, and compares its outputs with
// the recorded ones.
#pragma once

#include <optional>
#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

struct OnnxDifference {
  std::optional<double>
      most;           // largest difference of a logit, over all golden states; none: not checked
  std::string about;  // the version of ONNX Runtime, or why it was not checked
};

// Runs the Python which YARD_ONNX_PYTHON names, else python3. Throws RunError if ONNX Runtime is
// installed but fails to run the model.
OnnxDifference onnx_difference(const Checkpoint& checkpoint);

}  // namespace yard
