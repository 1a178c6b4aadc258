// Detects that the process was paused or its machine slept, so that its knowledge is out of date.
#pragma once

#include <atomic>
#include <thread>

#include "serving/slurm/boot_clock.h"

namespace yard::slurm {

class ExecutionGapDetector {
 public:
  explicit ExecutionGapDetector(std::chrono::milliseconds most = std::chrono::seconds(1));
  ~ExecutionGapDetector();
  ExecutionGapDetector(const ExecutionGapDetector&) = delete;

  // Returns the number of gaps so far, in each of which the process stood still for longer than
  // `most`. A gap that ends with this call counts. A machine that is too busy to run a thread ten
  // times a second causes gaps, too.
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
