// The normal distribution, and numbers as ranks on its scale.
#pragma once

#include <span>
#include <vector>

namespace yard {

double normal_cdf(double z);
double normal_quantile(double p);  // Requires: 0 < p < 1
double normal_share(double z);     // normal_cdf() kept off 0 and 1

// Returns for each value the normal quantile of the share of values below it, its equals counted by
// half: whatever the values' distribution, the scores are about normal.
std::vector<double> normal_scores(std::span<const double> values);

}  // namespace yard
