#include "policies/optimus_loss.h"

#include <algorithm>
#include <cmath>

#include "env/sim/speed/nonnegative.h"

namespace yard {

std::optional<double> LossFit::work_until_loss(double target_loss) const {
  if (target_loss <= b2 || b0 <= 0) return {};
  return std::max((1 / (target_loss - b2) - b1) / b0, 0.0);
}

// For a fixed b2 below all losses, 1 / (loss - b2) is linear in the work; tries kSteps of them.
std::optional<LossFit> fit_loss(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 3 || points.back().second >= points.front().second) return {};
  constexpr int kSteps = 64;
  double lowest = points.front().second;
  for (const auto& [work, loss] : points) lowest = std::min(lowest, loss);
  if (lowest <= 0) return {};
  std::optional<LossFit> best;
  double least = INFINITY;
  for (int i = 0; i < kSteps; ++i) {
    const double b2 = lowest * i / kSteps;
    std::vector<std::vector<double>> x;
    std::vector<double> y;
    const double scale = points.back().first;
    for (const auto& [work, loss] : points) {
      x.push_back({work / scale, 1});
      y.push_back(1 / (loss - b2));
    }
    const std::vector<double> w = nonnegative_least_squares(x, y);
    if (w[1] <= 0) continue;
    const LossFit fit{w[0] / scale, w[1], b2};
    double error = 0;
    for (const auto& [work, loss] : points) error += std::pow(fit.at(work) - loss, 2);
    if (error < least) least = error, best = fit;
  }
  return best;
}

}  // namespace yard
