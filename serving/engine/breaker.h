// A circuit breaker for a policy. The breaker opens if the policy fails too often, and a heuristic
// decides. A half-open breaker lets the policy make some decisions on trial. Thread-safe.
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
  double failed_share = 0.2;  // share of failed decisions above which the breaker opens; 1: never
  int at_least = 20;          // fewest counted decisions at which the breaker may open
  int window = 100;           // largest number of latest decisions that are counted
  double window_s = 60;       // age in seconds above which decisions are not counted
  double open_s = 30;  // seconds the breaker is open at first; doubled after each failed trial
  double max_open_s = 600;
  int trial_every = 20;  // while half-open, one of so many decisions is a trial
  double trial_s = 5;    // seconds after a trial at which the next decision is a trial, too
  int trials = 10;       // successful trials in a row that close the breaker
};

class Breaker {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State { kClosed, kOpen, kHalfOpen };

  explicit Breaker(const BreakerOptions& options) : options_(options) {}

  // Returns whether the policy may make the next decision.
  bool admits(Time now);
  // Counts a decision of the policy, which succeeded or failed.
  void add(bool failed, Time now);
  void reset();  // closes the breaker and forgets all decisions

  State state(Time now) const;
  uint64_t times_opened() const;
  std::string detail(Time now) const;  // why the breaker is not closed; empty: it is closed

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
  int failures_ = 0, counted_ = 0;  // failed and counted decisions when the breaker opened
  std::deque<Decision> last_;
};

// "closed", "open", "half-open".
std::string breaker_state_name(Breaker::State state);

}  // namespace yard
