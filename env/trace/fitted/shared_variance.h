// Splits the variance of values into what members of a group share and what is each one's own. A
// group of n has weight n - 1, so that a few large groups do not dominate. Groups of one are
// ignored.
#pragma once

#include <span>

namespace yard {

class SharedVariance {
 public:
  void add(std::span<const double> group);
  double shared() const;  // at least 0
  double own() const;     // at least 0
  double share() const;   // of the shared part, 0 to 1; 0 if no group has two members

 private:
  double weight_ = 0, sum_ = 0, squares_ = 0, products_ = 0;  // weighted means, times the weight
};

// Returns part / whole, clamped to 0 to 1; 0 if the whole is 0.
double share_of(double part, double whole);

}  // namespace yard
