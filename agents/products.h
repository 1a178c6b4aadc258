// Products of matrices so narrow that LibTorch's BLAS, which packs and clears before it multiplies,
// is slow at them: by oneDNN where it is there, else by LibTorch. Row by row in memory.
#pragma once

#include <cstdint>

namespace yard {

struct Matrix {
  const float* at;
  int64_t rows, columns;
  bool turned = false;  // its transpose is meant

  Matrix transpose() const { return {at, rows, columns, !turned}; }
};

enum class Into { kEmpty, kSum };

// c = a b (m, n), or c += a b. Requires: a is (m, k) and b (k, n).
void multiply(const Matrix& a, const Matrix& b, float* c, Into into = Into::kEmpty);

// What multiply() does where there is no oneDNN.
void multiply_by_libtorch(const Matrix& a, const Matrix& b, float* c, Into into);

}  // namespace yard
