// Turns a listing into a request to the policy server. What the agent does not understand, or did
// not start, takes its GPUs out of the snapshot.
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

// An action whose effect no listing has shown yet. A job has at most one.
struct InFlight {
  pb::Verb verb = pb::VERB_UNSPECIFIED;
  int restarts = 0;
  std::vector<std::string> nodes;
  int gpus = 0;  // on each of them
  BootClock::time_point since;
  std::string decision;
};
using InFlightJobs = std::unordered_map<std::string, InFlight>;

struct ClusterSnapshot {
  pb::DecideRequest request;
  std::unordered_map<std::string, const SlurmJob*> jobs;  // of the request, by id
  std::unordered_map<std::string, int> free;              // GPUs of nodes that are free now
  std::map<std::string, int> left;                        // jobs left to Slurm, by reason
  std::vector<const SlurmJob*> waiting;                   // jobs that the policy decides on
  int held_gpus = 0;  // of jobs and nodes which the policy does not see
};

struct SnapshotInput {
  const Listing& listing;
  const Config& config;
  const Site& site;
  std::string partition;
  double now_s = 0;  // Unix time
  bool needs_lease = true;
  const InFlightJobs& in_flight;
  const std::unordered_map<std::string, EarlierRuns>& earlier;
  // Jobs which Slurm gets for a while, because an action on them failed, with the reason.
  const std::unordered_map<std::string, std::string>& avoided;
};

// Requires: the listing outlives the result.
ClusterSnapshot make_snapshot(const SnapshotInput& input);

}  // namespace yard::slurm
