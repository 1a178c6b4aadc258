// The thread pool: threads persist between runs, and exceptions thrown on them reach the caller.
#include "env/batch/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace yard {
namespace {

TEST(ThreadPool, RethrowsTheFirstException) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<int> done(8, 0);
    const auto work = [&](int i) {
      if (i == 2 || i == 6) throw std::runtime_error(std::to_string(i));
      done[static_cast<size_t>(i)] = 1;
    };
    try {
      pool.parallel_for_each(8, work);
      ADD_FAILURE();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "2");
    }
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 6);
  }
}

TEST(ThreadPool, InitialisesEachWorkerOnce) {
  std::atomic<int> begun = 0;
  {
    ThreadPool pool(3, [&] { ++begun; });
    pool.parallel_for_each(8, [](int) {});
  }
  EXPECT_EQ(begun, 2);
}

// On a busy machine a thread may start late. Until then the caller does all the work.
TEST(ThreadPool, DoesNotWaitForUnstartedThreads) {
  std::atomic<bool> go = false, gave_up = false;
  ThreadPool pool(2, [&] {
    // Gives up after 30 s, so that a run() that waits for the thread fails instead of hanging.
    for (int i = 0; i < 3000 && !go; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    gave_up = !go;
  });
  std::atomic<int> done = 0;
  for (int round = 0; round < 100; ++round) {
    pool.run(64, [&](int from, int to) { done += to - from; });
  }
  EXPECT_FALSE(gave_up) << "run() waited for a thread that had not begun";
  go = true;
  EXPECT_EQ(done, 6400);
}

// More threads than cores, rounds of every length, some after a pause.
TEST(ThreadPool, RunsEveryPartOnceWithLateThreads) {
  ThreadPool pool(8);
  std::vector<int> done(97, 0);
  for (int round = 0; round < 4000; ++round) {
    const int n = round % 98;
    pool.run(n, [&](int from, int to) {
      for (int i = from; i < to; ++i) ++done[static_cast<size_t>(i)];
    });
    if (round % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int i = 0; i < 97; ++i) {
    int expected = 0;
    for (int round = 0; round < 4000; ++round) expected += round % 98 > i;
    EXPECT_EQ(done[static_cast<size_t>(i)], expected) << i;
  }
}

}  // namespace
}  // namespace yard
