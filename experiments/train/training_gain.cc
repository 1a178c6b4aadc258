#include "experiments/train/training_gain.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "env/base/core/check.h"

namespace yard {
namespace {

std::string verdict(bool better, bool worse) {
  if (better) return "training improved it";
  if (worse) return "training worsened it";
  return "training had no effect that this validation can show";
}

}  // namespace

ShareGain share_gain(const std::vector<double>& trained, const std::vector<double>& untrained) {
  YARD_CHECK(!trained.empty() && trained.size() == untrained.size(),
             "both must have the same parts");
  std::vector<double> difference;
  for (size_t w = 0; w < trained.size(); ++w) difference.push_back(trained[w] - untrained[w]);
  const Statistic mean = [&](const Picks& picks) {
    double sum = 0;
    for (const int w : picks.front()) sum += difference[static_cast<size_t>(w)];
    return sum / static_cast<double>(picks.front().size());
  };
  const int parts = static_cast<int>(difference.size());
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (parts < 2) return {mean({all_of(parts)}), {kNan, kNan}};
  return {mean({all_of(parts)}), jackknife_interval({parts}, mean, kConfidence)};
}

TrainingGain training_gain(const std::vector<double>& trained,
                           const std::vector<double>& untrained) {
  const ShareGain of_log = share_gain(trained, untrained);
  return {std::exp(of_log.difference),
          {std::exp(of_log.interval.lo), std::exp(of_log.interval.hi)}};
}

std::string text_of(const TrainingGain& learned) {
  if (std::isnan(learned.interval.lo)) return fmt::format("{:.3f}", learned.ratio);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", learned.ratio, learned.interval.lo,
                     learned.interval.hi);
}

std::string verdict_of(const TrainingGain& learned) {
  if (std::isnan(learned.interval.lo)) return "inconclusive, only one window";
  const auto [lo, hi] = learned.interval;
  return verdict(hi<1, lo> 1);
}

std::string verdict_of(const ShareGain& gain) {
  if (std::isnan(gain.interval.lo)) return "inconclusive, too few decisions";
  const auto [lo, hi] = gain.interval;
  return verdict(lo > 0, hi < 0);
}

}  // namespace yard
