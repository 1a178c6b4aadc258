// Recursive least squares: a linear model y = w . x, updated by one observation at a time:
//   P <- P - P x x' P / (1 + x' P x),   w <- w + P x (y - w . x)
// A LeastSquares object is a flat block whose memory must be zero before begin().
#pragma once

#include <array>
#include <cstddef>

namespace yard {

template <size_t kSize>
class LeastSquares {
 public:
  static constexpr size_t kTerms = kSize;
  using Terms = std::array<double, kTerms>;

  // Sets the initial weights, each of which counts for `prior_strength` observations. Does nothing
  // if begin() was called before.
  void begin(const Terms& start, double prior_strength) {
    if (begun_) return;
    begun_ = true;
    weight_ = start;
    for (size_t i = 0; i < kTerms; ++i) spread_[i][i] = 1 / prior_strength;
  }

  double predict(const Terms& x) const { return dot(weight_, x); }
  // Returns the variance x' P x, which is large if few past observations resemble x.
  double variance(const Terms& x) const { return dot(times_covariance(x), x); }

  void learn(const Terms& x, double y) {
    const Terms px = times_covariance(x);
    const double scale = 1 + dot(px, x), error = y - dot(weight_, x);
    for (size_t i = 0; i < kTerms; ++i) {
      for (size_t j = 0; j < kTerms; ++j) spread_[i][j] -= px[i] * px[j] / scale;
    }
    for (size_t i = 0; i < kTerms; ++i) weight_[i] += px[i] * error / scale;
  }

 private:
  Terms times_covariance(const Terms& x) const {
    Terms out;
    for (size_t i = 0; i < kTerms; ++i) out[i] = dot(spread_[i], x);
    return out;
  }
  static double dot(const Terms& a, const Terms& b) {
    double sum = 0;
    for (size_t i = 0; i < kTerms; ++i) sum += a[i] * b[i];
    return sum;
  }

  Terms weight_;
  std::array<Terms, kTerms> spread_;  // P: inverse of the sum of all x x'
  bool begun_;
};

}  // namespace yard
