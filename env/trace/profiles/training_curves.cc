#include "env/trace/profiles/training_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "env/base/core/check.h"

namespace yard {
namespace {

constexpr int kSteps = 64;

// Returns how far one batch size is from another, as |log ratio|; 0 if `wanted` is unknown.
double batch_distance(int32_t batch, int32_t wanted) {
  return wanted < 1 ? 0 : std::abs(std::log(static_cast<double>(batch) / wanted));
}

const MeasuredTrainingCurve* measured_curve(const Profiles& profiles, const Job& job) {
  const std::string plain = normalised_model_name(job.model);
  const MeasuredTrainingCurve* best = nullptr;
  for (const MeasuredTrainingCurve& curve : profiles.curves) {
    if (plain.empty() || normalised_model_name(curve.model) != plain) continue;
    const bool nearer = best == nullptr || batch_distance(curve.batch, job.batch_size) <
                                               batch_distance(best->batch, job.batch_size);
    if (nearer) best = &curve;
  }
  return best;
}

}  // namespace

std::vector<TrainingCurvePoint> tabulate_loss(const LossCurveFormula& form) {
  YARD_CHECK(form.b0 >= 0 && form.b1 > 0, "a loss curve needs b0 of at least 0 and b1 above 0");
  std::vector<TrainingCurvePoint> out;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    out.push_back({share, 1 / (form.b0 * share + form.b1) + form.b2, 0});
  }
  return out;
}

double metric_at(const std::vector<TrainingCurvePoint>& curve, double share) {
  if (share <= curve.front().share) return curve.front().value;
  for (size_t i = 1; i < curve.size(); ++i) {
    const TrainingCurvePoint &a = curve[i - 1], &b = curve[i];
    if (share >= b.share) continue;
    return a.value + (share - a.share) / (b.share - a.share) * (b.value - a.value);
  }
  return curve.back().value;
}

double work_share_to_reach(const std::vector<TrainingCurvePoint>& curve, double target) {
  const bool falls = curve.front().value > target;
  const auto reached = [&](double value) { return falls ? value <= target : value >= target; };
  if (curve.front().value == target) return std::min(1.0, curve.front().share);
  for (size_t i = 1; i < curve.size(); ++i) {
    const TrainingCurvePoint &a = curve[i - 1], &b = curve[i];
    if (!reached(b.value)) continue;
    const double part = (target - a.value) / (b.value - a.value);
    return std::min(1.0, a.share + part * (b.share - a.share));
  }
  return 1;
}

void apply_training_curves(Trace& trace, const Profiles& profiles) {
  for (Job& job : trace.jobs) {
    if (!job.curve.empty()) continue;
    if (job.loss.b1 > 0) {
      job.curve = tabulate_loss(job.loss);
    } else if (const MeasuredTrainingCurve* known = measured_curve(profiles, job);
               known != nullptr) {
      job.curve = known->points;
    }
    if (job.curve.empty() || job.target == Job::kNoTarget) continue;
    const double share = work_share_to_reach(job.curve, job.target);
    if (share >= 1 || share <= 0) continue;
    job.run_us = static_cast<int64_t>(std::ceil(share * static_cast<double>(job.run_us)));
    for (TrainingCurvePoint& point : job.curve) point.share /= share;
  }
}

}  // namespace yard
