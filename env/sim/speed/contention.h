// What is left of a job's speed where others want the same link or the same CPUs. Pure functions of
// loads that are sums of whole numbers: a start adds to them, an end takes away, in any order, and
// only the jobs on a link that changed need a new factor.
//
// Links. Jobs share a full link in proportion to what they want, so that each one's exchange takes
// `crowding` = load / capacity times as long; of several links the most crowded decides. If an
// iteration without contention takes T, of which T s is added by an exchange that takes twice as
// long (`exchange_share`), then one that takes c times as long makes it T (1 + s (c - 1)): exact
// for c = 1 and 2, and for all c where nothing overlaps (Pollux' gamma = 1). Else the true time is
// convex in c, so the line is above it between 1 and 2 and below it after. Loads are those of jobs
// at full speed: a slowed job wants less, so that the factor errs on the slow side.
#pragma once

#include <cstdint>

#include "env/base/check.h"

namespace yard {

// Returns how many times as long an exchange over the link takes, at least 1. Capacity 0: no limit.
YARD_HD inline double crowding(int64_t load_bytes_per_s, int64_t capacity_bytes_per_s) {
  if (capacity_bytes_per_s <= 0 || load_bytes_per_s <= capacity_bytes_per_s) return 1;
  return static_cast<double>(load_bytes_per_s) / static_cast<double>(capacity_bytes_per_s);
}

// Who has a higher priority on a link is served first. What those of strictly higher ones leave of
// it, a part of 1 / kLeastLeft at the least, is the capacity for the load of one's own priority.
constexpr int32_t kLinkPriorities = 4;
constexpr int64_t kLeastLeft = 16;
YARD_HD inline int64_t left_by_higher(int64_t higher_bytes_per_s, int64_t capacity_bytes_per_s) {
  const int64_t least = (capacity_bytes_per_s + kLeastLeft - 1) / kLeastLeft;
  const int64_t left = capacity_bytes_per_s - higher_bytes_per_s;
  return left > least ? left : least;
}

YARD_HD inline double contention_factor(double exchange_share, double crowding) {
  return 1 / (1 + exchange_share * (crowding - 1));
}

// A node's CPUs (or memory bandwidth) asked for beyond what it has are shared in proportion, and a
// job runs at the pace of what it gets: min(1, capacity / demand). Capacity 0: no limit.
YARD_HD inline double overload_factor(int64_t demand, int64_t capacity) {
  if (capacity <= 0 || demand <= capacity) return 1;
  return static_cast<double>(capacity) / static_cast<double>(demand);
}

}  // namespace yard
