// Data-parallel training by several processes: on one machine, on two hosts, and when one process
// is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "env/base/files/file.h"
#include "tests/cli/program.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Ranks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
    folder_.write("tiny.yaml",
                  "trace: synthetic:habits\ncluster: 2x8\ntrace_jobs: 400\nepisode_jobs: 40\n"
                  "num_envs: 8\ngroup: 2\nhidden: 8\nthreads: 1\nvalidate_windows: 1\n"
                  "validate_jobs: 40\nvalidate_every: 1\nupdates: 4\n");
  }
  static std::string weights(const std::string& run) {
    return read_file(run + "/checkpoints/last/model.safetensors");
  }
  const std::string scripts_ = fs::current_path().string() + "/scripts/";
  Folder folder_;
};

TEST_F(Ranks, KilledRankIsReportedAndTheRunResumes) {
  const Result whole = shell("yardmaster train tiny.yaml --ranks 2 --out whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out, "whole/checkpoints/best\n");
  // The second child process is rank 1.
  const auto begin = std::chrono::steady_clock::now();
  const Result killed = shell(
      "yardmaster train tiny.yaml --ranks 2 --set updates=100000 --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; "
      "kill -9 $(tr ' ' '\\n' < /proc/$pid/task/$pid/children | sed -n 2p); wait $pid");
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(killed.code, 1) << killed.err;
  EXPECT_THAT(killed.err, HasSubstr("rank 0 of 2: another rank has exited"));
  EXPECT_THAT(killed.err, HasSubstr("killed by signal 9"));
  EXPECT_LT(took, std::chrono::minutes(5)) << "not after the time-out for a rank that hangs";
  EXPECT_EQ(folder_.leftovers(), 0);

  ASSERT_EQ(shell("yardmaster train tiny.yaml --ranks 2 --until 2 --out half").code, 0);
  const Result resumed = shell("yardmaster train --resume half --ranks 2");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(weights("half") == weights("whole"));
}

TEST_F(Ranks, AllStopTogetherOnCtrlC) {
  const Result stopped = shell(
      "yardmaster train tiny.yaml --ranks 2 --set updates=100000 --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; "
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("--resume run"));
  EXPECT_EQ(shell("yardmaster train --resume run --ranks 2 --until 1").code, 0);
}

// The hosts meet by torchrun's variables, over a network instead of a file.
TEST_F(Ranks, TwoHostsMatchTwoProcesses) {
  const Result hosts = shell(scripts_ + "two_hosts.sh tiny.yaml two");
  if (hosts.code == 77) GTEST_SKIP() << "network namespaces are not permitted here";
  ASSERT_EQ(hosts.code, 0) << read_file("two.log.0") << read_file("two.log.1");
  ASSERT_EQ(shell("yardmaster train tiny.yaml --ranks 2 --out one").code, 0);
  EXPECT_TRUE(weights("two") == weights("one"));
}

TEST_F(Ranks, MpirunMatchesTwoProcesses) {
  const std::string version = shell("mpirun --version").out;
  YARD_NEEDS(mpirun, version.find("Open MPI") != version.npos, "no mpirun of Open MPI");
  const Result mpi = shell(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -np 2 yardmaster train tiny.yaml --out two");
  ASSERT_EQ(mpi.code, 0) << mpi.err;
  ASSERT_EQ(shell("yardmaster train tiny.yaml --ranks 2 --out one").code, 0);
  EXPECT_TRUE(weights("two") == weights("one"));
}

TEST_F(Ranks, InvalidVariablesGiveOneMessage) {
  const Result refused = shell("RANK=0 WORLD_SIZE=2 yardmaster train tiny.yaml --out run");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("MASTER_ADDR"));
  const Result both = shell(
      "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 yardmaster train tiny.yaml --out run --ranks 2");
  EXPECT_EQ(both.code, 2);
  EXPECT_FALSE(folder_.has("run"));
}

}  // namespace
}  // namespace yard::testing
