#include "serving/engine/recent_decisions.h"

#include <utility>

namespace yard {

std::vector<std::shared_ptr<const RecentDecision>> RecentDecisions::add(
    std::shared_ptr<const RecentDecision> decision) {
  const size_t bytes = decision->history->bytes() + decision->response.ByteSizeLong();
  std::vector<std::shared_ptr<const RecentDecision>> dropped;
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(decision), bytes});
  bytes_ += bytes;
  while (entries_.size() > max_count_ || (bytes_ > max_bytes_ && !entries_.empty())) {
    bytes_ -= entries_.front().bytes;
    dropped.push_back(std::move(entries_.front().decision));
    entries_.pop_front();
  }
  return dropped;
}

std::shared_ptr<const RecentDecision> RecentDecisions::find(const std::string& decision_id) const {
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) {
    if (it->decision->response.decision_id() == decision_id) return it->decision;
  }
  return nullptr;
}

}  // namespace yard
