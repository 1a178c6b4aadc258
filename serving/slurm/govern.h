// Decides which jobs are the agent's, and why the others are left to Slurm.
#pragma once

#include <map>
#include <string>

#include "serving/slurm/config.h"
#include "serving/slurm/records.h"
#include "serving/slurm/site.h"

namespace yard::slurm {

// How a job's GPUs are spread: `count` nodes with `gpus` each.
struct Shape {
  int count = 0;
  int gpus = 0;
  std::string type;
};

// Returns the shape of a request on nodes of at most `node_gpus` GPUs; count 0 if Slurm might place
// it in several ways, and then sets `reason`.
Shape shape_of(const SlurmJob& job, int node_gpus, std::string& reason);

struct GovernOptions {
  const Config& config;
  std::string partition;
  bool needs_lease = true;  // false: a dry run, without the gate
  double now_s = 0;
};

// Whether the job is in the partition and accounts that the agent governs.
bool in_scope(const SlurmJob& job, const GovernOptions& options);

// Returns why a job in scope is left to Slurm; "" if the agent decides on it.
std::string why_left(const SlurmJob& job, int node_gpus, const GovernOptions& options);

// Whether the agent may requeue a running job of its own.
bool may_preempt(const SlurmJob& job, const Config& config, const Site& site);

}  // namespace yard::slurm
