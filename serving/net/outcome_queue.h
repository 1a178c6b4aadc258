// Outcomes of jobs that wait until a server has accepted them, bounded in number. The oldest
// outcomes are dropped first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serving/snapshot/messages.h"

namespace yard {

class OutcomeQueue {
 public:
  static constexpr size_t kMaxBatch = 500;  // outcomes in one request

  explicit OutcomeQueue(size_t max_outcomes) : max_outcomes_(max_outcomes) {}

  void add(std::string cluster, pb::Outcome outcome) {
    waiting_.push_back({std::move(cluster), std::move(outcome)});
    drop_beyond_bound();
  }

  // Returns a request with the oldest outcomes of one cluster, which remain in the queue until
  // end_batch(). Returns nothing if the queue is empty, or if the last batch has not ended.
  std::optional<pb::ReportOutcomeRequest> begin_batch() {
    if (waiting_.empty() || !batch_.empty()) return std::nullopt;
    pb::ReportOutcomeRequest out;
    out.set_cluster(waiting_.front().cluster);
    std::deque<Entry> others;
    for (Entry& entry : waiting_) {
      if (batch_.size() == kMaxBatch || entry.cluster != out.cluster()) {
        others.push_back(std::move(entry));
        continue;
      }
      *out.add_outcomes() = entry.outcome;
      batch_.push_back(std::move(entry));
    }
    waiting_ = std::move(others);
    return out;
  }

  // Forgets the batch, or puts it back to be sent again.
  void end_batch(bool was_received) {
    if (!was_received) {
      waiting_.insert(waiting_.begin(), std::make_move_iterator(batch_.begin()),
                      std::make_move_iterator(batch_.end()));
    }
    batch_.clear();
    drop_beyond_bound();
  }

  bool in_batch() const { return !batch_.empty(); }
  size_t size() const { return waiting_.size() + batch_.size(); }
  uint64_t dropped() const { return dropped_; }

 private:
  struct Entry {
    std::string cluster;
    pb::Outcome outcome;
  };

  void drop_beyond_bound() {
    while (size() > max_outcomes_ && !waiting_.empty()) {
      waiting_.pop_front();
      ++dropped_;
    }
  }

  const size_t max_outcomes_;
  std::deque<Entry> waiting_;  // the oldest comes first
  std::vector<Entry> batch_;   // outcomes of the request in progress
  uint64_t dropped_ = 0;
};

}  // namespace yard
