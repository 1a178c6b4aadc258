#include "env/trace/fitted/shared_variance.h"

#include <algorithm>

namespace yard {

void SharedVariance::add(std::span<const double> group) {
  if (group.size() < 2) return;
  double sum = 0, squares = 0;
  for (const double v : group) sum += v, squares += v * v;
  const auto n = static_cast<double>(group.size());
  weight_ += n - 1;
  sum_ += sum / n * (n - 1);
  squares_ += squares / n * (n - 1);
  products_ += (sum * sum - squares) / n;  // n - 1 times the mean over pairs
}

double SharedVariance::shared() const {
  if (weight_ <= 0) return 0;
  const double mean = sum_ / weight_;
  return std::max(0.0, products_ / weight_ - mean * mean);
}

double SharedVariance::own() const {
  return weight_ > 0 ? std::max(0.0, (squares_ - products_) / weight_) : 0;
}

double SharedVariance::share() const { return share_of(shared(), shared() + own()); }

double share_of(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

}  // namespace yard
