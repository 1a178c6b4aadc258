// The threads of an engine: a pool which runs policies, and an alarm.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace yard {

// A thread which runs callbacks at given times.
class CallbackTimer {
 public:
  using Clock = std::chrono::steady_clock;

  CallbackTimer();
  ~CallbackTimer();  // runs all pending callbacks at once
  CallbackTimer(const CallbackTimer&) = delete;

  using Key = std::pair<Clock::time_point, uint64_t>;

  Key at(Clock::time_point when, std::function<void()> call);
  // Forgets a callback that has not begun.
  void cancel(const Key& key);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::function<void()>> calls_;
  uint64_t last_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

// A thread pool for policies. A policy which hangs blocks its thread, never the server: the pool
// refuses work if the queue is full or all threads hang. The destructor does not wait for stuck
// work.
class Workers {
 public:
  // A handle on submitted work.
  class Ticket {
   public:
    virtual ~Ticket() = default;
    // Abandons the work: it counts as stuck until it ends. Work which has not begun is dropped.
    virtual void abandon() = 0;
  };

  Workers(int threads, int max_waiting);
  ~Workers();  // waits for work which was not abandoned
  Workers(const Workers&) = delete;

  // Returns null if the work is refused. Abandoned work may outlive this object and must own all it
  // uses.
  std::shared_ptr<Ticket> submit(std::function<void()> work);

  int stuck() const;

 private:
  struct Shared;
  struct Work;
  static void run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace yard
