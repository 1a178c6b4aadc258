// Detects policies that leave GPUs idle although a waiting job needs no more GPUs than are free.
// The times of the snapshots measure how long GPUs are idle. Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

// Returns whether the answer starts jobs on more GPUs than its preemptions free.
bool uses_idle_gpus(const pb::DecideRequest& request, const pb::DecideResponse& answer);

class IdleWatch {
 public:
  // Watches the `max_count` clusters seen last. If `max_idle_s` is 0, the watch is off.
  IdleWatch(double max_idle_s, size_t max_count) : max_idle_s_(max_idle_s), max_count_(max_count) {}

  // Returns the seconds for which a policy has left GPUs idle, up to `answer`, or 0 if they do not
  // exceed `max_idle_s`. `key` names the cluster and the policy.
  double update_idle_s(const std::string& key, const pb::DecideRequest& request,
                       const pb::DecideResponse& answer);
  // Counts idle time from `now_s` on: the free GPUs turned out to fit no waiting job.
  void restart(const std::string& key, double now_s);

 private:
  struct Entry {
    std::string key;
    double since_s;  // time of the first answer in the idle period
  };

  const double max_idle_s_;
  const size_t max_count_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the entry used last comes first
};

}  // namespace yard
