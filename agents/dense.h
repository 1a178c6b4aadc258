// Numbers of tensors for loops of our own.
#pragma once

#include "agents/torch.h"
#include "env/base/check.h"

namespace yard {

// The same numbers, one after the other, without a gradient.
inline torch::Tensor dense(const torch::Tensor& t) { return t.detach().contiguous(); }

// Requires: they lie one after the other.
template <class T = float>
T* numbers(const torch::Tensor& t) {
  YARD_CHECK(t.is_contiguous(), "numbers one after the other");
  return t.data_ptr<T>();
}

}  // namespace yard
