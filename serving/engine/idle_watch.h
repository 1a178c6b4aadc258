// Notices policies that leave GPUs idle although jobs wait which need no more. By the time of the
// snapshots. Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

// Whether the answer starts jobs on more GPUs than it takes from others.
bool uses_idle_gpus(const pb::DecideRequest& request, const pb::DecideResponse& answer);

class IdleWatch {
 public:
  // Remembers the clusters used last. `max_idle_s` 0: notices nothing.
  IdleWatch(double max_idle_s, size_t max_count) : max_idle_s_(max_idle_s), max_count_(max_count) {}

  // Returns for how long the policy has left GPUs idle, this answer included, if that is longer
  // than allowed; else 0. `key`: names the cluster and the policy.
  double idle_s(const std::string& key, const pb::DecideRequest& request,
                const pb::DecideResponse& answer);
  // No waiting job could start after all: its time counts from now on.
  void restart(const std::string& key, double now_s);

 private:
  struct Entry {
    std::string key;
    double since_s;  // no answer has started or preempted a job since
  };

  const double max_idle_s_;
  const size_t max_count_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last is first
};

}  // namespace yard
