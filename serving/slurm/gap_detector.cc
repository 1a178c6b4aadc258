#include "serving/slurm/gap_detector.h"

namespace yard::slurm {

ExecutionGapDetector::ExecutionGapDetector(std::chrono::milliseconds most)
    : most_(most), last_ns_(BootClock::now().time_since_epoch().count()) {
  thread_ = std::thread([this] {
    while (!stop_) {
      note(BootClock::now());
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
}

ExecutionGapDetector::~ExecutionGapDetector() {
  stop_ = true;
  thread_.join();
}

int ExecutionGapDetector::gaps() {
  note(BootClock::now());
  return gaps_.load();
}

// Of two threads after a gap, the one that replaces the old time counts it.
void ExecutionGapDetector::note(BootClock::time_point now) {
  const int64_t last_ns = last_ns_.exchange(now.time_since_epoch().count());
  if (now.time_since_epoch().count() - last_ns > most_.count()) ++gaps_;
}

}  // namespace yard::slurm
