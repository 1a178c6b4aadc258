// Gives access to the values of a tensor as a plain array in memory.
#pragma once

#include "agents/kernels/torch.h"
#include "env/base/core/check.h"

namespace yard {

// Returns the values of `t` as a contiguous tensor without gradients.
inline torch::Tensor contiguous_without_gradient(const torch::Tensor& t) {
  return t.detach().contiguous();
}

// Returns a pointer to the values of `t`. Requires: `t` is contiguous.
template <class T = float>
T* raw_data(const torch::Tensor& t) {
  YARD_CHECK(t.is_contiguous(), "the tensor must be contiguous");
  return t.data_ptr<T>();
}

}  // namespace yard
