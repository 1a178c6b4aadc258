#include "policies/learned/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr std::array<const char*, kNumWorkloadFigures> kNames = {
    "gpus_per_node", "speed_ratio",    "waiting_per_gpu", "asked_per_gpu",
    "gpus_per_job",  "longest_wait_s", "longest_run_s"};

// A cluster with less to do than in training is no reason for doubt.
constexpr std::array<bool, kNumWorkloadFigures> kMayBeLow = {false, false, true, true,
                                                             false, true,  true};

}  // namespace

const char* workload_figure_name(WorkloadFigure figure) { return kNames[figure]; }

WorkloadSums::WorkloadSums(const SpecColumns& spec, int32_t gpus) : gpus_(std::max(1, gpus)) {
  double slowest = 0, fastest = 0;
  for (int32_t node = 0; node < spec.num_nodes; ++node) {
    if (spec.node_gpus[node] == 0) continue;
    const double speed = spec.node_speed[node];
    slowest = slowest == 0 ? speed : std::min(slowest, speed);
    fastest = std::max(fastest, speed);
  }
  sums_.values[kNodeGpus] = spec.max_node_gpus;
  sums_.values[kSpeedRatio] = slowest > 0 ? fastest / slowest : 1;
}

void WorkloadSums::add_waiting(int32_t gpus, int64_t waited_us) {
  ++jobs_;
  ++sums_.values[kWaitingPerGpu];
  sums_.values[kAskedPerGpu] += gpus;
  double& longest_s = sums_.values[kLongestWaitS];
  longest_s = std::max(longest_s, 1e-6 * static_cast<double>(waited_us));
}

void WorkloadSums::add_holding(int32_t gpus, int64_t ran_us) {
  ++jobs_;
  sums_.values[kAskedPerGpu] += gpus;
  double& longest_s = sums_.values[kLongestRunS];
  longest_s = std::max(longest_s, 1e-6 * static_cast<double>(ran_us));
}

WorkloadFigures WorkloadSums::workload() const {
  WorkloadFigures out = sums_;
  out.has_jobs = jobs_ > 0;
  if (out.has_jobs) out.values[kGpusPerJob] = out.values[kAskedPerGpu] / jobs_;
  out.values[kWaitingPerGpu] /= gpus_;
  out.values[kAskedPerGpu] /= gpus_;
  return out;
}

WorkloadFigures workload_of(const View& view) {
  WorkloadSums sums(view.spec(), view.usable_gpus());
  for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
    if (view.phase(slot) == Phase::kWaiting) {
      sums.add_waiting(view.gpus(slot), view.now_us() - view.phase_or_rate_since_us(slot));
    } else if (view.holds_gpus(slot)) {
      sums.add_holding(view.gpus(slot), view.attained_us(slot));
    }
  }
  return sums.workload();
}

void Envelope::add(const WorkloadFigures& workload) {
  if (!workload.has_jobs) return;
  for (size_t f = 0; f < ranges_.size(); ++f) {
    const double value = workload.values[f];
    const double low = kMayBeLow[f] ? 0 : value;
    Range& range = ranges_[f];
    range =
        empty() ? Range{low, value} : Range{std::min(range.low, low), std::max(range.high, value)};
  }
  ++decisions_;
}

std::string Envelope::why_outside(const WorkloadFigures& workload, double tolerance) const {
  if (empty() || !workload.has_jobs) return "";
  for (size_t f = 0; f < ranges_.size(); ++f) {
    const double value = workload.values[f];
    const auto [low, high] = ranges_[f];
    if (value <= high * tolerance && value >= low / tolerance) continue;
    return fmt::format("{} is {:g}, beyond {:g} to {:g} in training by more than a factor of {:g}",
                       kNames[f], value, low, high, tolerance);
  }
  return "";
}

nlohmann::ordered_json Envelope::to_json() const {
  if (empty()) return {};
  nlohmann::ordered_json out = {{"decisions", decisions_}};
  for (size_t f = 0; f < ranges_.size(); ++f) {
    out[kNames[f]] = {ranges_[f].low, ranges_[f].high};
  }
  return out;
}

Envelope Envelope::from_json(const nlohmann::ordered_json& json, const std::string& where) {
  Envelope out;
  if (json.is_null()) return out;
  json.at("decisions").get_to(out.decisions_);
  if (out.decisions_ < 1) {
    throw InputError(where, "an envelope of at least one decision", std::to_string(out.decisions_));
  }
  for (size_t f = 0; f < out.ranges_.size(); ++f) {
    Range& range = out.ranges_[f];
    json.at(kNames[f]).at(0).get_to(range.low);
    json.at(kNames[f]).at(1).get_to(range.high);
    if (range.low >= 0 && range.low <= range.high && std::isfinite(range.high)) continue;
    throw InputError(where, std::string("an envelope with 0 <= low <= high for ") + kNames[f],
                     shortest_text(range.low) + " to " + shortest_text(range.high));
  }
  return out;
}

}  // namespace yard
