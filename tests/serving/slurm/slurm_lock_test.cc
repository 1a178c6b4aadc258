// One leader at a time: by a lock that needs no common clock, and a clock that notices gaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "env/base/core/error.h"
#include "serving/slurm/gap_detector.h"
#include "serving/slurm/leader_lock.h"
#include "tests/serving/requests.h"

namespace yard::slurm {
namespace {

using yard::testing::TempFolder;
using namespace std::chrono_literals;

// Long enough that a busy machine does not depose a leader between two lines of a test.
constexpr double kLongS = 120;

// Tries for up to a minute.
bool becomes_leader(LeaderLock& lock) {
  for (int i = 0; i < 1200; ++i) {
    if (lock.renew()) return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

TEST(LeaderLock, TheFirstLeadsAndTheSecondFollows) {
  TempFolder temp;
  LeaderLock first(temp.path() / "lock", kLongS), second(temp.path() / "lock", kLongS);
  EXPECT_FALSE(first.still_leads());
  EXPECT_TRUE(first.renew());
  EXPECT_TRUE(first.still_leads());
  EXPECT_EQ(first.term(), 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(second.renew());
    EXPECT_TRUE(first.renew());
    EXPECT_TRUE(first.keep());
  }
  EXPECT_FALSE(second.still_leads());
  EXPECT_TRUE(second.has_seen_other_agent());
}

TEST(LeaderLock, ReleasedLockIsTakenAtOnce) {
  TempFolder temp;
  LeaderLock second(temp.path(), kLongS);
  {
    LeaderLock first(temp.path(), kLongS);
    EXPECT_TRUE(first.renew());
    EXPECT_FALSE(second.renew());
  }
  EXPECT_TRUE(second.renew());
  EXPECT_EQ(second.term(), 2);
}

TEST(LeaderLock, SilentLeaderIsDeposedAndNoticesIt) {
  TempFolder temp;
  LeaderLock first(temp.path(), 0.5), second(temp.path(), 0.5);
  EXPECT_TRUE(first.renew());
  EXPECT_TRUE(becomes_leader(second));
  EXPECT_FALSE(first.still_leads());
  EXPECT_FALSE(first.keep());
  EXPECT_EQ(first.term(), 0);
  EXPECT_EQ(second.term(), 2);
}

// The later term counts even if the leader's last sign of life is recent.
TEST(LeaderLock, LaterTermDeposesAtOnce) {
  TempFolder temp;
  LeaderLock first(temp.path(), kLongS);
  EXPECT_TRUE(first.renew());
  std::ofstream(temp.path() / "term-2") << "other 1 leads\n";
  EXPECT_FALSE(first.still_leads());
  EXPECT_FALSE(first.renew());
  EXPECT_EQ(first.leader(), "other");
}

TEST(LeaderLock, OldSignOfLifeDoesNotLead) {
  TempFolder temp;
  LeaderLock lock(temp.path(), 0.2);
  EXPECT_TRUE(lock.renew());
  std::this_thread::sleep_for(150ms);
  EXPECT_FALSE(lock.still_leads());
  // No other came: it begins a term of its own.
  EXPECT_TRUE(lock.renew());
  EXPECT_EQ(lock.term(), 2);
}

TEST(LeaderLock, OneOfManyCandidatesWins) {
  TempFolder temp;
  for (int round = 1; round <= 20; ++round) {
    std::atomic<int> leaders = 0;
    std::vector<std::unique_ptr<LeaderLock>> locks;
    for (int i = 0; i < 8; ++i) locks.push_back(std::make_unique<LeaderLock>(temp.path(), kLongS));
    std::vector<std::thread> threads;
    for (const auto& lock : locks) threads.emplace_back([&] { leaders += lock->renew(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(leaders, 1) << "round " << round;
  }
}

TEST(LeaderLock, FolderThatCannotBeUsedIsRefused) {
  TempFolder temp;
  std::ofstream(temp.path() / "file") << "x";
  EXPECT_THROW(LeaderLock(temp.path() / "file", 10), InputError);
}

// A process which is stopped for longer than the limit finds out when it goes on.
TEST(ExecutionGapDetector, NoticesThatTheProcessWasStopped) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    ExecutionGapDetector detector(3s);
    const int before = detector.gaps();
    const char ready = 'r';
    if (write(ends[1], &ready, 1) != 1) _exit(9);
    raise(SIGSTOP);
    _exit(10 * before + detector.gaps() - before);
  }
  char ready = 0;
  ASSERT_EQ(read(ends[0], &ready, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(4s);
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(ExecutionGapDetector, RunningOnIsNoGap) {
  ExecutionGapDetector detector(60s);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(detector.gaps(), 0);
  }
}

}  // namespace
}  // namespace yard::slurm
