// Moments of a list of numbers. NaN if the list is too short.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace yard {

double mean(std::span<const double> values);
double variance(const std::vector<double>& values);  // population variance
// At a distance of `lag` values. NaN for fewer than 4 lag + 2 values, or if all are equal.
double autocorrelation(const std::vector<double>& values, size_t lag);

}  // namespace yard
