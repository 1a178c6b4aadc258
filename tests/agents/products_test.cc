// Checks matrix products against plain loops, for all transpositions, also with empty matrices.
#include "agents/kernels/products.h"

#include <gtest/gtest.h>

#include <vector>

#include "env/base/core/rng.h"

namespace yard {
namespace {

std::vector<float> drawn(int64_t count, uint64_t seed) {
  Rng rng{seed};
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<float>(rng.uniform() - 0.5));
  return out;
}

float at(const Matrix& m, int64_t row, int64_t column) {
  return m.transposed ? m.at[column * m.columns + row] : m.at[row * m.columns + column];
}

struct Sizes {
  int64_t m, k, n;
};

TEST(Products, MatchNaiveLoops) {
  for (const auto [m, k, n] :
       {Sizes{3, 4, 5}, {1, 1, 1}, {130, 8, 128}, {8, 700, 33}, {2, 0, 3}, {0, 4, 2}, {4, 2, 0}}) {
    const std::vector<float> left = drawn(m * k, 1), right = drawn(k * n, 2), sum = drawn(m * n, 3);
    for (const bool turn_a : {false, true}) {
      for (const bool turn_b : {false, true}) {
        const Matrix a = turn_a ? Matrix{left.data(), k, m, true} : Matrix{left.data(), m, k};
        const Matrix b = turn_b ? Matrix{right.data(), n, k, true} : Matrix{right.data(), k, n};
        for (const WriteMode into : {WriteMode::kOverwrite, WriteMode::kAccumulate}) {
          std::vector<float> fast = sum, torch = sum;
          multiply(a, b, fast.data(), into);
          multiply_by_libtorch(a, b, torch.data(), into);
          for (int64_t i = 0; i < m * n; ++i) {
            const auto place = static_cast<size_t>(i);
            double slow = into == WriteMode::kAccumulate ? static_cast<double>(sum[place]) : 0;
            for (int64_t j = 0; j < k; ++j) {
              slow += static_cast<double>(at(a, i / n, j)) * static_cast<double>(at(b, j, i % n));
            }
            EXPECT_NEAR(fast[place], slow, 1e-4) << m << " " << k << " " << n;
            EXPECT_NEAR(torch[place], slow, 1e-4) << m << " " << k << " " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace yard
