// Selects the window of a trace whose jobs are scored, and scales or jitters arrivals.
//
//   Window window = select_window(trace, {.from = "60%", .to = "80%"});
//   scale_arrivals(trace, window, 0.5);                     // twice as dense
//   jitter_arrivals(trace, window, rng, 600'000'000, 0.04);  // one replica
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "env/base/core/rng.h"
#include "env/trace/core/job.h"

namespace yard {

// Jobs that arrive after the scored window, to keep the cluster busy while its last jobs run.
enum class ArrivalsAfterWindow {
  kNothing,
  kTraceOnly,  // the trace's jobs after the window, without copies: for results on a site's own log
  kTrace,      // the trace's jobs after the window, then copies of the window
  kRepeat,     // copies of the window only, if the trace's later jobs must stay unseen
};

// Selects the scored jobs by number or by time, not both; by default, all jobs are scored.
struct WindowOptions {
  std::optional<int64_t> jobs_from = {};  // index of the first scored job, by submission
  std::optional<int64_t> jobs_count = {};
  // Bounds of the window: seconds, "+N" seconds after the first submission, "NN%" of the time from
  // first to last submission, or an ISO date (UTC) if the trace has a calendar. A job submitted at
  // `from` is in the window; a job submitted at `to` is not.
  std::string from = {};
  std::string to = {};
  // Length of the warm-up: seconds or "NN%"; empty: a week. A warm-up begins with the
  // trace at the earliest.
  std::string warmup = {};
  ArrivalsAfterWindow after = ArrivalsAfterWindow::kTrace;
  int repeats = 3;  // number of copies of the window; a run ends with its last scored job
};

// A scored window in trace time, with warm_from_us <= from_us < to_us.
struct Window {
  int64_t warm_from_us = 0;
  int64_t from_us = 0;
  int64_t to_us = 0;
  int64_t scored = 0;  // number of jobs
};

// Marks jobs in the window as scored, keeps jobs of the warm-up and after the window unscored, and
// removes all others. Copies are unscored and have Job::copy set; their ids end in "#1", "#2", and
// their `after` names the copies.
// Throws InputError for an empty window, a date without a calendar, or conflicting options.
Window select_window(Trace& trace, const WindowOptions& options);

// Returns the number of copies of jobs that select_window() added.
int64_t count_copied_jobs(const Trace& trace);

// Multiplies the distance of every arrival from the window's start, and the window's length, by
// `factor`. Removes arrivals which move before the warm-up's start. A factor below 1 makes arrivals
// denser and shortens the warm-up. Requires: factor > 0.
void scale_arrivals(Trace& trace, Window& window, double factor);

// Scales the load by up to 1 +- load_jitter, moves each arrival by up to +- `max_us`, but not below
// 0, and sorts again. Scored jobs stay scored. Draws depend on job ids: a job moves by the same
// amount even if other jobs were removed. Requires: max_us >= 0, 0 <= load_jitter < 1.
void jitter_arrivals(Trace& trace, Window& window, const Rng& rng, int64_t max_us,
                     double load_jitter);

// Returns the GPU time of scored jobs divided by the GPU time that `total_gpus` offer in the
// window; NaN if the window has no length. Requires: total_gpus > 0.
double offered_load(const Trace& trace, const Window& window, int total_gpus);

}  // namespace yard
