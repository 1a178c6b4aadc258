// A base-2 logarithm and power made of exact operations alone, so that CPU and GPU agree bit for
// bit: features need their shape, not their last digits. Relative error below 2e-4.
#pragma once

#include <cstdint>
#include <cstring>

#include "env/base/check.h"

namespace yard {

// Requires: x > 0 and finite.
YARD_HD inline float log2_coarse(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const auto exponent = static_cast<int32_t>(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u;
  double m;  // [1, 2)
  memcpy(&m, &bits, sizeof m);
  // log2(m) = 2/ln2 * artanh(t), t = (m - 1) / (m + 1), its series to the seventh power.
  const double t = (m - 1) / (m + 1);
  const double t2 = t * t;
  const double series = t * (1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 * (1.0 / 7))));
  return static_cast<float>(exponent + 2.8853900817779268 * series);
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
