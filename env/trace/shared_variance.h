// How alike members of a group are: the variance of values, split into what two members of one
// group have in common and what is each one's own. A group of n weighs n - 1, so that a few large
// ones do not decide alone; groups of one say nothing.
#pragma once

#include <span>

namespace yard {

class SharedVariance {
 public:
  void add(std::span<const double> group);
  double shared() const;  // at least 0
  double own() const;     // at least 0
  double share() const;   // of what is shared, 0 to 1; 0 where no group has two members

 private:
  double weight_ = 0, sum_ = 0, squares_ = 0, products_ = 0;  // weighted means, times the weight
};

// part / whole, 0 to 1; 0 of nothing.
double share_of(double part, double whole);

}  // namespace yard
