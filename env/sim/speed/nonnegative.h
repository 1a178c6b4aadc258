// Non-negative least squares for models with a few terms.
#pragma once

#include <vector>

namespace yard {

// Returns the coefficients c >= 0 which minimise the sum over rows of (value - c . terms)^2.
// Requires: there is at least one row; all rows have the same length, at most 5.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& terms,
                                              const std::vector<double>& values);

}  // namespace yard
