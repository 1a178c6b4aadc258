// The two fits of Optimus (Peng et al., EuroSys 2018, sections 3.1 and 3.2), by least squares whose
// weights are not negative:
//   loss(k) = 1 / (b0 k + b1) + b2         after the work k
//   1 / f(p, w) = c0 / w + c1 + c2 w / p + c3 w + c4 p
// f is the speed with p parameter servers and w workers; without servers c2 and c4 are 0.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace yard {

// Weights >= 0 with the least sum of squares of y - w . x. Requires: at most 5 columns.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& x,
                                              const std::vector<double>& y);

struct LossFit {
  double b0 = 0, b1 = 1, b2 = 0;
  double at(double work) const { return 1 / (b0 * work + b1) + b2; }
  // The work after which the loss is down to `target`; nothing where it never is.
  std::optional<double> work_until(double target) const;
};
// `points`: work and loss. Returns nothing where there are fewer than three, or the loss does not
// fall.
std::optional<LossFit> fit_loss(const std::vector<std::pair<double, double>>& points);

struct SpeedSample {
  double servers = 0, workers = 1, speed = 0;
};
struct SpeedFit {
  std::array<double, 5> c = {};
  double at(double servers, double workers) const;
};
// By relative errors. Requires: samples with speeds above 0.
SpeedFit fit_speed(const std::vector<SpeedSample>& samples);

}  // namespace yard
