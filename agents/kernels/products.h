// Products of narrow row-major matrices, by oneDNN if available, otherwise by LibTorch. LibTorch's
// BLAS is slow for narrow matrices, since it packs and clears before it multiplies.
#pragma once

#include <cstdint>

namespace yard {

struct Matrix {
  const float* at;
  int64_t rows, columns;
  bool transposed = false;  // use its transpose

  Matrix transpose() const { return {at, rows, columns, !transposed}; }
};

enum class WriteMode { kOverwrite, kAccumulate };

// Computes c = a b (m, n), or c += a b. Requires: a is (m, k) and b is (k, n).
void multiply(const Matrix& a, const Matrix& b, float* c, WriteMode into = WriteMode::kOverwrite);

// Multiplies with LibTorch, as multiply() does without oneDNN.
void multiply_by_libtorch(const Matrix& a, const Matrix& b, float* c, WriteMode into);

}  // namespace yard
