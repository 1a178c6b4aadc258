// A distribution of numbers of at least 0, in readable form: knots at even shares of its body, and
// a tail beyond the largest value seen. All on the scale log(1 + x), which keeps zeros and gives
// seconds and weeks equal weight.
//
//   Quantiles run_s = quantiles_of(values);
//   double drawn = run_s.at(rng.uniform());
#pragma once

#include <vector>

namespace yard {

struct Quantiles {
  // At shares 0, 1/(K-1), ..., 1 of the body, with linear interpolation. Each is the mean of at
  // least 5 values around its share, so that none is a single job's value. Equal values stay exact.
  std::vector<double> knots;
  double body = 1;            // share of the values in the body
  std::vector<double> upper;  // values exceeded by 1/2, 1/4, 1/8, ... of the rest
  // Beyond these, log(1 + x) exceeds the last one's by a generalised Pareto variable. With shape 0,
  // x itself follows a power law with index 1 / scale; below 0, x has a largest value.
  double tail_scale = 0;
  double tail_shape = 0;

  double at(double share) const;  // Requires: 0 <= share < 1
  double mean() const;            // over 20,000 even shares

  template <class F>
  void fields(F& f) {
    f("knots", knots, 0.0, 1e12);
    f("body", body, 0.0, 1.0);
    f("upper", upper, 0.0, 1e12);
    f("tail_scale", tail_scale, 0.0, 20.0);
    f("tail_shape", tail_shape, -10.0, 0.0);
  }
};

// Returns the distribution of the values. Requires: at least one value. Has at most 101 knots. From
// 60 values on, those above the body are halved until 20 to 40 are left; their tail is fitted by
// L-moments (Hosking, "L-moments", J. R. Stat. Soc. B 1990). A tail without a mean (a power law
// with index 1 or less) is replaced by one with index 1.1.
Quantiles quantiles_of(std::vector<double> values);

}  // namespace yard
