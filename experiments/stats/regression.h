// Defines a regression, which a verdict reports: growth of a figure by more than 10 %.
#pragma once

namespace yard {

// Returns whether `to` is over 10 % above `from`; exact for integers. From 0, any growth counts.
template <class T>
constexpr bool is_regression(T from, T to) {
  return 10 * to > 11 * from;
}

}  // namespace yard
