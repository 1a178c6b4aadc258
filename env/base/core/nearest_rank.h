// Nearest-rank quantiles (docs/reference/metrics.md) are always observed values, not interpolated.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace yard {

// Returns the smallest value which at least the share `share` of all values does not exceed.
// Reorders `values`. Requires: `values` is not empty.
template <class T>
T nearest_rank_quantile(std::vector<T>& values, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const size_t last = values.size();
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(std::clamp<size_t>(rank, 1, last) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace yard
