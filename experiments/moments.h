// What a list of numbers is like. NaN where it is too short to say.
#pragma once

#include <cstddef>
#include <vector>

namespace yard {

double mean(const std::vector<double>& values);
double variance(const std::vector<double>& values);  // over all of them, not a sample's
// Of each value with the one `lag` places on; needs four times as many values.
double autocorrelation(const std::vector<double>& values, size_t lag);

}  // namespace yard
