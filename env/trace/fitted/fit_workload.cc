#include "env/trace/fitted/fit_workload.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/trace/fitted/fit_steps.h"

namespace yard {
namespace {

constexpr size_t kMinJobs = 50;
constexpr int64_t kDayS = 24 * 3600;
constexpr int64_t kWeekS = 7 * kDayS;
constexpr int64_t kMondayS = 3 * kDayS;  // 1970 began on a Thursday

// Returns the largest of a few steps which divides all times.
double common_step_s(const std::vector<Job>& jobs) {
  for (const int64_t step_us : {int64_t{60'000'000}, int64_t{1'000'000}, int64_t{1'000}}) {
    const auto fits = [&](const Job& job) {
      return job.submit_us % step_us == 0 && job.run_us % step_us == 0;
    };
    if (std::ranges::all_of(jobs, fits)) return static_cast<double>(step_us) * 1e-6;
  }
  return 1e-6;
}

void check_usable(const Trace& trace, const std::vector<Job>& jobs) {
  const auto unknown = [](const Job& job) { return job.run_us < 0; };
  if (const auto it = std::ranges::find_if(jobs, unknown); it != jobs.end()) {
    throw InputError(trace.source + ":" + std::to_string(it->line),
                     "a run time for every job to fit", "none for job '" + it->id + "'");
  }
  if (jobs.size() >= kMinJobs) return;
  throw InputError(trace.source,
                   "at least " + std::to_string(kMinJobs) + " jobs in the part to fit",
                   std::to_string(jobs.size()));
}

}  // namespace

TracePart select_trace_part(const Trace& trace, WindowOptions options) {
  constexpr double kTestShare = 0.8;  // later jobs are reserved for the final test
  Trace copy = trace;
  options.after = ArrivalsAfterWindow::kNothing;
  options.warmup = "0";
  const int64_t first_us = trace.jobs.front().submit_us;
  const auto span_us = static_cast<double>(trace.jobs.back().submit_us + 1 - first_us);
  const Window window = select_window(copy, options);
  TracePart part;
  part.jobs = std::move(copy.jobs);
  std::erase_if(part.jobs, [](const Job& job) { return !job.scored; });
  part.from_us = std::max(window.from_us, first_us);
  part.to_us = std::min(window.to_us, trace.jobs.back().submit_us + 1);
  part.in_test = !trace.source.starts_with("synthetic:") &&
                 part.to_us > first_us + std::llround(kTestShare * span_us);
  return part;
}

WorkloadModel fit_workload_model(const Trace& trace, const TracePart& part) {
  check_usable(trace, part.jobs);
  WorkloadModel model;
  model.source = trace.source.starts_with("synthetic:")
                     ? trace.source
                     : std::filesystem::path(trace.source).filename().string();
  model.format = trace.format;
  model.sha256 = trace.sha256;
  model.from_s = static_cast<double>(part.from_us) * 1e-6;
  model.to_s = static_cast<double>(part.to_us) * 1e-6;
  model.jobs = static_cast<int64_t>(part.jobs.size());
  model.step_s = common_step_s(part.jobs);
  for (const Job& job : part.jobs) {
    model.mean_gpu_s +=
        static_cast<double>(job.run_us) * 1e-6 * job.gpus / static_cast<double>(part.jobs.size());
  }
  int64_t shift_s = 0;
  model.calendar = trace.epoch_unix_s.has_value();
  if (model.calendar) shift_s = ((*trace.epoch_unix_s + kMondayS) % kWeekS + kWeekS) % kWeekS;
  const auto shift = static_cast<double>(shift_s);
  FitData data{part.jobs,
               find_submission_batches(part.jobs),
               shift,
               model.from_s + shift,
               model.to_s + shift,
               {},
               {}};
  const Owner kind = data.batches.kind;
  model.owner = kind == Owner::kUser ? "user" : kind == Owner::kTenant ? "tenant" : "nobody";
  fit_arrivals(data, model);
  fit_owners(data, model);
  fit_sizes_gaps_batch_jobs(data, model);
  fit_batch_jobs_fluctuation(data, model);
  fit_run_times(data, model);
  fit_limits_statuses_kinds(data, model);
  return parse_workload_model(to_text(model), "the fitted model");  // rounded as in a file
}

}  // namespace yard
