#include "env/sim/metrics/accuracy.h"

#include <algorithm>

#include "env/sim/metrics/deadlines.h"
#include "env/trace/profiles/training_curves.h"

namespace yard {
namespace {

// Returns the job's progress at its end, 0 to 1.
double progress_at_end(const Job& job, const JobOutcome& what) {
  const double first = job.curve.front().value;
  if (first == job.enough) return 1;
  const double share = 1 - what.undone_us / static_cast<double>(job.run_us);
  const double progress = (metric_at(job.curve, share) - first) / (job.enough - first);
  // States round the points of a curve to whole microseconds of work.
  return progress > 1 - 1e-9 ? 1 : std::max(progress, 0.0);
}

}  // namespace

std::optional<AccuracySummary> accuracy_of(const Trace& trace, const Outcome& outcome) {
  AccuracySummary out;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    const JobOutcome& what = outcome.jobs[j];
    const bool has_requirement = !job.curve.empty() && job.enough != Job::kNoTarget;
    if (!job.scored || !has_requirement || what.end_us == kNone) continue;
    const double progress = progress_at_end(job, what);
    ++out.jobs;
    out.mean += progress;
    out.reached += progress == 1;
    const int64_t due_us = deadline_us(job);
    if (due_us == kNever) continue;
    ++out.due;
    out.due_reached += progress == 1 && what.end_us <= due_us;
  }
  if (out.jobs == 0) return std::nullopt;
  out.mean /= static_cast<double>(out.jobs);
  return out;
}

}  // namespace yard
