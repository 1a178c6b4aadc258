// Checks the writer of the decision log: what was added is read back, its bounds hold, and neither
// a full disk nor too many decisions block a caller.
#include "serving/log/decision_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "env/base/core/error.h"
#include "serving/log/log_summary.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/requests.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
constexpr std::chrono::seconds kLong{60};

class Logs : public ::testing::Test {
 protected:
  DecisionLogOptions small() const {
    DecisionLogOptions options;
    options.folder = folder();
    options.max_mib = 2;
    options.file_mib = 1;
    return options;
  }
  std::string folder() const { return temp_.path() / "made" / "log"; }

  TempFolder temp_;
};

TEST_F(Logs, RecordsRoundTrip) {
  pb::DecisionTrace trace;
  trace.set_probability(0.25);
  trace.set_sample_key(~uint64_t{0});
  trace.set_memory(std::string("\0\xff\n", 3));
  trace.set_memory_bytes(3);
  pb::Step& step = *trace.add_steps();
  step.add_options()->set_logit(-1.5F);
  step.set_probability(0.25);
  const auto request = snapshot_at(10'000.000001);
  const pb::DecideResponse response = answer_of("a");
  {
    DecisionLog log(small());
    log.add(request, response, pb::DecisionTrace(trace));
    ASSERT_TRUE(log.flush(kLong));
    EXPECT_EQ(log.counts().decisions, 1u);
    EXPECT_EQ(log.counts().bytes, bytes_of_log(folder()));
    // A log may be read while it is written.
    EXPECT_EQ(read_log(folder()).size(), 1u);
  }
  LogReader::Damage damage;
  const auto records = read_log(folder(), &damage);
  ASSERT_EQ(records.size(), 1u);
  const pb::LoggedDecision& read = records[0].decision();
  EXPECT_EQ(read.number(), 1u);
  EXPECT_GT(read.unix_s(), 1.7e9);
  EXPECT_EQ(read.request().SerializeAsString(), request->SerializeAsString());
  EXPECT_EQ(read.response().SerializeAsString(), response.SerializeAsString());
  EXPECT_EQ(read.trace().SerializeAsString(), trace.SerializeAsString());
  EXPECT_EQ(damage.cut_tails + damage.damaged + damage.lost + damage.unknown, 0u);
}

TEST_F(Logs, SyncsAfterTheGivenTime) {
  const auto syncs_after_two = [&](std::optional<double> sync_s) {
    DecisionLogOptions options = small();
    options.sync_s = sync_s;
    DecisionLog log(options);
    for (int i = 0; i < 2; ++i) log.add(snapshot_at(10'000 + i), answer_of("a"), {});
    EXPECT_TRUE(log.flush(kLong));
    const auto end = std::chrono::steady_clock::now() + kLong;
    const uint64_t expected = !sync_s ? 0 : *sync_s == 0 ? 2 : 1;
    while (log.counts().syncs < expected && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return log.counts().syncs;
  };
  EXPECT_EQ(syncs_after_two(std::nullopt), 0u);
  EXPECT_EQ(syncs_after_two(0), 2u);
  EXPECT_EQ(syncs_after_two(0.5), 1u);
}

TEST_F(Logs, BoundsHoldAndTheOldestAreDeleted) {
  DecisionLog log(small());
  uint64_t max_bytes = 0;
  for (int i = 0; i < 20; ++i) {
    fill(log, 20, 20'000);
    max_bytes = std::max(max_bytes, bytes_of_log(folder()));
    EXPECT_EQ(log.counts().bytes, bytes_of_log(folder()));
    for (const LogFile& file : log_files(folder())) EXPECT_LE(file.bytes, 1u << 20);
  }
  EXPECT_LE(max_bytes, 2u << 20);
  EXPECT_GE(max_bytes, (2u << 20) - 50'000);  // and the space is used
  const auto records = read_log(folder());
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back().decision().number(), 400u);
  for (size_t i = 1; i < records.size(); ++i) {
    EXPECT_EQ(records[i].decision().number(), records[i - 1].decision().number() + 1);
  }
  LogReader reader(folder());
  EXPECT_EQ(summarise(reader).missing, 0u);
}

TEST_F(Logs, RestartedServerUsesANewFile) {
  for (int i = 0; i < 3; ++i) {
    DecisionLog log(small());
    fill(log, 2);
    DecisionLogOptions idle = small();
    idle.folder = temp_.path() / "idle";
    const DecisionLog nothing(idle);
  }
  EXPECT_EQ(log_files(folder()).size(), 3u);
  EXPECT_TRUE(log_files(temp_.path() / "idle").empty()) << "a file without a decision";
  LogReader reader(folder());
  const LogSummary summary = summarise(reader);
  EXPECT_EQ(summary.runs, 3u);
  EXPECT_EQ(summary.decisions, 6u);
  EXPECT_EQ(summary.missing, 0u);
}

TEST_F(Logs, FilesOfEarlierRunsCount) {
  {
    DecisionLog log(small());
    fill(log, 90, 20'000);
  }
  DecisionLog log(small());
  EXPECT_EQ(log.counts().bytes, bytes_of_log(folder()));
  fill(log, 30, 20'000);
  EXPECT_LE(bytes_of_log(folder()), 2u << 20);
}

TEST_F(Logs, TooManyDecisionsAreDroppedAndCounted) {
  DecisionLogOptions options = small();
  options.max_waiting = 0;
  DecisionLog log(options);
  fill(log, 100);
  EXPECT_EQ(log.counts().late, 100u);
  EXPECT_EQ(log.counts().decisions, 0u);
  options.folder += "-bytes";
  options.max_waiting = 1000;
  options.max_waiting_bytes = 10'000;
  DecisionLog narrow(options);
  narrow.add(snapshot_at(1, 20'000), answer_of("large"), {});
  narrow.add(snapshot_at(2, 100), answer_of("small"), {});
  ASSERT_TRUE(narrow.flush(kLong));
  EXPECT_EQ(narrow.counts().late, 1u);
  const auto records = read_log(options.folder);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].decision().number(), 2u) << "a reader detects that one is missing";
}

TEST_F(Logs, RecordLargerThanAFileIsSkipped) {
  DecisionLog log(small());
  fill(log, 1);
  fill(log, 3, 2 << 20);
  fill(log, 1);
  EXPECT_EQ(log.counts().too_large, 3u);
  EXPECT_EQ(log.counts().refused, 0u);
  EXPECT_EQ(read_log(folder()).size(), 2u);
  EXPECT_EQ(log_files(folder()).size(), 1u);
  LogReader reader(folder());
  EXPECT_EQ(summarise(reader).missing, 3u);
}

TEST_F(Logs, ManyThreadsCanAdd) {
  constexpr int kThreads = 8, kEach = 200;
  DecisionLogOptions options = small();
  options.max_mib = 64;
  options.file_mib = 1;
  options.max_waiting = kThreads * kEach;
  {
    DecisionLog log(options);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string id = std::to_string(t) + "-" + std::to_string(i);
          log.add(snapshot_at(5, 2000), answer_of(id), {});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const auto records = read_log(folder());
  ASSERT_EQ(records.size(), size_t{kThreads * kEach});
  std::map<std::string, int> of_thread;
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].decision().number(), i + 1);
    const std::string& id = records[i].decision().response().decision_id();
    const std::string thread = id.substr(0, id.find('-'));
    EXPECT_EQ(id, thread + "-" + std::to_string(of_thread[thread]++));
  }
}

// Limits the size of files, then lifts the limit.
TEST_F(Logs, WriteErrorsAreCountedAndRetried) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 100'000;
  DecisionLog log(small());
  fill(log, 2, 20'000);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  fill(log, 10, 20'000);
  const DecisionLog::Counts full = log.counts();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(full.decisions, 4u);
  EXPECT_EQ(full.refused, 8u);
  EXPECT_THAT(full.trouble, HasSubstr("File too large"));
  EXPECT_EQ(full.bytes, bytes_of_log(folder()));
  fill(log, 5, 20'000);
  EXPECT_EQ(log.counts().trouble, "");
  LogReader::Damage damage;
  const auto records = read_log(folder(), &damage);
  ASSERT_EQ(records.size(), 9u);
  EXPECT_EQ(records[4].decision().number(), 13u);
  EXPECT_EQ(damage.cut_tails + damage.damaged + damage.lost, 0u) << damage.first;
}

TEST_F(Logs, FullDiskIsCountedAndRetried) {
  const std::string disk = temp_.path() / "disk";
  std::filesystem::create_directory(disk);
  const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                       mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("yard", disk.c_str(), "tmpfs", 0, "size=512k") == 0;
  YARD_NEEDS(mount, mounted, "a small disk of its own needs CAP_SYS_ADMIN");
  std::ofstream(disk + "/ballast") << std::string(300'000, 'x');
  DecisionLogOptions options = small();
  options.folder = disk + "/log";
  {
    DecisionLog log(options);
    fill(log, 40, 20'000);
    const DecisionLog::Counts full = log.counts();
    EXPECT_GT(full.decisions, 3u);
    EXPECT_GT(full.refused, 20u);
    EXPECT_THAT(full.trouble, HasSubstr("No space left"));
    EXPECT_EQ(log_files(options.folder).size(), 1u);
    std::filesystem::remove(disk + "/ballast");
    fill(log, 5, 20'000);
    EXPECT_EQ(log.counts().trouble, "");
    EXPECT_EQ(log.counts().decisions, full.decisions + 5);
    LogReader::Damage damage;
    EXPECT_EQ(read_log(options.folder, &damage).size(), full.decisions + 5);
    EXPECT_EQ(damage.cut_tails + damage.damaged + damage.lost, 0u) << damage.first;
  }
  umount2(disk.c_str(), MNT_DETACH);
}

// On a disk that is full from the beginning, no number of attempts leaves a file behind.
TEST_F(Logs, FileThatCannotBeStartedLeavesNothing) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 10;
  DecisionLog log(small());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  fill(log, 20);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(log.counts().refused, 20u);
  EXPECT_EQ(log.counts().bytes, 0u);
  EXPECT_TRUE(log_files(folder()).empty());
  fill(log, 1);
  EXPECT_EQ(read_log(folder()).size(), 1u);
}

TEST_F(Logs, RemovedFolderIsTolerated) {
  DecisionLogOptions options = small();
  DecisionLog log(options);
  fill(log, 1);
  std::filesystem::remove_all(folder());
  fill(log, 120, 20'000);  // more than the open file may hold
  EXPECT_GT(log.counts().refused, 0u);
  EXPECT_THAT(log.counts().trouble, HasSubstr("No such file"));
}

void expect_refused(const DecisionLogOptions& options, const std::string& says) {
  try {
    const DecisionLog log(options);
    ADD_FAILURE() << "taken: " << options.folder;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST_F(Logs, BadFoldersAndBoundsAreRefused) {
  const DecisionLog first(small());
  expect_refused(small(), "a folder not used by another server, got one in use");
  DecisionLogOptions options = small();
  options.folder = temp_.path() / "file";
  std::ofstream(options.folder) << "x";
  expect_refused(options, "expected a writable folder");
  options = small();
  options.folder += "2";
  options.max_mib = 1;
  expect_refused(options, "room for at least two files");
}

}  // namespace
}  // namespace yard::testing
