// Least squares without negative coefficients, for models of a few terms.
#pragma once

#include <vector>

namespace yard {

// Coefficients c >= 0 with the least sum of squares of value - c . terms, over all rows.
// Requires: at least one row, rows of one length, at most 5.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& terms,
                                              const std::vector<double>& values);

}  // namespace yard
