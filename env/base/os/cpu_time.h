// CPU time used by this process, or by one of its threads.
#pragma once

#include <ctime>

namespace yard {

inline double clock_cpu_s(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double process_cpu_s() { return clock_cpu_s(CLOCK_PROCESS_CPUTIME_ID); }  // of all threads
inline double thread_cpu_s() {
  return clock_cpu_s(CLOCK_THREAD_CPUTIME_ID);
}  // CPU time of the calling thread

}  // namespace yard
