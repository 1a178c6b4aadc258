// Base-2 logarithm and power from exact operations only, so that CPU and GPU agree bit for bit.
// Meant for features, which need no full precision. The relative error is below 2e-4.
#pragma once

#include <cstdint>
#include <cstring>

#include "env/base/core/check.h"

namespace yard {

// Requires: x > 0 and finite.
YARD_HD inline float log2_coarse(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const auto exponent = static_cast<int32_t>(bits >> 52) - 1023;
  const uint32_t mantissa = (static_cast<uint32_t>(bits >> 29) & 0x7FFFFFu) | 0x3F800000u;
  float m;  // [1, 2)
  memcpy(&m, &mantissa, sizeof m);
  // log2(1 + t) = t + t (1 - t) q(t), exact for t = 0 and 1, with q a Chebyshev fit of degree 4.
  const float t = m - 1, t2 = t * t;
  const float q =
      (0.44265944F - 0.27672833F * t) + t2 * ((0.18486223F - 0.09838762F * t) + t2 * 0.02627305F);
  return static_cast<float>(exponent) + (t + (t - t2) * q);
}

// Requires: |x| < 1000.
YARD_HD inline double exp2_coarse(double x) {
  const auto whole = static_cast<int64_t>(x) - (x < 0 ? 1 : 0);
  const double y = (x - static_cast<double>(whole)) * 0.69314718055994531;  // [0, ln 2]
  const double series = 1 + y * (1 + y * (0.5 + y * (1.0 / 6 + y * (1.0 / 24 + y * (1.0 / 120)))));
  const uint64_t bits = static_cast<uint64_t>(whole + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power * series;
}

}  // namespace yard
