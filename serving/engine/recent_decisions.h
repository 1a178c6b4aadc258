// The last decisions of a server, for explanations.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "serving/engine/model_store.h"
#include "serving/engine/state_store.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct RecentDecision {
  std::shared_ptr<const StateHistory> history;  // of the state for which the decision was made
  int num_jobs = 0;                             // in that state
  pb::DecideResponse response;
  // The decider: a model, or a heuristic if that is null.
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Policy> heuristic;
};

// Thread-safe.
class RecentDecisions {
 public:
  RecentDecisions(size_t max_count, size_t max_bytes)
      : max_count_(max_count), max_bytes_(max_bytes) {}

  // Returns the old decisions that made room. The caller may destroy them when it has time.
  std::vector<std::shared_ptr<const RecentDecision>> add(
      std::shared_ptr<const RecentDecision> decision);
  // Returns null if there is no decision with this id, or no longer.
  std::shared_ptr<const RecentDecision> find(const std::string& decision_id) const;

 private:
  struct Entry {
    std::shared_ptr<const RecentDecision> decision;
    size_t bytes = 0;
  };

  const size_t max_count_, max_bytes_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // the oldest comes first
  size_t bytes_ = 0;
};

}  // namespace yard
