// Limits on how often a server lets policies preempt running jobs. The server counts preemptions in
// its own answers, by the times of the snapshots. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "serving/snapshot/messages.h"
#include "serving/snapshot/preemption_bounds.h"

namespace yard {

struct PreemptionLimitOptions {
  double interval_s = 600;  // period of `gpu_share` in seconds, at most an hour
  double gpu_share = 0.1;   // share of all GPUs preempted per `interval_s` at most; 1: no limit
  int per_job = 6;          // most preemptions of one job within an hour
  double min_run_s = 60;    // seconds that a job runs before it may be preempted
};

class PreemptionLimits {
 public:
  // Remembers the preemptions of the `max_clusters` clusters seen last.
  PreemptionLimits(const PreemptionLimitOptions& options, size_t max_clusters)
      : options_(options), max_clusters_(max_clusters) {}

  // Returns which jobs and GPUs a decision on the snapshot may preempt. `sender` names the cluster
  // if the request does not.
  PreemptionBounds bounds_of(const pb::DecideRequest& request, const std::string& sender);
  // Counts the preemptions of a legal answer. A job that runs on because the cluster manager has
  // not preempted it yet counts once, however often the answers preempt it.
  void count(const pb::DecideRequest& request, const std::string& sender,
             const pb::DecideResponse& response);

 private:
  // A run of a job, as its cluster manager reports it.
  struct JobRun {
    uint64_t stops_and_starts = 0;
    double since_s = 0;
    friend bool operator==(const JobRun&, const JobRun&) = default;
  };
  struct Preemption {
    double at_s;
    int64_t gpus;
    std::string job;
  };
  struct JobPreemptions {
    int count = 0;                // number of the job's preemptions in `last`
    bool is_carried_out = false;  // the job's last preemption has taken effect
    JobRun run;                   // the run which the job's last preemption ends
  };
  struct Cluster {
    std::string name;
    std::deque<Preemption> last;  // preemptions in the last hour
    std::unordered_map<std::string, JobPreemptions> jobs;
  };

  static JobRun run_of(const pb::Job& job);

  Cluster& cluster_of(const pb::DecideRequest& request, const std::string& sender);
  void forget_old_preemptions(Cluster& cluster, double now_s) const;

  const PreemptionLimitOptions options_;
  const size_t max_clusters_;
  std::mutex mutex_;
  std::list<Cluster> clusters_;  // the cluster seen last comes first
};

}  // namespace yard
