// The standard normal distribution, and normal scores of ranked values.
#pragma once

#include <span>
#include <vector>

namespace yard {

double normal_cdf(double z);
double normal_quantile(double p);     // Requires: 0 < p < 1
double clamped_normal_cdf(double z);  // normal_cdf() clamped to [1e-15, 1 - 1e-15]

// Returns each value's normal score: the normal quantile of the share of smaller values, with equal
// values counted by half. The scores are about normal for any distribution of the values.
std::vector<double> normal_scores(std::span<const double> values);

}  // namespace yard
