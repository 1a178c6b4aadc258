// The smallest cluster which can have run a log, computed by hand.
#include "experiments/scenario/smallest_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/core/error.h"

namespace yard {
namespace {

Job ran(int64_t from, int64_t to, int32_t gpus, const char* type = nullptr, int32_t per_node = 0) {
  Job job;
  job.gpus = gpus;
  job.logged_start_us = from;
  job.logged_end_us = to;
  if (type != nullptr) job.gpu_types = {type};
  if (per_node > 0) {
    job.groups = {RoleGroup{}};
    job.groups[0].count = gpus / per_node;
    job.groups[0].task.gpus = per_node;
  }
  return job;
}

std::string of(std::vector<Job> jobs) {
  Trace trace;
  trace.source = "log.txt";
  trace.jobs = std::move(jobs);
  return smallest_cluster(trace);
}

TEST(SmallestCluster, IsThePeakOfHeldGpus) {
  EXPECT_EQ(of({ran(0, 10, 4), ran(5, 9, 3), ran(9, 20, 2)}), "7x1") << "ends precede starts";
  EXPECT_EQ(of({ran(0, 10, 8, nullptr, 4), ran(0, 9, 1)}), "3x4") << "9 GPUs, 4 on one node";
}

TEST(SmallestCluster, HasTheRequestedTypes) {
  EXPECT_EQ(of({ran(0, 10, 2, "a100"), ran(0, 10, 5)}), "7x1:a100");
  EXPECT_EQ(of({ran(0, 10, 4, "v100", 2), ran(0, 10, 2, "a100"), ran(20, 30, 1, "a100")}),
            "1x2:a100+2x2:v100");
  EXPECT_EQ(of({ran(0, 10, 4, "v100"), ran(20, 30, 2, "a100"), ran(20, 30, 7)}),
            "2x1:a100+7x1:v100")
      << "9 at once: the type most requested gets the rest";
}

TEST(SmallestCluster, JobHoldsNothingBetweenItsRuns) {
  Job requeued = ran(0, 100, 4);
  requeued.run_us = 40;
  EXPECT_EQ(of({requeued, ran(10, 60, 4)}), "4x1") << "its last run began at 60";
}

TEST(SmallestCluster, JobWithoutALoggedEndRunsFromItsStart) {
  Job endless = ran(0, -1, 4);
  endless.run_us = 10;
  EXPECT_EQ(of({endless, ran(9, 20, 2)}), "6x1");
  EXPECT_EQ(of({endless, ran(10, 20, 2)}), "4x1") << "it ended at 10";
}

TEST(SmallestCluster, EachJobFits) {
  EXPECT_EQ(of({ran(0, 10, 4, nullptr, 4), ran(20, 30, 15, nullptr, 3)}), "5x4")
      << "one task of 3 GPUs on a node of 4";
  EXPECT_EQ(of({ran(0, 10, 12, nullptr, 6), ran(20, 30, 12, nullptr, 4)}), "3x6");
  EXPECT_EQ(of({ran(5, 5, 16, nullptr, 8), ran(20, 30, 8, nullptr, 8)}), "2x8") << "it took 0 s";
  EXPECT_EQ(of({ran(0, 10, 1), ran(-1, -1, 8)}), "8x1") << "it has not started";
  EXPECT_EQ(of({ran(5, 5, 4, "a100"), ran(20, 30, 2, "v100"), ran(5, 5, 3)}), "4x1:a100+3x1:v100");
}

TEST(SmallestCluster, NeedsGpus) {
  try {
    of({ran(0, 10, 0)});
    FAIL() << "no job holds a GPU";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("--set trace.gpus_per_node=N"));
  }
}

TEST(SmallestCluster, CopiesOfAWindowHeldNothing) {
  Trace trace;
  trace.jobs = {ran(0, 10, 4), ran(0, 10, 4)};
  EXPECT_EQ(max_gpus_held(trace), 8);
  trace.jobs[1].copy = true;
  EXPECT_EQ(max_gpus_held(trace), 4);
  EXPECT_EQ(smallest_cluster(trace), "4x1");
}

TEST(SmallestCluster, NeedsJobsThatRan) {
  try {
    of({ran(5, 5, 4)});
    FAIL() << "no job held its GPUs for any time";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "log.txt: expected --cluster, or jobs that ran for more than 0 s on GPUs, got "
                 "only jobs that ended as soon as they had started");
  }
}

TEST(SmallestCluster, NeedsLoggedTimes) {
  EXPECT_THROW(of({ran(-1, -1, 4)}), InputError);
  EXPECT_THROW(of({ran(5, 5, 4)}), InputError);
}

}  // namespace
}  // namespace yard
