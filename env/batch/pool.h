// Threads that stay: run(n, work) calls work(from, to) for equal parts of [0, n), one a thread.
// Between two runs a thread looks for more work for a while before it sleeps: a step of a batch
// takes less time than waking up does.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace yard {

class ThreadPool {
 public:
  explicit ThreadPool(int threads) : size_(threads) {
    for (int t = 1; t < threads; ++t) {
      threads_.emplace_back([this, t] { serve(t); });
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
  void run(int n, const std::function<void(int, int)>& work) {
    if (size_ == 1) {
      work(0, n);
      return;
    }
    n_ = n;
    work_ = &work;
    busy_.store(size_ - 1, std::memory_order_relaxed);
    announce();
    share(0);
    for (int32_t busy = busy_.load(std::memory_order_acquire); busy != 0;
         busy = busy_.load(std::memory_order_acquire)) {
      wait_while(busy_, busy);
    }
  }

 private:
  void announce() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  // Returns once the value is another one.
  static void wait_while(const std::atomic<int32_t>& value, int32_t old) {
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
    for (int32_t round = 0;; ++round) {
      wait_while(round_, round);
      if (quit_) return;
      share(t);
      if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
    }
  }

  void share(int t) {
    const int from = static_cast<int>(static_cast<int64_t>(n_) * t / size_);
    const int to = static_cast<int>(static_cast<int64_t>(n_) * (t + 1) / size_);
    (*work_)(from, to);
  }

  int size_;
  std::vector<std::thread> threads_;
  std::atomic<int32_t> round_ = 0;  // rises with every run
  std::atomic<int32_t> busy_ = 0;   // threads that are still at it
  int n_ = 0;
  const std::function<void(int, int)>* work_ = nullptr;
  bool quit_ = false;
};

}  // namespace yard
