#include "experiments/stats/moments.h"

#include <cmath>
#include <numeric>

namespace yard {

double mean(std::span<const double> values) {
  if (values.empty()) return NAN;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - centre) * (v - centre);
  return values.empty() ? NAN : sum / static_cast<double>(values.size());
}

double autocorrelation(const std::vector<double>& values, size_t lag) {
  if (values.size() < 4 * lag + 2) return NAN;
  const double centre = mean(values), spread = variance(values);
  double sum = 0;
  for (size_t i = 0; i + lag < values.size(); ++i) {
    sum += (values[i] - centre) * (values[i + lag] - centre);
  }
  return spread > 0 ? sum / static_cast<double>(values.size() - lag) / spread : NAN;
}

}  // namespace yard
