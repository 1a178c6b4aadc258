#include "experiments/programs/train/learned.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "env/base/check.h"

namespace yard {

Learned learned_of(const std::vector<double>& trained, const std::vector<double>& untrained) {
  YARD_CHECK(!trained.empty() && trained.size() == untrained.size(), "the same windows");
  std::vector<double> difference;
  for (size_t w = 0; w < trained.size(); ++w) difference.push_back(trained[w] - untrained[w]);
  const Statistic mean = [&](const Picks& picks) {
    double sum = 0;
    for (const int w : picks.front()) sum += difference[static_cast<size_t>(w)];
    return sum / static_cast<double>(picks.front().size());
  };
  const int windows = static_cast<int>(difference.size());
  Learned out;
  out.ratio = std::exp(mean({all_of(windows)}));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  out.interval = {kNan, kNan};
  if (windows < 2) return out;
  const Interval of_log = jackknife_interval({windows}, mean, kConfidence);
  out.interval = {std::exp(of_log.lo), std::exp(of_log.hi)};
  return out;
}

std::string text_of(const Learned& learned) {
  if (std::isnan(learned.interval.lo)) return fmt::format("{:.3f}", learned.ratio);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", learned.ratio, learned.interval.lo,
                     learned.interval.hi);
}

std::string verdict_of(const Learned& learned) {
  if (std::isnan(learned.interval.lo)) return "one window, which is too little for a verdict";
  if (learned.interval.hi < 1) return "training made it better";
  if (learned.interval.lo > 1) return "training made it worse";
  return "training brought nothing that these windows can show";
}

}  // namespace yard
