#include "env/trace/core/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/core/hash.h"
#include "env/base/text/text.h"
#include "env/base/text/wall_clock.h"
#include "env/trace/core/stages.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int64_t kWeekUs = 7 * 24 * 3600 * kUsPerS;

// Parses "NN%" to a share; returns nothing for other text.
std::optional<double> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const std::optional<double> percent = parse_double(text);
  if (!percent || *percent < 0 || *percent > 100) return std::nullopt;
  return *percent / 100;
}

// The time span of the trace; `end_us` is just after the last submission.
struct Span {
  int64_t first_us, end_us;

  int64_t part_us(double share) const {
    return std::llround(share * static_cast<double>(end_us - first_us));
  }
};

int64_t parse_time_us(const Trace& trace, const Span& span, std::string_view text,
                      const std::string& option) {
  if (const auto share = parse_percent(text)) return span.first_us + span.part_us(*share);
  const bool after_first = text.starts_with('+');
  const auto us = parse_seconds_us(text.substr(after_first ? 1 : 0));
  if (us && *us >= 0) return after_first ? span.first_us + *us : *us;
  const std::optional<int64_t> date_s = parse_date_s(text);
  const std::string got = "'" + std::string(text) + "'";
  if (date_s && !trace.epoch_unix_s) {
    throw InputError(option, "seconds or NN%, as this trace has no calendar dates", got);
  }
  if (!date_s) {
    throw InputError(option,
                     "seconds of at least 0, +seconds after the first job, 0% to 100%, or a date "
                     "like 2021-03-04T12:00",
                     got);
  }
  return (*date_s - *trace.epoch_unix_s) * kUsPerS;
}

int64_t parse_warmup_us(const Span& span, const std::string& text) {
  if (text.empty()) return kWeekUs;
  if (const auto share = parse_percent(text)) return span.part_us(*share);
  const auto us = parse_seconds_us(text);
  if (us && *us >= 0) return *us;
  throw InputError("--warmup", "seconds of at least 0, or 0% to 100%", "'" + text + "'");
}

struct Range {
  size_t begin, end;  // range of scored jobs
};

Range by_number(const Trace& trace, const WindowOptions& options, Window& window,
                const Span& span) {
  const auto size = static_cast<int64_t>(trace.jobs.size());
  const int64_t begin = options.jobs_from.value_or(0);
  if (begin < 0 || begin >= size) {
    throw InputError("--jobs-from", "0 to " + std::to_string(size - 1), std::to_string(begin));
  }
  const int64_t count = options.jobs_count.value_or(size - begin);
  if (count < 1 || count > size - begin) {
    throw InputError("--jobs-count",
                     "1 to " + std::to_string(size - begin) + ", the number of jobs from job " +
                         std::to_string(begin),
                     std::to_string(count));
  }
  const int64_t end = begin + count;
  window.from_us = trace.jobs[begin].submit_us;
  const int64_t next_us = end < size ? trace.jobs[end].submit_us : span.end_us;
  window.to_us = std::max(next_us, window.from_us + 1);
  return {static_cast<size_t>(begin), static_cast<size_t>(end)};
}

// Returns "1200 s", with the date if the trace has a calendar.
std::string timestamp_text(const Trace& trace, int64_t us) {
  std::string out = format_seconds(us) + " s";
  if (!trace.epoch_unix_s) return out;
  const int64_t second = us / kUsPerS - (us % kUsPerS < 0);
  return out + " (" + date_text(*trace.epoch_unix_s + second) + ")";
}

Range by_time(const Trace& trace, const WindowOptions& options, Window& window, const Span& span) {
  window.from_us =
      options.from.empty() ? span.first_us : parse_time_us(trace, span, options.from, "--from");
  window.to_us = options.to.empty() ? span.end_us : parse_time_us(trace, span, options.to, "--to");
  if (!options.from.empty() && !options.to.empty() && window.from_us > window.to_us) {
    throw InputError("--from, --to", "a start before the end",
                     "from " + timestamp_text(trace, window.from_us) + " to " +
                         timestamp_text(trace, window.to_us));
  }
  const auto at = [&](int64_t us) {
    const auto it = std::ranges::lower_bound(trace.jobs, us, {}, &Job::submit_us);
    return static_cast<size_t>(it - trace.jobs.begin());
  };
  const Range range{at(window.from_us), at(window.to_us)};
  if (range.begin >= range.end) {
    throw InputError("--from, --to",
                     "a window with jobs (submitted from " + timestamp_text(trace, span.first_us) +
                         " to " + timestamp_text(trace, span.end_us - 1) + ")",
                     options.to.empty()
                         ? "none from " + timestamp_text(trace, window.from_us) + " on"
                     : options.from.empty() ? "none before " + timestamp_text(trace, window.to_us)
                                            : "none from " + timestamp_text(trace, window.from_us) +
                                                  " to " + timestamp_text(trace, window.to_us));
  }
  return range;
}

// Appends `repeats` copies of the scored jobs; the window of the first begins at `start_us`. In a
// copy, `after` names the copies of scored jobs.
void repeat_window(std::vector<Job>& jobs, const Window& window, int64_t start_us, int repeats) {
  const size_t size = jobs.size();
  const int64_t length_us = window.to_us - window.from_us;
  std::unordered_set<std::string> copied;  // ids
  const auto comes_after = [](const Job& job) { return job.scored && !job.after.empty(); };
  const bool any_after = std::ranges::any_of(jobs, comes_after);
  for (const Job& job : jobs) {
    if (any_after && job.scored) copied.insert(job.id);
  }
  for (int k = 0; k < repeats; ++k) {
    for (size_t j = 0; j < size; ++j) {
      if (!jobs[j].scored) continue;
      Job job = jobs[j];
      const std::string mark = "#" + std::to_string(k + 1);
      job.id += mark;
      for (std::string& id : job.after) {
        if (copied.contains(id)) id += mark;
      }
      job.submit_us += start_us - window.from_us + k * length_us;
      job.scored = false;
      job.copy = true;
      jobs.push_back(std::move(job));
    }
  }
}

}  // namespace

Window select_window(Trace& trace, const WindowOptions& options) {
  YARD_CHECK(!trace.jobs.empty(), "a window needs a trace with jobs");
  const bool numbers = options.jobs_from || options.jobs_count;
  const bool times = !options.from.empty() || !options.to.empty();
  if (numbers && times) {
    throw InputError("window", "--jobs-from and --jobs-count, or --from and --to", "both");
  }
  std::vector<Job>& jobs = trace.jobs;
  const Span span{jobs.front().submit_us, jobs.back().submit_us + 1};
  Window window;
  const Range range =
      numbers ? by_number(trace, options, window, span) : by_time(trace, options, window, span);
  const int64_t warmup_us = parse_warmup_us(span, options.warmup);
  const int64_t before_us = std::max<int64_t>(0, window.from_us - span.first_us);
  window.warm_from_us = window.from_us - std::min(warmup_us, before_us);
  window.scored = static_cast<int64_t>(range.end - range.begin);

  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].scored = j >= range.begin && j < range.end;
  const bool next_jobs = options.after == ArrivalsAfterWindow::kTrace ||
                         options.after == ArrivalsAfterWindow::kTraceOnly;
  if (!next_jobs) jobs.resize(range.end);
  jobs.erase(jobs.begin(),
             std::ranges::lower_bound(jobs, window.warm_from_us, {}, &Job::submit_us));
  if (!numbers && !times) return window;
  // Copies begin at the end of the window if it ends after the trace.
  if (options.after == ArrivalsAfterWindow::kTrace) {
    repeat_window(jobs, window, std::max(span.end_us, window.to_us), options.repeats);
  } else if (options.after == ArrivalsAfterWindow::kRepeat) {
    repeat_window(jobs, window, window.to_us, options.repeats);
  }
  return window;
}

int64_t count_copied_jobs(const Trace& trace) {
  return std::ranges::count_if(trace.jobs, &Job::copy);
}

void scale_arrivals(Trace& trace, Window& window, double factor) {
  YARD_CHECK(factor > 0 && std::isfinite(factor), "arrivals are scaled by a positive factor");
  const auto scaled_us = [&](int64_t us) {
    constexpr double kFarUs = 1e18;  // keeps results within int64 for every factor
    const double distance_us = factor * static_cast<double>(us - window.from_us);
    return window.from_us +
           static_cast<int64_t>(std::round(std::clamp(distance_us, -kFarUs, kFarUs)));
  };
  for (Job& job : trace.jobs) job.submit_us = scaled_us(job.submit_us);
  const int64_t warm_from_us = std::max(window.warm_from_us, scaled_us(window.warm_from_us));
  window.to_us = std::max(scaled_us(window.to_us), window.from_us + 1);
  window.warm_from_us = warm_from_us;
  std::erase_if(trace.jobs, [&](const Job& job) { return job.submit_us < warm_from_us; });
}

void jitter_arrivals(Trace& trace, Window& window, const Rng& rng, int64_t max_us,
                     double load_jitter) {
  YARD_CHECK(max_us >= 0 && load_jitter >= 0 && load_jitter < 1, "jitter out of range");
  const double load = 1 + load_jitter * (2 * rng.split(0).uniform() - 1);
  scale_arrivals(trace, window, 1 / load);
  for (Job& job : trace.jobs) {
    const double share = 2 * rng.split(1).split(hash_text(job.id)).uniform() - 1;
    const int64_t moved_us = std::llround(share * static_cast<double>(max_us));
    job.submit_us = std::max<int64_t>(0, job.submit_us + moved_us);
  }
  std::ranges::stable_sort(trace.jobs, {}, &Job::submit_us);
}

double offered_load(const Trace& trace, const Window& window, int total_gpus) {
  YARD_CHECK(total_gpus > 0, "the cluster must have GPUs");
  if (window.to_us - window.from_us <= 1) return std::numeric_limits<double>::quiet_NaN();
  double asked_gpu_us = 0;
  for (const Job& job : trace.jobs) {
    if (job.scored) asked_gpu_us += gpu_time_us(job);
  }
  return asked_gpu_us /
         (static_cast<double>(total_gpus) * static_cast<double>(window.to_us - window.from_us));
}

}  // namespace yard
