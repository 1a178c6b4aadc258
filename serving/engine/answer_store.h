// The answers to recent requests that carry an id. A manager which lost an answer sends its request
// again and gets the same answer, instead of a second plan for the same GPUs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/snapshot/messages.h"

namespace yard {

// Thread-safe.
class AnswerStore {
 public:
  using Clock = std::chrono::steady_clock;
  using Answer = std::shared_ptr<const pb::DecideResponse>;
  // Gets the answer to an equal request, or null and the reason why that request was refused.
  using Waiter = std::function<void(const Answer& answer, const pb::Refusal& refusal)>;

  struct Options {
    size_t max_answers = 4096;
    size_t max_bytes = size_t{64} << 20;  // of all answers together
    std::chrono::seconds lifetime{600};   // of an answer
  };

  enum class Match {
    kNone,        // no request with this id: the caller must decide, and call keep() or refuse()
    kAnswered,    // an equal request was answered
    kInProgress,  // an equal request is in progress: `waiter` will be called
    kDifferent,   // the id belongs to a request with another content
  };
  struct FindResult {
    Match match = Match::kNone;
    Answer answer;  // for kAnswered
  };

  explicit AnswerStore(const Options& options) : options_(options) {}

  // Looks for the request with this `key` (sender and id). `content` is equal for equal requests
  // only.
  FindResult find_or_begin(const std::string& key, const std::string& content,
                           Clock::time_point now, Waiter waiter);
  // keep() and refuse() end the request which began with this key, and call its waiters. Only
  // keep() stores an answer.
  void keep(const std::string& key, Answer answer, Clock::time_point now);
  void refuse(const std::string& key, const pb::Refusal& refusal);

  size_t count() const;

 private:
  struct Entry {
    std::string key, content;
    Answer answer;  // null: in progress
    size_t bytes = 0;
    Clock::time_point expires;
    std::vector<Waiter> waiters;
  };
  using Entries = std::list<Entry>;

  // erase() and drop_expired_and_excess() require the lock.
  void erase(Entries::iterator entry);
  void drop_expired_and_excess(Clock::time_point now);

  const Options options_;
  mutable std::mutex mutex_;
  Entries entries_;  // the answer given last comes first
  std::unordered_map<std::string, Entries::iterator> by_key_;
  size_t bytes_ = 0;
};

}  // namespace yard
