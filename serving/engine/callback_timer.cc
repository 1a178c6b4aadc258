#include "serving/engine/callback_timer.h"

namespace yard {

CallbackTimer::CallbackTimer() : thread_([this] { run(); }) {}

CallbackTimer::~CallbackTimer() {
  {
    const std::lock_guard lock(mutex_);
    hurries_ = ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

CallbackTimer::Key CallbackTimer::at(Clock::time_point when, std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  const Key key(when, ++last_);
  calls_.emplace(key, std::move(call));
  if (when < wakes_at_) changed_.notify_one();
  return key;
}

void CallbackTimer::cancel(const Key& key) {
  std::function<void()> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto entry = calls_.find(key);
  if (entry == calls_.end()) return;
  dropped = std::move(entry->second);
  calls_.erase(entry);
}

void CallbackTimer::run_all_now() {
  const std::lock_guard lock(mutex_);
  hurries_ = true;
  changed_.notify_one();
}

void CallbackTimer::run() {
  std::unique_lock lock(mutex_);
  const auto wait_until = [&](Clock::time_point when) {
    wakes_at_ = when;
    if (when == Clock::time_point::max()) {  // wait_until() would overflow
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, when);
    }
    wakes_at_ = Clock::time_point::min();
  };
  for (;;) {
    if (calls_.empty()) {
      if (ending_) return;
      wait_until(Clock::time_point::max());
      continue;
    }
    const Clock::time_point when = calls_.begin()->first.first;
    if (!hurries_ && Clock::now() < when) {
      wait_until(when);
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
