// Threads that stay, and what is thrown on one of them.
#include "env/batch/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace yard {
namespace {

TEST(ThreadPool, ThrowsWhatTheFirstOfThemThrew) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<int> done(8, 0);
    const auto work = [&](int i) {
      if (i == 2 || i == 6) throw std::runtime_error(std::to_string(i));
      done[static_cast<size_t>(i)] = 1;
    };
    try {
      pool.each(8, work);
      ADD_FAILURE();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "2");
    }
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 6);
  }
}

TEST(ThreadPool, EveryThreadButTheCallersBeginsOnce) {
  std::atomic<int> begun = 0;
  {
    ThreadPool pool(3, [&] { ++begun; });
    pool.each(8, [](int) {});
  }
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace yard
