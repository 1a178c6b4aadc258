// What counts as growth where a verdict names it: over 10 %.
#pragma once

namespace yard {

// Exactly where both are whole numbers: 10 % itself is not over 10 %. A wait that was 0 grows by
// any wait at all.
template <class T>
constexpr bool grows(T from, T to) {
  return 10 * to > 11 * from;
}

}  // namespace yard
