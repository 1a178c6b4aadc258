// Detects that the process was paused or its machine slept, so that its knowledge is out of date.
#pragma once

#include <atomic>
#include <thread>

#include "serving/slurm/boot_clock.h"

namespace yard::slurm {

class GapDetector {
 public:
  explicit GapDetector(std::chrono::milliseconds most = std::chrono::seconds(1));
  ~GapDetector();
  GapDetector(const GapDetector&) = delete;

  // Returns the number of pauses so far, in which the process did not run for longer than `most`. A
  // pause that ends with this call counts. A machine that is too busy to run a thread ten times a
  // second counts as paused, too.
  int gaps();

 private:
  void note(BootClock::time_point now);

  const std::chrono::nanoseconds most_;
  std::atomic<int64_t> last_ns_;
  std::atomic<int> gaps_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace yard::slurm
