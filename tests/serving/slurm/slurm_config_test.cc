// The agent's configuration: nothing is governed by default, and odd values are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "serving/slurm/config.h"
#include "tests/support/temp_file.h"

namespace yard::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using yard::testing::TempFile;

Config config_of(const std::string& yaml, bool acts = true) {
  const TempFile file("agent.yaml", yaml);
  return read_config(file.path(), acts);
}

void expect_refused(const std::string& yaml, const std::string& says) {
  try {
    config_of(yaml);
    ADD_FAILURE() << yaml;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(SlurmConfig, ShippedExampleIsRead) {
  const Config config = read_config("serving/slurm/agent.yaml", true);
  EXPECT_THAT(config.partitions, ElementsAre("gpu"));
  EXPECT_FALSE(config.preempt);
}

TEST(SlurmConfig, ListsAreRead) {
  const Config config = config_of(
      "partitions: [a, b]\naccounts: [x]\nnodes: \"n[0-3,7],m1\"\nact_on: [POLICY]\nlock: /l\n");
  EXPECT_THAT(config.partitions, ElementsAre("a", "b"));
  EXPECT_THAT(config.accounts, ElementsAre("x"));
  EXPECT_EQ(config.nodes, "n[0-3,7],m1");
  EXPECT_THAT(config.act_on, ElementsAre("POLICY"));
}

TEST(SlurmConfig, OddValuesAreRefused) {
  expect_refused("lock: /l\n", "partitions");
  expect_refused("partitions: [gpu]\n", "lock");
  expect_refused("partitions: [gpu]\nlock: /l\nnodes: n[\n", "nodes");
  expect_refused("partitions: [gpu]\nlock: /l\nact_on: [LUCK]\n", "LUCK");
  expect_refused("partitions: [gpu]\nlock: /l\nlock_s: 10\ncommand_timeout_s: 5\n", "lock_s");
  expect_refused("partitions: [gpu]\nlock: /l\nlease_s: 5\ninterval_s: 2\n", "lease_s");
  expect_refused("partitions: [gpu]\nlock: /l\nleases: 5\n", "leases");
}

TEST(SlurmConfig, DryRunsNeedNoLock) {
  EXPECT_NO_THROW(config_of("partitions: [gpu]\n", /*acts=*/false));
}

}  // namespace
}  // namespace yard::slurm
