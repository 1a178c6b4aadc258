// Runs a checkpoint's model.onnx in ONNX Runtime, a Python package, and compares the outputs with
// the recorded outputs.
#pragma once

#include <optional>
#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

struct OnnxDifference {
  std::optional<double> most;  // largest difference of logits over golden states; unset: unchecked
  std::string about;           // version of ONNX Runtime, or the reason why nothing was checked
};

// Runs the Python in the variable YARD_ONNX_PYTHON, or python3 without the variable. Throws
// RunError if ONNX Runtime is installed but fails to run the model.
OnnxDifference onnx_difference(const Checkpoint& checkpoint);

}  // namespace yard
