// A distribution of numbers of at least 0, small enough to be read: knots at even shares of its
// body, and a tail that goes on beyond the largest value seen. All on a scale of log(1 + x), so
// that zeros are kept and times of seconds and of weeks weigh alike.
//
//   Quantiles run_s = quantiles_of(values);
//   double drawn = run_s.at(rng.uniform());
#pragma once

#include <vector>

namespace yard {

struct Quantiles {
  // At shares 0, 1/(K-1), ..., 1 of the body; straight lines between them. Each is the mean of the
  // values around its share, 5 at least, so that none is a single job's; equal values stay exact.
  std::vector<double> knots;
  double body = 1;            // share of the values that lie in the body
  std::vector<double> upper;  // where a half, a quarter, an eighth of the rest is above
  // Above all of these: log(1 + x) exceeds that of the last as a generalised Pareto variable. Shape
  // 0: x itself falls off as a power, with the index 1 / scale; below 0: x has a largest value.
  double tail_scale = 0;
  double tail_shape = 0;

  double at(double share) const;  // Requires: 0 <= share < 1
  double mean() const;            // by 20,000 even shares

  template <class F>
  void fields(F& f) {
    f("knots", knots, 0.0, 1e12);
    f("body", body, 0.0, 1.0);
    f("upper", upper, 0.0, 1e12);
    f("tail_scale", tail_scale, 0.0, 20.0);
    f("tail_shape", tail_shape, -10.0, 0.0);
  }
};

// Returns the distribution of the values, any number of them but 0. At most 100 knots; from 60
// values on those above are halved until 20 to 40 are left, whose tail is fitted by the method of
// L-moments (Hosking, "L-moments", J. R. Stat. Soc. B 1990). A tail without a mean (a power of
// index 1 or less) is taken for one of index 1.1.
Quantiles quantiles_of(std::vector<double> values);

}  // namespace yard
