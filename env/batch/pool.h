// Persistent threads: run(n, work) calls work(from, to) for chunks of [0, n). Each thread has a
// fixed, equal part, so that its data stays in its cache. A finished thread helps other threads.
// run() never waits for a thread that has not started: the caller does that thread's work. Between
// runs, a thread spins and yields before it sleeps, since a batch step is shorter than a wake-up.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace yard {

class ThreadPool {
 public:
  // Each new thread calls `begin` once before it works; the caller's thread does not call `begin`.
  explicit ThreadPool(
      int threads, const std::function<void()>& begin = [] {})
      : parts_(static_cast<size_t>(threads)) {
    for (int t = 1; t < threads; ++t) {
      threads_.emplace_back([this, t, begin] {
        begin();
        serve(t);
      });
    }
  }

  ~ThreadPool() {
    quit_ = true;
    open_round();
    for (std::thread& thread : threads_) thread.join();
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls `work` for chunks of [0, n). Requires: `work` does not throw.
  void run(int n, const std::function<void(int, int)>& work, int chunk = kChunk) {
    chunk_ = chunk;
    if (parts_.size() == 1) {
      work(0, n);
      return;
    }
    const auto parts = static_cast<int64_t>(parts_.size());
    for (int64_t t = 0; t < parts; ++t) {
      Part& part = parts_[static_cast<size_t>(t)];
      part.next.store(static_cast<int32_t>(n * t / parts), std::memory_order_relaxed);
      part.end = static_cast<int32_t>(n * (t + 1) / parts);
    }
    work_ = &work;
    open_round();
    share(0);
    // All work is taken. Close the round to threads that come late, and wait for the threads that
    // are still at work.
    uint64_t now = gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    while ((now & kWorking) != 0) {
      wait_while(gate_, now);
      now = gate_.load(std::memory_order_acquire);
    }
  }

  // Calls work(i) for each i of [0, n), for few long items. When all calls have ended, rethrows the
  // exception of the lowest i whose call threw.
  void parallel_for_each(int n, const std::function<void(int)>& work) {
    std::vector<std::exception_ptr> thrown(static_cast<size_t>(n));
    const auto some = [&](int from, int to) {
      for (int i = from; i < to; ++i) {
        try {
          work(i);
        } catch (...) {
          thrown[static_cast<size_t>(i)] = std::current_exception();
        }
      }
    };
    run(n, some, 1);
    for (const std::exception_ptr& e : thrown) {
      if (e) std::rethrow_exception(e);
    }
  }

 private:
  static constexpr int kChunk = 4;

  // Aligned to avoid false sharing between threads.
  struct alignas(64) Part {
    std::atomic<int32_t> next = 0;
    int32_t end = 0;
  };

  // Bits of gate_: the number of the round, whether threads may still join the round, and how many
  // threads are at work.
  static constexpr uint64_t kWorking = (uint64_t{1} << 31) - 1;
  static constexpr uint64_t kOpen = uint64_t{1} << 31;
  static constexpr int kRoundShift = 32;

  static uint32_t round_of(uint64_t gate) { return static_cast<uint32_t>(gate >> kRoundShift); }

  // Requires: the last round is closed and no thread is at work.
  void open_round() {
    const uint32_t next = round_of(gate_.load(std::memory_order_relaxed)) + 1;
    gate_.store((uint64_t{next} << kRoundShift) | kOpen, std::memory_order_release);
    gate_.notify_all();
  }

  // Returns once `value` is not `old`.
  static void wait_while(const std::atomic<uint64_t>& value, uint64_t old) {
    using Clock = std::chrono::steady_clock;
    constexpr int kLooks = 100;  // reads of `value` before yielding; they take 1 to 5 us
    constexpr auto kYielding = std::chrono::microseconds(50);
    const auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
    for (int i = 0; i < kLooks; ++i) {
      if (changed()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    for (const auto end = Clock::now() + kYielding; Clock::now() < end;) {
      if (changed()) return;
      sched_yield();
    }
    value.wait(old, std::memory_order_acquire);
  }

  // Waits for a round other than `round` and stores the number of the new round in `round`. Returns
  // true if the thread joined the round while it was open.
  bool join(uint32_t& round) {
    uint64_t now = gate_.load(std::memory_order_acquire);
    while (round_of(now) == round) {
      wait_while(gate_, now);
      now = gate_.load(std::memory_order_acquire);
    }
    round = round_of(now);
    while ((now & kOpen) != 0) {
      if (gate_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        round = round_of(now);
        return true;
      }
    }
    return false;
  }

  void serve(int t) {
    for (uint32_t round = 0;;) {
      if (!join(round)) continue;
      if (quit_) return;
      share(t);
      const uint64_t before = gate_.fetch_sub(1, std::memory_order_acq_rel);
      if ((before & (kOpen | kWorking)) == 1) gate_.notify_all();
    }
  }

  // Does the thread's own part of the work, then what is left of other threads' parts.
  void share(int t) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(static_cast<size_t>(t) + i) % parts_.size()];
      while (part.next.load(std::memory_order_relaxed) < part.end) {
        const int32_t from = part.next.fetch_add(chunk_, std::memory_order_relaxed);
        if (from < part.end) (*work_)(from, std::min(from + chunk_, part.end));
      }
    }
  }

  std::vector<Part> parts_;  // one part per thread
  std::vector<std::thread> threads_;
  alignas(64) std::atomic<uint64_t> gate_ = 0;
  const std::function<void(int, int)>* work_ = nullptr;
  int chunk_ = kChunk;
  bool quit_ = false;
};

}  // namespace yard
