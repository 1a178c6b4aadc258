// A circuit breaker in front of a policy. When too many of its last decisions failed, others decide
// for a while; then some decisions are given to it on trial. Thread-safe.
//
//   closed --too many failures--> open --its time is over--> half-open --enough successes--> closed
//                                   ^------------- a failure --------------'
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace yard {

struct BreakerOptions {
  double failed_share = 0.2;  // of the last decisions; 1: the breaker never opens
  int at_least = 20;          // decisions before it may open
  int window = 100;           // decisions at most that count
  double window_s = 60;       // and none older
  double open_s = 30;         // at first; twice as long after each failed trial
  double max_open_s = 600;
  int trial_every = 20;  // decisions, of which one is a trial while half-open
  double trial_s = 5;    // and a trial after this time, if there are few decisions
  int trials = 10;       // that must succeed in a row
};

class Breaker {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State { kClosed, kOpen, kHalfOpen };

  explicit Breaker(const BreakerOptions& options) : options_(options) {}

  // Returns whether the policy may make the next decision.
  bool admits(Time now);
  // Counts a decision which the policy made or failed to make.
  void add(bool failed, Time now);
  void reset();  // closed, with no decisions counted

  State state(Time now) const;
  uint64_t times_opened() const;
  std::string detail(Time now) const;  // why it is not closed, in words

 private:
  struct Decision {
    Time at;
    bool failed;
  };

  void open(Time now);

  const BreakerOptions options_;
  mutable std::mutex mutex_;
  bool closed_ = true;
  Time opened_at_, last_trial_;
  double open_s_ = 0;
  int since_trial_ = 0, succeeded_ = 0;
  uint64_t times_opened_ = 0;
  int failures_ = 0, counted_ = 0;  // when it opened
  std::deque<Decision> last_;
};

// "closed", "open", "half-open".
std::string breaker_state_name(Breaker::State state);

}  // namespace yard
