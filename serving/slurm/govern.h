// Decides which jobs the agent governs, and why other jobs are left to Slurm.
#pragma once

#include <map>
#include <string>

#include "serving/slurm/config.h"
#include "serving/slurm/records.h"
#include "serving/slurm/site.h"

namespace yard::slurm {

// How a job's GPUs are spread: `count` nodes with `gpus` GPUs of the type `type` each.
struct JobShape {
  int count = 0;
  int gpus = 0;
  std::string type;
};

// Returns the shape of a job's request on nodes of at most `node_gpus` GPUs. If Slurm might place
// the job in several ways, returns a count of 0 and sets `reason`.
JobShape shape_of(const SlurmJob& job, int node_gpus, std::string& reason);

struct ScopeInputs {
  const Config& config;
  std::string partition;
  bool needs_lease = true;  // false in a dry run, where jobs need no lease
  double now_s = 0;
};

// Returns whether the job is in the partition and accounts that the agent governs.
bool in_scope(const SlurmJob& job, const ScopeInputs& options);

// Returns why a job in scope is left to Slurm; "" if the agent decides on it.
std::string why_left_to_slurm(const SlurmJob& job, int node_gpus, const ScopeInputs& options);

// Returns whether the agent may requeue a running job that it governs.
bool may_preempt(const SlurmJob& job, const Config& config, const SiteConfig& site);

}  // namespace yard::slurm
