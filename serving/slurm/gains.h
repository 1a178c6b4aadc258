// Estimates what a dry run would have gained by starting jobs earlier than Slurm did.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "serving/slurm/records.h"

namespace yard::slurm {

class DryRunGains {
 public:
  // Notes that the agent would start the job now. Returns whether that is the job's first proposal.
  bool propose(const SlurmJob& job, double now_s);

  // Notes that a listing shows the job running. Jobs that ran in the first listing do not count.
  void saw_running(const SlurmJob& job);

  void end_first_listing() { first_ = false; }

  // Returns how long the jobs that Slurm started have waited, and how long they would have waited
  // until the agent's first proposal. A proposal does not change the cluster. A job without a
  // proposal before its start counts as started when Slurm did.
  nlohmann::ordered_json summary() const;

 private:
  struct ObservedJobTimes {
    double proposed_s = -1, started_s = -1, submit_s = 0;
    int gpus = 0;
  };
  std::map<std::string, ObservedJobTimes> jobs_;
  bool first_ = true;
};

}  // namespace yard::slurm
