// Records how long jobs ran before their last restart, since Slurm lists only the current run.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "serving/slurm/records.h"

namespace yard::slurm {

// The runs of a job before its current run.
struct TimeBeforeRestart {
  double run_s = 0;
  double requeued_s = 0;  // Unix time at which the job began to wait again
};

class RunTimes {
 public:
  // Forgets jobs that are gone. Runs that ended while no agent was running are missing.
  void update(const Listing& listing, double now_s) {
    std::unordered_map<std::string, Run> runs;
    earlier_.clear();
    for (const SlurmJob& job : listing.jobs) {
      Run& run = runs[job.id];
      const auto seen = runs_.find(job.id);
      run.is_complete = job.restarts == 0;
      if (seen != runs_.end()) run = seen->second;
      if (job.restarts != run.restarts) {
        const bool is_next = seen != runs_.end() && job.restarts == run.restarts + 1;
        run = {job.restarts, 0, {run.earlier.run_s + run.run_s, now_s}, run.is_complete && is_next};
      }
      if (job.runs()) run.run_s = std::max(0.0, now_s - job.start_s);
      if (run.earlier.run_s > 0) earlier_[job.id] = run.earlier;
    }
    runs_ = std::move(runs);
  }

  const std::unordered_map<std::string, TimeBeforeRestart>& times_before_restart() const {
    return earlier_;
  }

  // Returns the run time of a job before the run in its record; nothing if listings did not show
  // all its runs.
  std::optional<double> earlier_runs_s(const SlurmJob& job) const {
    const auto seen = runs_.find(job.id);
    if (seen == runs_.end()) return job.restarts == 0 ? std::optional(0.0) : std::nullopt;
    const Run& run = seen->second;
    if (!run.is_complete) return std::nullopt;
    if (job.restarts == run.restarts) return run.earlier.run_s;
    if (job.restarts == run.restarts + 1) return run.earlier.run_s + run.run_s;
    return std::nullopt;
  }

 private:
  struct Run {
    int restarts = 0;
    double run_s = 0;
    TimeBeforeRestart earlier;
    bool is_complete = true;  // whether listings showed all earlier runs
  };

  std::unordered_map<std::string, Run> runs_;
  std::unordered_map<std::string, TimeBeforeRestart> earlier_;
};

}  // namespace yard::slurm
