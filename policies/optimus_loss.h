// The loss curve from which Optimus (Peng et al., EuroSys 2018, section 3.1) estimates the work
// left, fitted by least squares with non-negative weights:
//   loss(k) = 1 / (b0 k + b1) + b2         after the work k
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace yard {

struct LossFit {
  double b0 = 0, b1 = 1, b2 = 0;
  double at(double work) const { return 1 / (b0 * work + b1) + b2; }
  // Returns the work after which the loss falls to `target_loss`, or nothing if it never does.
  std::optional<double> work_until_loss(double target_loss) const;
};
// `points`: pairs of work and loss, by rising work. Returns nothing if there are fewer than three
// points, the loss does not fall, or a loss is 0 or less.
std::optional<LossFit> fit_loss(const std::vector<std::pair<double, double>>& points);

}  // namespace yard
