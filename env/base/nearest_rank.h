// Quantiles as docs/metrics.md defines them: always a value that was seen, never one in between.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace yard {

// Returns the least value that at least `share` of all do not exceed; reorders them. Requires:
// there are some.
template <class T>
T nearest_rank(std::vector<T>& values, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const size_t last = values.size();
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(std::clamp<size_t>(rank, 1, last) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace yard
