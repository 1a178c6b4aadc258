// Splits the variance of values in groups into the part that members of a group share and the part
// of each value alone. A group of n values has weight n - 1, so that a few large groups do not
// dominate. Groups of one value are ignored.
#pragma once

#include <algorithm>
#include <span>

namespace yard {

// Returns part / whole, clamped to 0 to 1; 0 if the whole is 0.
inline double clamped_ratio(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

class GroupVarianceSplit {
 public:
  void add(std::span<const double> group) {
    if (group.size() < 2) return;
    double sum = 0, squares = 0;
    for (const double v : group) sum += v, squares += v * v;
    const auto n = static_cast<double>(group.size());
    weight_ += n - 1;
    sum_ += sum / n * (n - 1);
    squares_ += squares / n * (n - 1);
    products_ += (sum * sum - squares) / n;  // n - 1 times the mean product of two values
  }

  double between_group_variance() const {  // at least 0
    if (weight_ <= 0) return 0;
    const double mean = sum_ / weight_;
    return std::max(0.0, products_ / weight_ - mean * mean);
  }
  double within_group_variance() const {  // at least 0
    return weight_ > 0 ? std::max(0.0, (squares_ - products_) / weight_) : 0;
  }
  // Returns the shared part of the variance, 0 to 1; 0 if no group has two members.
  double share() const {
    return clamped_ratio(between_group_variance(),
                         between_group_variance() + within_group_variance());
  }

 private:
  double weight_ = 0, sum_ = 0, squares_ = 0, products_ = 0;  // weighted sums over groups
};

}  // namespace yard
