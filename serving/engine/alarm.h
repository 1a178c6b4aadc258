// A thread which runs callbacks at given times.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace yard {

class Alarm {
 public:
  using Clock = std::chrono::steady_clock;

  Alarm();
  ~Alarm();  // runs all pending callbacks at once
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void at(Clock::time_point when, std::function<void()> call);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::function<void()>> calls_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace yard
