// Products of narrow row-major matrices. LibTorch's BLAS is slow for these, since it packs and
// clears before it multiplies. Uses oneDNN if available, else LibTorch.
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

// c = a b (m, n), or c += a b. Requires: a is (m, k) and b is (k, n).
void multiply(const Matrix& a, const Matrix& b, float* c, WriteMode into = WriteMode::kOverwrite);

// The fallback of multiply() without oneDNN.
void multiply_by_libtorch(const Matrix& a, const Matrix& b, float* c, WriteMode into);

}  // namespace yard
