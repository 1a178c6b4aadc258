#include "experiments/train/training_gain.h"

#include <fmt/format.h>

#include <algorithm>

#include "env/base/core/check.h"

namespace yard {
namespace {

std::string verdict(bool better, bool worse) {
  if (better) return "training improved it";
  if (worse) return "training worsened it";
  return "training had no effect that this validation can show";
}

constexpr double kTolerance = 1e-9;  // smaller differences of scores count as equal

bool has_interval(const TrialScore& trial) { return std::isfinite(trial.learned.interval.hi); }

// Whether the best trial's interval is below the other's; false if an interval is missing.
bool differ_significantly(const TrialScore& best, const TrialScore& other) {
  if (!has_interval(best) || !has_interval(other)) return false;
  // Intervals are relative to each trial's untrained network: convert them to scores.
  return best.learned.interval.hi * best.untrained < other.learned.interval.lo * other.untrained;
}

std::string trials_sentence(const std::vector<TrialScore>& trials, const TrialScore& best,
                            bool differ) {
  double worst = best.score;
  for (const TrialScore& trial : trials) worst = std::max(worst, trial.score);
  if (trials.size() == 1) return "There is only one trial.";
  if (worst - best.score <= kTolerance) {
    return fmt::format(
        "All {} trials have the same score, {:.4f}: the varied settings have no effect.",
        trials.size(), best.score);
  }
  if (differ) return "";
  if (!has_interval(best)) {
    return fmt::format("One window cannot distinguish the {} trials: scores from {:.4f} to {:.4f}.",
                       trials.size(), best.score, worst);
  }
  return fmt::format(
      "The {} trials do not differ significantly: scores from {:.4f} to {:.4f} are within each "
      "other's 95 % intervals, so the best one may be best by chance.",
      trials.size(), best.score, worst);
}

std::string gain_sentence(const TrialScore& best, bool learned) {
  if (std::isnan(best.untrained)) return "";
  if (learned) {
    return fmt::format("The best trial's score is {} of its untrained network's ({:.4f}).",
                       text_of(best.learned), best.untrained);
  }
  if (!has_interval(best) && std::abs(best.score - best.untrained) > kTolerance) {
    return fmt::format(
        "One window cannot distinguish the best trial, {:.4f}, from its untrained network, {:.4f}.",
        best.score, best.untrained);
  }
  const std::string by = std::isfinite(best.learned.ratio) ? text_of(best.learned) + " of it" : "";
  return fmt::format(
      "Validation shows no significant improvement over the untrained network, {:.4f}{}.",
      best.untrained, by.empty() ? "" : " (the best trial is " + by + ")");
}

}  // namespace

AgreementGain agreement_gain(const std::vector<double>& trained,
                             const std::vector<double>& untrained) {
  YARD_CHECK(!trained.empty() && trained.size() == untrained.size(),
             "both must have the same parts");
  std::vector<double> difference;
  for (size_t w = 0; w < trained.size(); ++w) difference.push_back(trained[w] - untrained[w]);
  const Statistic mean = [&](const SampledIndices& picks) {
    return sum_of_picked(difference, picks.front()) / static_cast<double>(picks.front().size());
  };
  const int parts = static_cast<int>(difference.size());
  if (parts < 2) return {mean({indices_up_to(parts)}), {NAN, NAN}};
  return {mean({indices_up_to(parts)}), jackknife_interval({parts}, mean, kConfidence)};
}

TrainingGain training_gain(const std::vector<double>& trained,
                           const std::vector<double>& untrained) {
  const AgreementGain of_log = agreement_gain(trained, untrained);
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

std::string verdict_of(const AgreementGain& gain) {
  if (std::isnan(gain.interval.lo)) return "inconclusive, too few decisions";
  const auto [lo, hi] = gain.interval;
  return verdict(lo > 0, hi < 0);
}

SweepVerdict sweep_verdict(const std::vector<TrialScore>& trials) {
  SweepVerdict out;
  if (trials.empty()) {
    out.text = "No trial has a score.";
    return out;
  }
  const TrialScore& best = *std::ranges::min_element(trials, {}, &TrialScore::score);
  out.differ = std::ranges::any_of(
      trials, [&](const TrialScore& other) { return differ_significantly(best, other); });
  out.learned = has_interval(best) && best.learned.interval.hi < 1;
  out.text = trials_sentence(trials, best, out.differ);
  const std::string learning = gain_sentence(best, out.learned);
  if (!out.text.empty() && !learning.empty()) out.text += ' ';
  out.text += learning;
  return out;
}

}  // namespace yard
