#include "env/sim/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "env/base/check.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int64_t kShortestRunUs = 10'000'000;  // of the bounded slowdown

}  // namespace

int64_t nearest_rank(std::vector<int64_t>& values, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void JctGroup::add(int64_t jct, int64_t wait, int64_t run) {
  jct_us.push_back(jct);
  sum_wait_us += wait;
  max_wait_us = std::max(max_wait_us, wait);
  sum_run_us += run;
}

JctSummary JctGroup::summary() {
  JctSummary out;
  out.jobs = jobs;
  out.finished = static_cast<int64_t>(jct_us.size());
  if (jct_us.empty()) return out;
  const auto n = static_cast<double>(jct_us.size());
  for (const int64_t jct : jct_us) out.sum_jct_us += jct;
  out.mean_jct_s = static_cast<double>(out.sum_jct_us) / n / kUsPerS;
  out.p50_jct_s = static_cast<double>(nearest_rank(jct_us, 0.50)) / kUsPerS;
  out.p95_jct_s = static_cast<double>(nearest_rank(jct_us, 0.95)) / kUsPerS;
  out.p99_jct_s = static_cast<double>(nearest_rank(jct_us, 0.99)) / kUsPerS;
  out.mean_wait_s = static_cast<double>(sum_wait_us) / n / kUsPerS;
  out.max_wait_s = static_cast<double>(max_wait_us) / kUsPerS;
  out.mean_run_s = static_cast<double>(sum_run_us) / n / kUsPerS;
  return out;
}

RunAlone::RunAlone(const SpecColumns& spec) {
  for (int32_t node = 0; node < spec.num_nodes; ++node) {
    const double speed = spec.node_speed[node];
    auto at = std::find_if(tiers_.begin(), tiers_.end(),
                           [&](const Tier& tier) { return tier.speed <= speed; });
    if (at == tiers_.end() || at->speed != speed) at = tiers_.insert(at, {0, speed});
    at->gpus += spec.node_gpus[node];
  }
  for (size_t i = 1; i < tiers_.size(); ++i) tiers_[i].gpus += tiers_[i - 1].gpus;
}

int64_t RunAlone::operator()(const Job& job) const {
  size_t i = 0;
  while (i + 1 < tiers_.size() && tiers_[i].gpus < job.gpus) ++i;
  if (tiers_[i].speed == 1) return job.run_us;
  return static_cast<int64_t>(std::ceil(static_cast<double>(job.run_us) / tiers_[i].speed));
}

int64_t wait_us(const Job& job, const JobOutcome& outcome, const RunAlone& run_alone) {
  return std::max<int64_t>(0, outcome.end_us - job.submit_us - run_alone(job));
}

Summary summarise(const Trace& trace, const Fixed& fixed, const Outcome& outcome) {
  YARD_CHECK(outcome.jobs.size() == trace.jobs.size(), "an outcome of another trace");
  const RunAlone run_alone(fixed.spec);
  JctGroup all;
  std::map<int32_t, JctGroup> classes;  // by what their jobs ask for
  all.jct_us.reserve(trace.jobs.size());
  Summary out;
  double sum_slowdown = 0;
  int64_t first_us = kNever, last_us = 0;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    if (!job.scored) continue;
    const JobOutcome& what = outcome.jobs[j];
    JctGroup& group = classes[job.gpus];
    ++all.jobs;
    ++group.jobs;
    out.preemptions += what.preemptions;
    out.restarts += what.restarts;
    first_us = std::min(first_us, job.submit_us);
    if (what.end_us == kNone) continue;
    const int64_t jct_us = what.end_us - job.submit_us;
    const int64_t run_us = run_alone(job);
    const int64_t wait = std::max<int64_t>(0, jct_us - run_us);
    all.add(jct_us, wait, run_us);
    group.add(jct_us, wait, run_us);
    last_us = std::max(last_us, what.end_us);
    const auto least_us = static_cast<double>(std::max(run_us, kShortestRunUs));
    sum_slowdown += std::max(1.0, static_cast<double>(jct_us) / least_us);
  }
  out.all = all.summary();
  if (out.all.finished > 0) {
    out.mean_slowdown = sum_slowdown / static_cast<double>(out.all.finished);
    out.makespan_s = static_cast<double>(last_us - first_us) / kUsPerS;
  }
  const double span_us = static_cast<double>(outcome.end_us - outcome.begin_us);
  if (span_us > 0) {
    out.utilisation = static_cast<double>(outcome.held_time_us) / (span_us * fixed.spec.total_gpus);
  }
  for (auto& [gpus, group] : classes) out.classes.push_back({gpus, group.summary()});
  return out;
}

}  // namespace yard
