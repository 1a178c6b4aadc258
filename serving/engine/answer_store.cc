#include "serving/engine/answer_store.h"

#include <iterator>
#include <utility>

namespace yard {

AnswerStore::FindResult AnswerStore::find_or_begin(const std::string& key,
                                                   const std::string& content,
                                                   Clock::time_point now, Waiter waiter) {
  const std::lock_guard lock(mutex_);
  drop_expired_and_excess(now);
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) {
    entries_.push_front({key, content, nullptr, 0, Clock::time_point::max(), {}});
    by_key_.emplace(key, entries_.begin());
    return {};
  }
  Entry& entry = *it->second;
  if (entry.content != content) return {Match::kDifferent, nullptr};
  if (entry.answer != nullptr) return {Match::kAnswered, entry.answer};
  entry.waiters.push_back(std::move(waiter));
  return {Match::kInProgress, nullptr};
}

void AnswerStore::keep(const std::string& key, Answer answer, Clock::time_point now) {
  std::vector<Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = by_key_.at(key);
    waiters = std::exchange(entry->waiters, {});
    entry->answer = answer;
    entry->bytes = answer->ByteSizeLong() + key.size();
    entry->expires = now + options_.lifetime;
    bytes_ += entry->bytes;
    entries_.splice(entries_.begin(), entries_, entry);
    drop_expired_and_excess(now);
  }
  for (const Waiter& waiter : waiters) waiter(answer, {});
}

void AnswerStore::refuse(const std::string& key, const pb::Refusal& refusal) {
  std::vector<Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = by_key_.at(key);
    waiters = std::exchange(entry->waiters, {});
    erase(entry);
  }
  for (const Waiter& waiter : waiters) waiter(nullptr, refusal);
}

size_t AnswerStore::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void AnswerStore::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

// Requests in progress stay: the engine bounds their number.
void AnswerStore::drop_expired_and_excess(Clock::time_point now) {
  for (auto it = entries_.end(); it != entries_.begin();) {
    --it;
    const bool too_many = entries_.size() > options_.max_answers || bytes_ > options_.max_bytes;
    if (it->answer == nullptr) continue;
    if (!too_many && it->expires > now) break;
    erase(std::exchange(it, std::next(it)));
  }
}

}  // namespace yard
