// Iterates over jobs that hold GPUs and may be preempted, from the last in order to the first.
// HeapGpuHolderIterator sorts the jobs at each decision; TreapGpuHolderIterator reads a stored
// order.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "policies/victim_index.h"

namespace yard {

class GpuHolderIterator {
 public:
  virtual ~GpuHolderIterator() = default;
  // Returns the next job, or a job with slot kNone at the end of the iteration.
  virtual RankedJob next() = 0;

  // Returns an index that finds victims faster than calls of next(), or null without an index.
  virtual VictimIndex* victim_index() { return nullptr; }
};

class HeapGpuHolderIterator final : public GpuHolderIterator {
 public:
  explicit HeapGpuHolderIterator(std::vector<RankedJob> jobs) : jobs_(std::move(jobs)) {
    std::make_heap(jobs_.begin(), jobs_.end(), before);
  }
  RankedJob next() override {
    if (jobs_.empty()) return {};
    std::pop_heap(jobs_.begin(), jobs_.end(), before);
    const RankedJob last = jobs_.back();
    jobs_.pop_back();
    return last;
  }

 private:
  static bool before(const RankedJob& a, const RankedJob& b) { return a.key < b.key; }

  std::vector<RankedJob> jobs_;  // a heap with the last job in order on top
};

class TreapGpuHolderIterator final : public GpuHolderIterator {
 public:
  // Requires: `order` and `victim_index` outlive this; `order` is constant until the last next().
  TreapGpuHolderIterator(const LinearKeyTreap& order, VictimIndex& victim_index, int64_t now_us)
      : order_(order), victim_index_(victim_index), now_us_(now_us) {}
  RankedJob next() override {
    if (!walk_) walk_.emplace(order_, now_us_);
    return walk_->next();
  }
  VictimIndex* victim_index() override {
    return victim_index_.is_index_available() ? &victim_index_ : nullptr;
  }

 private:
  const LinearKeyTreap& order_;
  VictimIndex& victim_index_;
  int64_t now_us_;
  std::optional<LinearKeyTreap::Walk> walk_;
};

}  // namespace yard
