// Selects the scored window of a trace, and scales or jitters arrivals around it.
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

// Arrivals after the scored window, so that its last jobs meet as busy a cluster as its first.
enum class ArrivalsAfterWindow {
  kNothing,
  kTraceOnly,  // the trace's next jobs, without copies: for statements about a site's own log
  kTrace,      // the trace's next jobs and, after its end, copies of the window
  kRepeat,     // copies of the window at once, if the trace's next jobs must stay unseen
};

// Selects jobs by number or by time, not both. Default: all are scored and nothing comes after.
struct WindowOptions {
  std::optional<int64_t> jobs_from = {};  // index by submission
  std::optional<int64_t> jobs_count = {};
  // Seconds, "+N" seconds after the first submission, "NN%" of the time from first to last
  // submission, or an ISO date (UTC) if the trace has a calendar. A job submitted at `from` is in
  // the window; a job submitted at `to` is not.
  std::string from = {};
  std::string to = {};
  // Seconds or "NN%"; empty: a week. At most the time before `from`.
  std::string warmup = {};
  ArrivalsAfterWindow after = ArrivalsAfterWindow::kTrace;
  int repeats = 3;  // copies of the window; a run ends with its last scored job
};

// Trace time; warm_from_us <= from_us < to_us.
struct Window {
  int64_t warm_from_us = 0;
  int64_t from_us = 0;
  int64_t to_us = 0;
  int64_t scored = 0;  // number of jobs
};

// Marks jobs in the window as scored, keeps those of the warm-up and after the window unscored, and
// removes all others. Copies are unscored and have Job::copy set; their ids end in "#1", "#2", ...,
// and their `after` names the copies.
// Throws InputError for an empty window, a date without a calendar, or conflicting options.
Window select_window(Trace& trace, const WindowOptions& options);

// Returns the number of jobs that select_window() added.
int64_t count_window_copies(const Trace& trace);

// Multiplies the distance of every arrival from the window's start, and the window's length, by
// `factor` (below 1: denser). Arrivals which move before the warm-up's start are removed. Denser
// arrivals shorten the warm-up. Requires: factor > 0.
void scale_arrivals(Trace& trace, Window& window, double factor);

// Scales arrivals by 1 / (1 +- load_jitter), moves each by up to `max_us` either way, but not below
// 0, and sorts again. Jobs stay scored or unscored. Draws are keyed by job id: a job moves by the
// same amount whichever others were removed. Requires: max_us >= 0, 0 <= load_jitter < 1.
void jitter_arrivals(Trace& trace, Window& window, const Rng& rng, int64_t max_us,
                     double load_jitter);

// Returns GPU time of scored jobs divided by GPU time that `total_gpus` offer in the window. NaN if
// the window has no length. Requires: total_gpus > 0.
double offered_load(const Trace& trace, const Window& window, int total_gpus);

}  // namespace yard
