#include "env/sim/metrics/deadlines.h"

#include <algorithm>

namespace yard {

int64_t deadline_us(const Job& job) {
  for (auto due = job.dues.rbegin(); due != job.dues.rend(); ++due) {
    if (due->value > 0) return job.submit_us + due->within_us;
  }
  return kNever;
}

std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome,
                                            const std::vector<size_t>& jobs) {
  DeadlineSummary out;
  double best = 0, sum_s = 0;
  for (const size_t j : jobs) {
    const Job& job = trace.jobs[j];
    const int64_t due_us = deadline_us(job), end_us = outcome.jobs[j].end_us;
    if (!job.scored || due_us == kNever) continue;
    ++out.jobs;
    best += job.dues.front().value;
    if (end_us == kNone && outcome.end_us <= due_us) {
      ++out.open;
      continue;
    }
    const auto due = std::ranges::find_if(
        job.dues, [&](const Deadline& d) { return end_us - job.submit_us <= d.within_us; });
    if (end_us != kNone && due != job.dues.end()) out.value += due->value;
    const int64_t late_us = (end_us == kNone ? outcome.end_us : end_us) - due_us;
    ++(late_us > 0 ? out.missed : out.met);
    const double tardiness_s = static_cast<double>(std::max<int64_t>(late_us, 0)) / 1e6;
    sum_s += tardiness_s;
    out.max_tardiness_s = std::max(out.max_tardiness_s, tardiness_s);
  }
  if (out.jobs == 0) return std::nullopt;
  if (out.jobs > out.open) out.mean_tardiness_s = sum_s / static_cast<double>(out.jobs - out.open);
  if (best > 0) out.value_share = out.value / best;
  return out;
}

std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome) {
  std::vector<size_t> all;
  for (size_t j = 0; j < trace.jobs.size(); ++j) all.push_back(j);
  return deadlines_of(trace, outcome, all);
}

}  // namespace yard
