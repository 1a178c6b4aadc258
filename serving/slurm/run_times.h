// How long jobs ran before their last restart. Slurm lists the current run only.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>

#include "serving/slurm/records.h"

namespace yard::slurm {

class RunTimes {
 public:
  // Forgets jobs that are gone. What ran while the agent was away is missing.
  void update(const Listing& listing, double now_s) {
    std::unordered_map<std::string, Run> runs;
    before_s_.clear();
    for (const Job& job : listing.jobs) {
      Run& run = runs[job.id];
      if (const auto seen = runs_.find(job.id); seen != runs_.end()) run = seen->second;
      if (job.restarts != run.restarts) run = {job.restarts, run.before_s + run.run_s, 0};
      if (job.runs()) run.run_s = std::max(0.0, now_s - job.start_s);
      if (run.before_s > 0) before_s_[job.id] = run.before_s;
    }
    runs_ = std::move(runs);
  }

  const std::unordered_map<std::string, double>& before_s() const { return before_s_; }

 private:
  struct Run {
    int restarts = 0;
    double before_s = 0, run_s = 0;
  };

  std::unordered_map<std::string, Run> runs_;
  std::unordered_map<std::string, double> before_s_;
};

}  // namespace yard::slurm
