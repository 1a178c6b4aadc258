#include "policies/holders.h"

#include <algorithm>

namespace yard {
namespace {

bool before(const Claim& a, const Claim& b) { return a.key < b.key; }

}  // namespace

ListedHolders::ListedHolders(std::vector<Claim> claims) : claims_(std::move(claims)) {
  std::make_heap(claims_.begin(), claims_.end(), before);
}

Claim ListedHolders::next() {
  if (claims_.empty()) return {};
  std::pop_heap(claims_.begin(), claims_.end(), before);
  const Claim last = claims_.back();
  claims_.pop_back();
  return last;
}

Claim OrderedHolders::next() {
  if (!walk_) walk_.emplace(order_, now_us_);
  return walk_->next();
}

}  // namespace yard
