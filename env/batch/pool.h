// Threads that stay: run(n, work) calls work(from, to) for chunks of [0, n). Each thread has an
// equal part, the same in every run, so that what it works on stays in its cache; who is done helps
// the others, so that a thread that the machine holds up holds up nobody. Between two runs a thread
// looks for more work for a while before it sleeps: a step of a batch takes less time than waking
// up does.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace yard {

class ThreadPool {
 public:
  // `begin` is called on each thread but the caller's before anything else.
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
    announce();
    for (std::thread& thread : threads_) thread.join();
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // `work` must not throw.
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
    busy_.store(static_cast<uint32_t>(parts) - 1, std::memory_order_relaxed);
    announce();
    share(0);
    for (uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0;
         busy = busy_.load(std::memory_order_acquire)) {
      wait_while(busy_, busy);
    }
  }

  // Calls work(i) for each i of [0, n), which are few and take long; what the first of them throws
  // is thrown on when all are done.
  void each(int n, const std::function<void(int)>& work) {
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

  // On a cache line of its own.
  struct alignas(64) Part {
    std::atomic<int32_t> next = 0;
    int32_t end = 0;
  };

  void announce() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  // Returns once the value is another one.
  static void wait_while(const std::atomic<uint32_t>& value, uint32_t old) {
    constexpr int kLooks = 4'000;  // some 50 us
    for (int i = 0; i < kLooks; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
  }

  void serve(int t) {
    for (uint32_t round = 0;; ++round) {
      wait_while(round_, round);
      if (quit_) return;
      share(t);
      if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
    }
  }

  // Works off its own part, then what the next ones have left.
  void share(int t) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(static_cast<size_t>(t) + i) % parts_.size()];
      while (part.next.load(std::memory_order_relaxed) < part.end) {
        const int32_t from = part.next.fetch_add(chunk_, std::memory_order_relaxed);
        if (from < part.end) (*work_)(from, std::min(from + chunk_, part.end));
      }
    }
  }

  std::vector<Part> parts_;  // one a thread
  std::vector<std::thread> threads_;
  std::atomic<uint32_t> round_ = 0;  // rises with every run
  std::atomic<uint32_t> busy_ = 0;   // threads that are still at it
  const std::function<void(int, int)>* work_ = nullptr;
  int chunk_ = kChunk;
  bool quit_ = false;
};

}  // namespace yard
