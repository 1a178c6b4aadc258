// Defines the growth which a verdict reports: more than 10 %.
#pragma once

namespace yard {

// Exact for whole numbers: exactly 10 % is not growth. Any increase from 0 is growth.
template <class T>
constexpr bool is_regression(T from, T to) {
  return 10 * to > 11 * from;
}

}  // namespace yard
