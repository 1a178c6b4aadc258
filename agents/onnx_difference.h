// A checkpoint's model.onnx under ONNX Runtime, which is a Python package, against the outputs that
// were recorded with the checkpoint.
#pragma once

#include <optional>
#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

struct OnnxDifference {
  std::optional<double> most;  // of any logit of the golden states; none: not checked
  std::string about;           // the version of ONNX Runtime, or why it was not checked
};

// Asks the Python that YARD_ONNX_PYTHON names, else python3. Throws RunError where it has ONNX
// Runtime, but that does not run the model.
OnnxDifference onnx_difference(const Checkpoint& checkpoint);

}  // namespace yard
