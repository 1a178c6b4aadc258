// Slowdown of jobs which share a link or CPUs. Pure functions of loads, which are integer sums:
// jobs are added and removed in any order, and only jobs on a changed link need a new factor.
//
// Links. Jobs share a full link in proportion to their loads, so that each exchange takes
// c = load / capacity (`exchange_slowdown`) times as long; the most crowded link decides.
//   time of an iteration = T (1 + s (c - 1))     T: time without contention
//   s (`exchange_share`): relative growth of T if the exchange takes twice as long
// This line is exact for c = 1 and 2, and for all c without overlap (gamma = 1 in Pollux). Loads
// are those of jobs at full throughput, so the factor errs on the slow side.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

// Returns the factor, at least 1, by which the load lengthens an exchange. Capacity 0: no limit.
YARD_HD inline double exchange_slowdown(int64_t load_bytes_per_s, int64_t capacity_bytes_per_s) {
  if (capacity_bytes_per_s <= 0 || load_bytes_per_s <= capacity_bytes_per_s) return 1;
  return static_cast<double>(load_bytes_per_s) / static_cast<double>(capacity_bytes_per_s);
}

// Returns the capacity which strictly higher priorities leave on a link, at least 1 /
// kMinLeftDivisor of it. Jobs of one priority share what is left.
constexpr int32_t kLinkPriorities = 4;
constexpr int64_t kMinLeftDivisor = 16;
YARD_HD inline int64_t capacity_left(int64_t higher_bytes_per_s, int64_t capacity_bytes_per_s) {
  const int64_t least = (capacity_bytes_per_s + kMinLeftDivisor - 1) / kMinLeftDivisor;
  const int64_t left = capacity_bytes_per_s - higher_bytes_per_s;
  return left > least ? left : least;
}

// Returns the factor on throughput for `exchange_slowdown` of the job's most crowded link.
YARD_HD inline double contention_factor(double exchange_share, double exchange_slowdown) {
  return 1 / (1 + exchange_share * (exchange_slowdown - 1));
}

// Returns the factor on throughput where a node's CPUs (or memory bandwidth) are overcommitted:
// min(1, capacity / demand), as jobs share them in proportion. Capacity 0: no limit.
YARD_HD inline double overload_factor(int64_t demand, int64_t capacity) {
  if (capacity <= 0 || demand <= capacity) return 1;
  return static_cast<double>(capacity) / static_cast<double>(demand);
}

}  // namespace yard
