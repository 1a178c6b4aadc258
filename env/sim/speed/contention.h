// Slowdown of jobs which share a link or CPUs. Factors depend only on loads, which are integer
// sums, so jobs may come and go in any order, and only jobs on a changed link need a new factor.
//
// Links. Jobs share a full link in proportion to their loads, so that each exchange takes
// c = load / capacity (`exchange_slowdown`) times as long; the most crowded link decides.
//   time of an iteration = T (1 + s (c - 1))     T: time without contention
//   s (`exchange_share`): relative growth of T if the exchange takes twice as long
// This line is exact for c = 1 and 2, and for all c without overlap (gamma = 1 in Pollux). Loads
// are computed for jobs at full throughput, so the slowdown is rather over- than underestimated.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

// Returns the factor, at least 1, by which a link's load lengthens exchanges. Capacity 0: no limit.
YARD_HD inline double exchange_slowdown(int64_t load_bytes_per_s, int64_t capacity_bytes_per_s) {
  if (capacity_bytes_per_s <= 0 || load_bytes_per_s <= capacity_bytes_per_s) return 1;
  return static_cast<double>(load_bytes_per_s) / static_cast<double>(capacity_bytes_per_s);
}

// Returns the capacity which jobs of higher priority leave on a link, at least 1 / kMinLeftDivisor
// of the capacity. Jobs of one priority share the remaining capacity.
constexpr int32_t kLinkPriorities = 4;
constexpr int64_t kMinLeftDivisor = 16;
YARD_HD inline int64_t capacity_left(int64_t higher_priority_bytes_per_s,
                                     int64_t capacity_bytes_per_s) {
  const int64_t least = (capacity_bytes_per_s + kMinLeftDivisor - 1) / kMinLeftDivisor;
  const int64_t left = capacity_bytes_per_s - higher_priority_bytes_per_s;
  return left > least ? left : least;
}

// Returns the factor on a job's throughput if its most crowded link has this `exchange_slowdown`.
YARD_HD inline double contention_throughput_factor(double exchange_share,
                                                   double exchange_slowdown) {
  return 1 / (1 + exchange_share * (exchange_slowdown - 1));
}

// Returns the factor on throughput if a node's CPUs (or memory bandwidth) are overcommitted and
// shared in proportion to demand: min(1, capacity / demand). Capacity 0: no limit.
YARD_HD inline double overload_throughput_factor(int64_t demand, int64_t capacity) {
  if (capacity <= 0 || demand <= capacity) return 1;
  return static_cast<double>(capacity) / static_cast<double>(demand);
}

}  // namespace yard
