#include "policies/holders.h"

#include <algorithm>

namespace yard {
namespace {

bool before(const RankedJob& a, const RankedJob& b) { return a.key < b.key; }

}  // namespace

ListedHolders::ListedHolders(std::vector<RankedJob> jobs) : jobs_(std::move(jobs)) {
  std::make_heap(jobs_.begin(), jobs_.end(), before);
}

RankedJob ListedHolders::next() {
  if (jobs_.empty()) return {};
  std::pop_heap(jobs_.begin(), jobs_.end(), before);
  const RankedJob last = jobs_.back();
  jobs_.pop_back();
  return last;
}

RankedJob OrderedHolders::next() {
  if (!walk_) walk_.emplace(order_, now_us_);
  return walk_->next();
}

}  // namespace yard
