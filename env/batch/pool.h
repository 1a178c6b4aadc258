// Threads that stay: run(n, work) calls work(from, to) for equal parts of [0, n), one a thread.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace yard {

class ThreadPool {
 public:
  explicit ThreadPool(int threads) : size_(threads), begin_(threads), end_(threads) {
    for (int t = 1; t < threads; ++t) {
      threads_.emplace_back([this, t] { serve(t); });
    }
  }

  ~ThreadPool() {
    if (size_ == 1) return;
    quit_ = true;
    begin_.arrive_and_wait();
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
    begin_.arrive_and_wait();
    share(0);
    end_.arrive_and_wait();
  }

 private:
  void serve(int t) {
    for (;;) {
      begin_.arrive_and_wait();
      if (quit_) return;
      share(t);
      end_.arrive_and_wait();
    }
  }

  void share(int t) {
    const int from = static_cast<int>(static_cast<int64_t>(n_) * t / size_);
    const int to = static_cast<int>(static_cast<int64_t>(n_) * (t + 1) / size_);
    (*work_)(from, to);
  }

  int size_;
  std::barrier<> begin_, end_;
  std::vector<std::thread> threads_;
  int n_ = 0;
  const std::function<void(int, int)>* work_ = nullptr;
  bool quit_ = false;
};

}  // namespace yard
