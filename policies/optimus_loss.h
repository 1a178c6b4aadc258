// The fit by which Optimus (Peng et al., EuroSys 2018, section 3.1) estimates the work that is
// left, by least squares without negative weights:
//   loss(k) = 1 / (b0 k + b1) + b2         after the work k
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace yard {

struct LossFit {
  double b0 = 0, b1 = 1, b2 = 0;
  double at(double work) const { return 1 / (b0 * work + b1) + b2; }
  // The work after which the loss is down to `target`; nothing where it never is.
  std::optional<double> work_until(double target) const;
};
// `points`: work and loss. Returns nothing where there are fewer than three, or the loss does not
// fall.
std::optional<LossFit> fit_loss(const std::vector<std::pair<double, double>>& points);

}  // namespace yard
