// What a dry run would have gained: when the agent would have started a job, and when Slurm did.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "serving/slurm/records.h"

namespace yard::slurm {

class Gains {
 public:
  // The agent would start the job now. Returns whether it is the first such proposal.
  bool propose(const SlurmJob& job, double now_s);

  // The job runs in this listing. Jobs which ran in the first listing do not count.
  void saw_running(const SlurmJob& job);

  void end_of_listing() { first_ = false; }

  // Over jobs that Slurm has started: how long they waited, and how long they would have waited
  // until the first proposal. A proposal takes the cluster as Slurm left it, and a job proposed
  // later, or never, counts as started when Slurm did.
  nlohmann::ordered_json summary() const;

 private:
  struct Seen {
    double proposed_s = -1, started_s = -1, submit_s = 0;
    int gpus = 0;
  };
  std::map<std::string, Seen> jobs_;
  bool first_ = true;
};

}  // namespace yard::slurm
