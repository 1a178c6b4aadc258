#include "serving/engine/alarm.h"

namespace yard {

Alarm::Alarm() : thread_([this] { run(); }) {}

Alarm::~Alarm() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Alarm::at(Clock::time_point when, std::function<void()> call) {
  bool first;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = calls_.emplace(when, std::move(call));
    first = entry == calls_.begin();
  }
  if (first) changed_.notify_one();
}

void Alarm::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (calls_.empty()) {
      if (ending_) return;
      changed_.wait(lock);
      continue;
    }
    const Clock::time_point when = calls_.begin()->first;
    if (!ending_ && Clock::now() < when) {
      changed_.wait_until(lock, when);
      continue;
    }
    const auto call = std::move(calls_.begin()->second);
    calls_.erase(calls_.begin());
    lock.unlock();
    call();
    lock.lock();
  }
}

}  // namespace yard
