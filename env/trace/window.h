// Which jobs of a trace count, and how arrivals are squeezed or shaken around them.
//
//   Window window = select_window(trace, {.from = "60%", .to = "80%"});
//   scale_arrivals(trace, window, 0.5);                     // twice as dense
//   jitter_arrivals(trace, window, rng, 600'000'000, 0.04);  // one replica
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "env/base/rng.h"
#include "env/trace/job.h"

namespace yard {

// What arrives after the scored window, so that its last jobs meet a cluster as busy as its first.
enum class AfterWindow {
  kNothing,
  kTrace,   // the trace's own next jobs and, after its end, the window's again
  kRepeat,  // the window's again at once: where the trace's next jobs are to stay unseen
};

// Jobs by number or by time, not both. Neither: all of them are scored, and nothing comes after.
struct WindowOptions {
  std::optional<int64_t> jobs_from = {};  // index in order of submission
  std::optional<int64_t> jobs_count = {};
  // Seconds, "+N" seconds after the first submission, "NN%" of the time from first to last
  // submission, or an ISO date (UTC) where the trace knows its calendar. A job submitted at `from`
  // belongs to the window, one at `to` does not.
  std::string from = {};
  std::string to = {};
  // Seconds or "NN%"; empty: a week. No longer than the trace before `from`.
  std::string warmup = {};
  AfterWindow after = AfterWindow::kTrace;
  int repeats = 3;  // how often the window comes again; a run ends with its last scored job
};

// In the trace's own time: warm_from_us <= from_us < to_us.
struct Window {
  int64_t warm_from_us = 0;
  int64_t from_us = 0;
  int64_t to_us = 0;
  int64_t scored = 0;  // jobs
};

// Marks the jobs in the window as scored, keeps those of the warm-up and after the window unscored,
// and removes the rest. A repeated job's id ends in "#1", "#2", ..., and so does, in its `after`,
// that of a job repeated with it. Throws InputError for an empty window, a date without a calendar,
// or options that contradict each other.
Window select_window(Trace& trace, const WindowOptions& options);

// Multiplies every arrival's distance from the window's start by `factor` (below 1: denser), and
// the window's length with it. No arrival comes before the warm-up's start: where arrivals are
// stretched, those that would are removed; where they are squeezed, the warm-up is shorter.
// Requires factor > 0.
void scale_arrivals(Trace& trace, Window& window, double factor);

// Moves every arrival by up to `max_us` either way, but not below 0, after scaling by
// 1 / (1 +- load_jitter); then sorts again. A job stays scored or not. Draws are keyed by job id:
// the same `rng` moves a job alike whatever else was removed or scaled.
void jitter_arrivals(Trace& trace, Window& window, const Rng& rng, int64_t max_us,
                     double load_jitter);

// Returns the GPU time that scored jobs ask for, over what `total_gpus` offer during the window;
// NaN where all arrive at one moment, so that the window has no length.
double offered_load(const Trace& trace, const Window& window, int total_gpus);

}  // namespace yard
