// Limits on how often a server lets policies disturb running jobs. It counts the preemptions in its
// own answers, by the time of the snapshots. Thread-safe.
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
  double interval_s = 600;  // at most an hour
  double gpu_share = 0.1;   // of the cluster's GPUs, within the interval; 1 or more: no limit
  int per_job = 6;          // within an hour
  double min_run_s = 60;    // a job runs at least so long before it is preempted
};

class PreemptionLimits {
 public:
  // Remembers the clusters used last.
  PreemptionLimits(const PreemptionLimitOptions& options, size_t max_clusters)
      : options_(options), max_clusters_(max_clusters) {}

  // Returns what a decision on the snapshot may do. `sender`: names the cluster, if the request
  // does not.
  PreemptionBounds bounds_of(const pb::DecideRequest& request, const std::string& sender);
  // Counts the preemptions of an answer. A job that runs on because the cluster manager has not
  // preempted it yet counts once, however often the answers preempt it. Requires: a legal answer.
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
  struct OfJob {
    int count = 0;                // in `last`
    bool is_carried_out = false;  // the last of them
    JobRun run;                   // which that one preempts
  };
  struct Cluster {
    std::string name;
    std::deque<Preemption> last;  // of the last hour
    std::unordered_map<std::string, OfJob> jobs;
  };

  static JobRun run_of(const pb::Job& job);

  Cluster& cluster_at(const pb::DecideRequest& request, const std::string& sender);
  void forget(Cluster& cluster, double now_s) const;

  const PreemptionLimitOptions options_;
  const size_t max_clusters_;
  std::mutex mutex_;
  std::list<Cluster> clusters_;  // the one used last is first
};

}  // namespace yard
