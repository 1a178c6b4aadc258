#include "env/sim/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "env/base/core/check.h"
#include "env/base/core/nearest_rank.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int64_t kShortestRunUs = 10'000'000;  // of the bounded slowdown

// The GPUs of one type.
struct TypeGpus {
  int64_t gpus = 0;
  int32_t node_gpus = 0, island_gpus = 0;  // of the largest
  int32_t node = kNone;                    // one that has them
};

std::vector<TypeGpus> gpus_by_type(const SpecColumns& spec) {
  std::vector<TypeGpus> out;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    const auto type = static_cast<size_t>(spec.node_type[m]);
    if (type >= out.size()) out.resize(type + 1);
    out[type].gpus += spec.node_gpus[m];
    out[type].node_gpus = std::max(out[type].node_gpus, spec.node_gpus[m]);
    out[type].island_gpus = std::max(out[type].island_gpus, spec.node_island_gpus[m]);
    out[type].node = m;
  }
  return out;
}

// The consolidated speed of job `j` on GPUs of one type.
double speed_on(const SimModel& fixed, int32_t j, int32_t type, const TypeGpus& of) {
  const int32_t job_class = fixed.jobs.speed_class == nullptr ? 0 : fixed.jobs.speed_class[j];
  if (fixed.speed.num_classes == 0 || fixed.speed.class_kind[job_class] < 0) {
    return fixed.speed_on(j, of.node);
  }
  const int32_t gpus = std::min(fixed.jobs.gpus[j], fixed.speed.max_gpus);
  const int32_t nodes = (gpus + of.node_gpus - 1) / of.node_gpus;
  const Tier tier = nodes > 1 ? Tier::kRack : gpus > of.island_gpus ? Tier::kNode : Tier::kIsland;
  return std::max(speed_of(fixed.speed, job_class, type, gpus, tier, nodes), kMinRate);
}

std::optional<EndedByPolicySummary> early_of(const Trace& trace, const Outcome& outcome) {
  EndedByPolicySummary out;
  int64_t others = 0;
  double jct_s = 0, others_jct_s = 0, requested_us = 0, undone_us = 0;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    const JobOutcome& what = outcome.jobs[j];
    if (!job.scored || what.end_us == kNone) continue;
    const double took_s = static_cast<double>(what.end_us - job.submit_us) / kUsPerS;
    ++(what.ended_early ? out.jobs : others);
    (what.ended_early ? jct_s : others_jct_s) += took_s;
    requested_us += static_cast<double>(job.run_us) * job.gpus;
    undone_us += what.undone_us * job.gpus;
  }
  if (out.jobs == 0) return std::nullopt;
  out.mean_jct_s = jct_s / static_cast<double>(out.jobs);
  if (others > 0) out.others_mean_jct_s = others_jct_s / static_cast<double>(others);
  if (requested_us > 0) out.undone_share = undone_us / requested_us;
  return out;
}

}  // namespace

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
  out.p50_jct_s = static_cast<double>(nearest_rank_quantile(jct_us, 0.50)) / kUsPerS;
  out.p95_jct_s = static_cast<double>(nearest_rank_quantile(jct_us, 0.95)) / kUsPerS;
  out.p99_jct_s = static_cast<double>(nearest_rank_quantile(jct_us, 0.99)) / kUsPerS;
  out.mean_wait_s = static_cast<double>(sum_wait_us) / n / kUsPerS;
  out.max_wait_s = static_cast<double>(max_wait_us) / kUsPerS;
  out.mean_run_s = static_cast<double>(sum_run_us) / n / kUsPerS;
  return out;
}

std::vector<int64_t> isolated_run_us(const Trace& trace, const SimModel& fixed) {
  const std::vector<TypeGpus> types = gpus_by_type(fixed.spec);
  std::vector<std::pair<double, int64_t>> open;  // speed and GPUs of the types that a job runs on
  std::vector<int64_t> out;
  out.reserve(trace.jobs.size());
  for (size_t i = 0; i < trace.jobs.size(); ++i) {
    out.push_back(trace.jobs[i].run_us);
    const auto j = static_cast<int32_t>(i);
    const int32_t gpus = fixed.jobs.gpus[j];
    if (gpus == 0) continue;  // CPUs are alike
    const int32_t shape = fixed.jobs.shape == nullptr ? kNone : fixed.jobs.shape[j];
    const uint64_t allowed = shape == kNone ? ~uint64_t{0} : fixed.jobs.shapes.types[shape];
    open.clear();
    for (size_t t = 0; t < types.size(); ++t) {
      if (types[t].gpus == 0 || (allowed >> t & 1) == 0) continue;
      open.emplace_back(speed_on(fixed, j, static_cast<int32_t>(t), types[t]), types[t].gpus);
    }
    std::sort(open.begin(), open.end(), std::greater<>());
    double speed = 1;
    int64_t found = 0;
    for (size_t k = 0; k < open.size() && found < gpus; ++k) {
      speed = open[k].first;
      found += open[k].second;
    }
    int64_t& run_us = out.back();
    if (speed != 1) run_us = static_cast<int64_t>(std::ceil(static_cast<double>(run_us) / speed));
  }
  return out;
}

int64_t delay_us(const Job& job, const JobOutcome& outcome, int64_t isolated_us) {
  return std::max<int64_t>(0, outcome.end_us - job.submit_us - isolated_us);
}

Summary summarise(const Trace& trace, const SimModel& fixed,
                  const std::vector<int64_t>& isolated_us, const Outcome& outcome) {
  YARD_CHECK(outcome.jobs.size() == trace.jobs.size(), "the outcome is of another trace");
  YARD_CHECK(isolated_us.size() == trace.jobs.size(), "the run times are of another trace");
  JctGroup all;
  std::map<int32_t, JctGroup> classes;  // by demand
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
    if (outcome.counts_edits) {
      out.migrations = out.migrations.value_or(0) + what.migrations;
      out.rapid_repreemptions = out.rapid_repreemptions.value_or(0) + what.rapid_repreemptions;
    }
    first_us = std::min(first_us, job.submit_us);
    if (what.end_us == kNone) continue;
    const int64_t jct_us = what.end_us - job.submit_us;
    const int64_t run_us = isolated_us[j];
    const int64_t wait = std::max<int64_t>(0, jct_us - run_us);
    all.add(jct_us, wait, run_us);
    group.add(jct_us, wait, run_us);
    last_us = std::max(last_us, what.end_us);
    const auto min_us = static_cast<double>(std::max(run_us, kShortestRunUs));
    sum_slowdown += std::max(1.0, static_cast<double>(jct_us) / min_us);
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
  out.early = early_of(trace, outcome);
  for (auto& [gpus, group] : classes) out.classes.push_back({gpus, group.summary()});
  return out;
}

}  // namespace yard
