// Groups of pods that start together or not at all: nodes are reserved for all pods of a group at
// once, for a bounded time. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "serving/kubernetes/free_gpus.h"
#include "serving/kubernetes/objects.h"

namespace yard::kubernetes {

class PodGroups {
 public:
  using Clock = FreeGpuEstimator::Clock;
  using Time = FreeGpuEstimator::Time;

  // A reservation lasts for `hold` at most. A group is forgotten if no pod of it is seen for
  // `memory`.
  PodGroups(Clock::duration hold, Clock::duration memory) : hold_(hold), memory_(memory) {}

  // Returns the node on which the pod of a group has to start, or "" while the group lacks room:
  // then `why` says what is missing. `offered`: nodes with room for this pod. `free`: GPUs that are
  // certainly free on a node, reservations not subtracted. `running`: pods of the group that hold
  // their GPUs as last reported. Requires: pod.group with a known size, and pod.gpus > 0.
  std::string place(const PodRequest& pod, std::span<const std::string> offered,
                    const std::function<int32_t(const std::string&)>& free,
                    const std::unordered_set<std::string>& running, Time now, std::string& why);

  // Returns the GPUs of a node that are reserved for groups other than `group`.
  int32_t gpus_reserved_by_others(const std::string& node, const std::string& group) const;

  // Ends reservations whose time is over. Call expire() before any other function.
  void expire(Time now);

  int32_t waiting() const;  // number of groups that lack room
  uint64_t expired_reservations() const { return expired_; }

 private:
  struct PodReservation {
    std::string node;
    int32_t gpus;
    std::string pod;  // empty: still reserved; otherwise the pod that got it
  };
  struct Group {
    std::vector<PodReservation> slots = {};
    Time until = {};  // time at which the slots that are still reserved expire
    Time seen = {};
    bool waits = false;
  };

  void release(Group& group);

  const Clock::duration hold_, memory_;
  std::unordered_map<std::string, Group> groups_;
  std::unordered_map<std::string, int32_t> reserved_;  // GPUs by node, of all groups
  uint64_t expired_ = 0;
};

}  // namespace yard::kubernetes
