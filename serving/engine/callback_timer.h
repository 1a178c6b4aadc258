#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace yard {

// A thread which runs callbacks at given times.
class CallbackTimer {
 public:
  using Clock = std::chrono::steady_clock;

  CallbackTimer();
  ~CallbackTimer();  // runs all pending callbacks immediately
  CallbackTimer(const CallbackTimer&) = delete;

  using Key = std::pair<Clock::time_point, uint64_t>;

  Key at(Clock::time_point when, std::function<void()> call);
  // Cancels a callback that has not begun to run.
  void cancel(const Key& key);
  // Runs all pending callbacks now, and later callbacks as soon as they are added.
  void run_all_now();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::function<void()>> calls_;
  // Time at which the sleeping thread wakes up by itself. A new callback wakes the thread only if
  // it is due before `wakes_at_`.
  Clock::time_point wakes_at_ = Clock::time_point::min();
  uint64_t last_ = 0;
  bool hurries_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace yard
