// Turns a listing into a request to the policy server. The snapshot leaves out the GPUs of jobs
// that the agent does not understand or did not start.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/slurm/boot_clock.h"
#include "serving/slurm/govern.h"
#include "serving/slurm/records.h"
#include "serving/slurm/run_times.h"
#include "serving/slurm/site.h"
#include "serving/snapshot/messages.h"

namespace yard::slurm {

// An action whose effect no listing has shown yet. A job has at most one action in flight.
struct ActionInFlight {
  pb::Verb verb = pb::VERB_UNSPECIFIED;
  int restarts = 0;
  std::vector<std::string> nodes;
  int gpus = 0;  // number of GPUs on each node
  BootClock::time_point since;
  std::string decision;
};
using InFlightJobs = std::unordered_map<std::string, ActionInFlight>;

struct ClusterSnapshot {
  pb::DecideRequest request;
  std::unordered_map<std::string, const SlurmJob*> jobs;  // jobs in the request, by id
  std::unordered_map<std::string, int> free;              // number of free GPUs by node
  std::map<std::string, int> left;                        // number of jobs left to Slurm, by reason
  std::vector<const SlurmJob*> waiting;                   // jobs that the policy decides on
  int held_gpus = 0;  // GPUs of jobs and nodes that the policy does not see
};

struct SnapshotInput {
  const Listing& listing;
  const Config& config;
  const SiteConfig& site;
  std::string partition;
  double now_s = 0;  // Unix time
  bool needs_lease = true;
  const InFlightJobs& in_flight;
  const std::unordered_map<std::string, TimeBeforeRestart>& earlier;
  // Jobs left to Slurm for a while because an action on them failed, with the reason of failure.
  const std::unordered_map<std::string, std::string>& avoided;
};

// Returns the name of a partition in requests to the server.
std::string cluster_name(const SiteConfig& site, const std::string& partition);

// Returns what the agent can carry out in a partition. It starts jobs on nodes (START), requeues
// jobs (PREEMPT) if the configuration allows that, and defers a job by not starting it. `term`:
// number of the agent's leadership.
pb::RegisterRequest make_registration(const Config& config, const SiteConfig& site,
                                      const std::string& partition, int64_t term);

// Requires: the listing outlives the result.
ClusterSnapshot make_snapshot(const SnapshotInput& input);

}  // namespace yard::slurm
