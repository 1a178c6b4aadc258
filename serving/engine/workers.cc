#include "serving/engine/workers.h"

#include <deque>

namespace yard {

CallbackTimer::CallbackTimer() : thread_([this] { run(); }) {}

CallbackTimer::~CallbackTimer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

CallbackTimer::Key CallbackTimer::at(Clock::time_point when, std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  const auto entry = calls_.emplace(Key(when, ++last_), std::move(call)).first;
  if (entry == calls_.begin()) changed_.notify_one();
  return entry->first;
}

void CallbackTimer::cancel(const Key& key) {
  std::function<void()> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto entry = calls_.find(key);
  if (entry == calls_.end()) return;
  dropped = std::move(entry->second);
  calls_.erase(entry);
}

void CallbackTimer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (calls_.empty()) {
      if (ending_) return;
      changed_.wait(lock);
      continue;
    }
    const Clock::time_point when = calls_.begin()->first.first;
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

// State shared by the threads. It lives as long as the last of them.
struct Workers::Shared {
  std::mutex mutex;
  std::condition_variable changed;   // work arrived, or the pool ends
  std::condition_variable all_over;  // a thread ended or hangs
  std::deque<std::shared_ptr<Work>> waiting;
  int threads = 0;
  int alive = 0;
  int stuck = 0;
  int max_waiting = 0;
  bool ending = false;
};

struct Workers::Work final : Workers::Ticket {
  enum class Stage { kWaiting, kWorking, kStuck, kOver };

  void abandon() override {
    std::function<void()> dropped;  // destroyed after the lock is released
    const std::lock_guard lock(shared->mutex);
    if (stage == Stage::kWaiting) {
      stage = Stage::kOver;
      dropped = std::move(work);
      std::erase_if(shared->waiting, [this](const auto& work) { return work.get() == this; });
    } else if (stage == Stage::kWorking) {
      stage = Stage::kStuck;
      ++shared->stuck;
      shared->all_over.notify_all();
    }
  }

  std::shared_ptr<Shared> shared;
  std::function<void()> work;
  Stage stage = Stage::kWaiting;
};

Workers::Workers(int threads, int max_waiting) : shared_(std::make_shared<Shared>()) {
  shared_->threads = shared_->alive = threads;
  shared_->max_waiting = max_waiting;
  for (int i = 0; i < threads; ++i) {
    std::thread([shared = shared_] { run(shared); }).detach();
  }
}

Workers::~Workers() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  shared_->all_over.wait(lock, [this] { return shared_->alive == shared_->stuck; });
}

std::shared_ptr<Workers::Ticket> Workers::submit(std::function<void()> work) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->stuck >= shared_->threads) return nullptr;
  if (static_cast<int>(shared_->waiting.size()) >= shared_->max_waiting) return nullptr;
  auto ticket = std::make_shared<Work>();
  ticket->shared = shared_;
  ticket->work = std::move(work);
  shared_->waiting.push_back(ticket);
  shared_->changed.notify_one();
  return ticket;
}

int Workers::stuck() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->stuck;
}

void Workers::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->ending || !shared->waiting.empty(); });
    if (shared->waiting.empty()) break;
    const std::shared_ptr<Work> work = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    work->stage = Work::Stage::kWorking;
    lock.unlock();
    work->work();
    work->work = nullptr;  // destroy captured objects before taking the lock
    lock.lock();
    if (work->stage == Work::Stage::kStuck) --shared->stuck;
    work->stage = Work::Stage::kOver;
  }
  --shared->alive;
  shared->all_over.notify_all();
}

}  // namespace yard
