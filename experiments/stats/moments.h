// Moments of a list of numbers. A moment is NaN if the list is too short.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace yard {

double mean(std::span<const double> values);
double variance(const std::vector<double>& values);  // population variance
// Autocorrelation at a distance of `lag`; NaN for under 4 lag + 2 values, or if all are equal.
double autocorrelation(const std::vector<double>& values, size_t lag);

}  // namespace yard
