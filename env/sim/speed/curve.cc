#include "env/sim/speed/curve.h"

#include <algorithm>
#include <cmath>

#include "env/base/core/check.h"

namespace yard {
namespace {

constexpr double kSameBatch = 1e-9;  // relative; thirds of a batch are not exact

bool same(double a, double b) { return std::abs(a - b) <= kSameBatch * std::abs(b); }

// Returns the position of `at` between `from` and `to`, from 0 to 1.
double progress(double from, double at, double to) {
  if (same(from, to)) return 0.5;
  return std::clamp((at - from) / (to - from), 0.0, 1.0);
}

// Geometric mean of the times above 0; 0 if there are none.
class Mean {
 public:
  void add(double time_s) {
    if (time_s <= 0) return;
    sum_ += std::log(time_s);
    ++count_;
  }
  double value() const { return count_ == 0 ? 0 : std::exp(sum_ / count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};
using Means = std::map<int32_t, std::map<double, Mean>>;

std::map<int32_t, std::map<double, double>> values(const Means& means) {
  std::map<int32_t, std::map<double, double>> out;
  for (const auto& [gpus, batches] : means) {
    for (const auto& [batch, mean] : batches) out[gpus][batch] = mean.value();
  }
  return out;
}

}  // namespace

SpeedCurve::SpeedCurve(const ModelProfile& profile, const std::string& gpu_type,
                       double gradient_bytes, const TierLinks& links)
    : weak_(profile.scaling == BatchScaling::kWeak),
      gradient_bytes_(gradient_bytes),
      links_(links) {
  std::array<Means, kSpreads> by_spread;
  Means across;
  std::vector<MeasuredRun> ran;
  for (const MeasuredRun& run : profile.runs) {
    if (run.gpu_type != gpu_type) continue;
    const int32_t spread = node_spread_class(run.nodes());
    by_spread[static_cast<size_t>(spread)][run.gpus()][run.local_batch].add(run.iteration_s);
    if (spread != 0) across[run.gpus()][run.local_batch].add(run.iteration_s);
    if (run.iteration_s <= 0) continue;
    largest_batch_ = std::max(largest_batch_, run.local_batch);
    inside_measured_ |= spread == 0 && run.gpus() > 1;
    across_measured_ |= spread != 0;
    ran.push_back(run);
  }
  for (size_t i = 0; i < by_spread.size(); ++i) runs_[i] = values(by_spread[i]);
  across_ = values(across);
  form_ = profile.by_links ? PolluxForm{.grad_s = ran.front().iteration_s} : fit_pollux(ran);
}

SpeedCurve::GradientAccumulation SpeedCurve::split_batch(double batch, int32_t gpus) const {
  const double local = weak_ ? batch : batch / gpus;
  const double count = std::max(1.0, std::ceil(local / largest_batch_ * (1 - kSameBatch)));
  return {count, local / count};
}

// Returns the exchange time: by the form if such runs (on one node, or on several) were measured,
// else of the all-reduce on the cluster's links; without known links, by the form of other runs.
double SpeedCurve::sync_s(int32_t gpus, int32_t spread) const {
  if (gpus < 2) return 0;
  const bool inside = spread == 0;
  if (inside ? inside_measured_ : across_measured_) return form_.sync_s(gpus, inside ? 1 : 2);
  const Link& within = links_[static_cast<size_t>(Tier::kNode)];
  const Link& beyond = links_[static_cast<size_t>(Tier::kRack)];
  if (gradient_bytes_ <= 0 || within.bytes_per_s <= 0 || beyond.bytes_per_s <= 0) {
    return inside_measured_ ? form_.sync_s(gpus, 1) : across_measured_ ? form_.sync_s(gpus, 2) : 0;
  }
  if (inside) return ring_all_reduce_s(gpus, gradient_bytes_, within);
  const int32_t nodes = std::min(gpus, kMinNodes[static_cast<size_t>(spread)]);
  return two_level_all_reduce_s(nodes, (gpus + nodes - 1) / nodes, gradient_bytes_, within, beyond);
}

double SpeedCurve::pollux_iteration_s(double batch, int32_t gpus, int32_t spread,
                                      double exchange_time_factor) const {
  const GradientAccumulation parts = split_batch(batch, gpus);
  const double compute_s = form_.compute_s(parts.local_batch);
  return (parts.count - 1) * compute_s +
         form_.combined_s(compute_s, exchange_time_factor * sync_s(gpus, spread));
}

double SpeedCurve::pollux_steps_per_s(double batch, int32_t gpus, int32_t spread) const {
  return worker_steps_per_iteration(gpus) / pollux_iteration_s(batch, gpus, spread);
}

// Returns the time of one part without exchange: measured on one GPU, else by the form.
double SpeedCurve::compute_s(double local_batch) const {
  const auto alone = runs_[0].find(1);
  const double form_s = form_.compute_s(local_batch);
  if (alone == runs_[0].end()) return form_s;
  const auto above = alone->second.lower_bound(local_batch * (1 - kSameBatch));
  if (above == alone->second.end()) return form_s;
  if (same(above->first, local_batch)) return above->second;
  if (above == alone->second.begin()) return form_s;
  const auto below = std::prev(above);
  return std::lerp(below->second, above->second, progress(below->first, local_batch, above->first));
}

// Returns the speed at a number of GPUs with measured `batches`.
SpeedCurve::KnownSpeed SpeedCurve::anchor_speed(double batch, int32_t gpus, const Batches& batches,
                                                int32_t spread) const {
  const GradientAccumulation parts = split_batch(batch, gpus);
  const double m = parts.local_batch;
  const double sync = sync_s(gpus, spread);
  const auto form_s = [&](double local) { return form_.combined_s(form_.compute_s(local), sync); };
  const auto above = batches.lower_bound(m * (1 - kSameBatch));
  double time_s;
  bool exact = false;
  if (above != batches.end() && same(above->first, m)) {
    time_s = above->second;
    exact = true;
  } else if (above == batches.begin() || above == batches.end()) {
    const auto nearest = above == batches.end() ? std::prev(above) : above;
    time_s = nearest->second * form_s(m) / form_s(nearest->first);
  } else {
    const auto below = std::prev(above);
    time_s = std::lerp(below->second, above->second,
                       progress(form_s(below->first), form_s(m), form_s(above->first)));
    if (below->second <= 0 || above->second <= 0) time_s = 0;
  }
  if (time_s <= 0) return {0, exact};
  return {worker_steps_per_iteration(gpus) / (time_s + (parts.count - 1) * compute_s(m)), exact};
}

SpeedCurve::Anchors SpeedCurve::anchor_speeds_by_gpus(double batch, int32_t spread) const {
  const auto& own = runs_[static_cast<size_t>(spread)];
  const auto& runs = own.empty() && spread != 0 ? across_ : own;
  Anchors out;
  for (const auto& [gpus, batches] : runs) out[gpus] = anchor_speed(batch, gpus, batches, spread);
  return out;
}

std::vector<double> SpeedCurve::interpolate(double batch, int32_t spread, const Anchors& anchors,
                                            int32_t max_gpus) const {
  std::vector<double> out(static_cast<size_t>(max_gpus) + 1);
  double furthest = 0;  // largest progress to the next anchor so far
  for (int32_t n = 1; n <= max_gpus; ++n) {
    double& value = out[static_cast<size_t>(n)];
    const auto above = anchors.lower_bound(n);
    if (above != anchors.end() && above->first == n) {
      value = above->second.steps_per_s;
      furthest = 0;
      continue;
    }
    const double form = pollux_steps_per_s(batch, n, spread);
    const auto below = above == anchors.begin() ? anchors.end() : std::prev(above);
    const auto fits = [&](auto anchor) {
      return anchor != anchors.end() && anchor->second.steps_per_s > 0;
    };
    if (!fits(below) || !fits(above)) {
      const auto& [gpus, known] = fits(below) || above == anchors.end() ? *below : *above;
      value = known.steps_per_s * form / pollux_steps_per_s(batch, gpus, spread);
      continue;
    }
    furthest = std::max(furthest, progress(pollux_steps_per_s(batch, below->first, spread), form,
                                           pollux_steps_per_s(batch, above->first, spread)));
    value = std::lerp(below->second.steps_per_s, above->second.steps_per_s, furthest);
  }
  return out;
}

SpeedCurve::Rates SpeedCurve::steps_per_s(double batch, int32_t max_gpus) const {
  std::array<Anchors, kSpreads> known;
  Rates out;
  size_t measured = 0;  // the first measured spread
  for (size_t i = 0; i < kSpreads; ++i) {
    const auto spread = static_cast<int32_t>(i);
    known[i] = anchor_speeds_by_gpus(batch, spread);
    if (known[i].empty()) continue;
    out[i] = interpolate(batch, spread, known[i], max_gpus);
    if (known[measured].empty()) measured = i;
  }
  // Derives unmeasured spreads by the form's ratio.
  for (size_t i = 0; i < kSpreads; ++i) {
    if (!known[i].empty()) continue;
    out[i] = out[measured];
    for (int32_t n = 1; n <= max_gpus; ++n) {
      out[i][static_cast<size_t>(n)] *=
          pollux_iteration_s(batch, n, static_cast<int32_t>(measured)) /
          pollux_iteration_s(batch, n, static_cast<int32_t>(i));
    }
  }
  const int32_t last_inside = known[0].empty() ? 0 : known[0].rbegin()->first;
  for (int32_t n = 1; n <= max_gpus; ++n) {
    double& inside = out[0][static_cast<size_t>(n)];
    for (size_t i = 1; i < kSpreads; ++i) {
      double& across = out[i][static_cast<size_t>(n)];
      const auto anchor = known[i].find(n);
      const bool exact = anchor != known[i].end() && anchor->second.exact;
      if (n > last_inside) {
        inside = std::max(inside, across);
      } else if (!exact) {
        across = std::min(across, inside);
      }
    }
  }
  return out;
}

}  // namespace yard
