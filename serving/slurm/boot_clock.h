// A clock that never goes back and, unlike steady_clock, counts the time in which a machine slept.
#pragma once

#include <chrono>
#include <ctime>

namespace yard::slurm {

struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec at{};
    clock_gettime(CLOCK_BOOTTIME, &at);
    return time_point(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
  }
};

inline double seconds_since(BootClock::time_point then) {
  return std::chrono::duration<double>(BootClock::now() - then).count();
}

}  // namespace yard::slurm
