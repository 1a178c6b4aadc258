#include "env/base/core/normal.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "env/base/core/check.h"

namespace yard {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double clamped_normal_cdf(double z) { return std::clamp(normal_cdf(z), 1e-15, 1 - 1e-15); }

double normal_quantile(double p) {
  YARD_CHECK(p > 0 && p < 1, "a quantile needs a probability between 0 and 1");
  return boost::math::quantile(boost::math::normal(), p);
}

std::vector<double> normal_scores(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> scores(values.size());
  for (size_t from = 0; from < order.size();) {
    size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    const double below = 0.5 * static_cast<double>(from + to);
    const double score = normal_quantile(below / static_cast<double>(order.size()));
    for (; from < to; ++from) scores[order[from]] = score;
  }
  return scores;
}

}  // namespace yard
