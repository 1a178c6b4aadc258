// Records how long jobs ran before their last restart, since Slurm lists only the current run.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>

#include "serving/slurm/records.h"

namespace yard::slurm {

// The runs of a job before its current run.
struct EarlierRuns {
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
      if (const auto seen = runs_.find(job.id); seen != runs_.end()) run = seen->second;
      if (job.restarts != run.restarts) {
        run = {job.restarts, 0, {run.earlier.run_s + run.run_s, now_s}};
      }
      if (job.runs()) run.run_s = std::max(0.0, now_s - job.start_s);
      if (run.earlier.run_s > 0) earlier_[job.id] = run.earlier;
    }
    runs_ = std::move(runs);
  }

  const std::unordered_map<std::string, EarlierRuns>& earlier() const { return earlier_; }

 private:
  struct Run {
    int restarts = 0;
    double run_s = 0;
    EarlierRuns earlier;
  };

  std::unordered_map<std::string, Run> runs_;
  std::unordered_map<std::string, EarlierRuns> earlier_;
};

}  // namespace yard::slurm
