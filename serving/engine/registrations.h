// What cluster managers have said that they can carry out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "serving/snapshot/messages.h"

namespace yard {

// Thread-safe.
class Registrations {
 public:
  using Clock = std::chrono::steady_clock;

  // Keeps at most `max_clusters`, those registered last. Epochs rise from `first_epoch`.
  Registrations(size_t max_clusters, uint64_t first_epoch)
      : max_clusters_(max_clusters), last_epoch_(first_epoch) {}

  // Replaces an earlier registration of the cluster. Returns the epoch. Throws InputError if the
  // cluster has no name, or a verb is unknown, and StaleRegistration if a manager with a higher
  // term has sent a request within the last ten minutes.
  uint64_t add(const pb::RegisterRequest& request, Clock::time_point now = Clock::now());

  // Limits a request to what its manager can carry out. Throws StaleRegistration if the request
  // names the epoch of another registration.
  void restrict_to_capabilities(pb::DecideRequest& request, Clock::time_point now = Clock::now());

 private:
  struct ManagerCapabilities {
    std::string cluster;
    uint64_t epoch = 0;
    std::vector<pb::Verb> verbs;   // empty: all
    bool one_job = false;          // plans may start or preempt one job only
    std::optional<uint64_t> term;  // of the manager's leadership
    Clock::time_point used;        // when the manager's last request came
  };

  const size_t max_clusters_;
  std::mutex mutex_;
  std::list<ManagerCapabilities> list_;  // the latest comes first
  uint64_t last_epoch_;
};

// A request of a manager that must register again, as the text says.
class StaleRegistration : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace yard
