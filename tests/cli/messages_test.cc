// Messages about wrong command lines give the option at fault, what was expected, and the name
// which was probably meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct MessageCase {
  std::string command, said;
};

void expect_refused(const std::vector<MessageCase>& cases) {
  for (const MessageCase& c : cases) {
    const Result result = shell("yardmaster " + c.command);
    EXPECT_EQ(result.code, 2) << c.command;
    EXPECT_THAT(result.err, HasSubstr(c.said)) << c.command;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "") << c.command;
  }
}

const std::string kScene = "--trace synthetic:habits --generate-jobs 60 --cluster 4x8 ";

TEST(Messages, CommandLineErrorsNameTheOptionAndARemedy) {
  expect_refused({
      {"simulate " + kScene + "--polcy fifo",
       "simulate: expected an option of this command, got '--polcy'; did you mean `--policy`? (see "
       "yardmaster simulate --help)"},
      {"simulate " + kScene + "--policy=fifo --jobs-owt=x.csv", "did you mean `--jobs-out`?"},
      {"simulate " + kScene + "--policy fifo --bogus", "got '--bogus' (see"},
      {"simulate " + kScene + "fifo", "simulate: expected no further argument, got 'fifo'"},
      {"simulate " + kScene + "--policy", "simulate: expected a value after --policy, got none"},
      {"simulate --trace --policy fifo --cluster 4x8",
       "simulate: expected a value after --trace, got the option --policy (see"},
      {"simulate " + kScene + "--policy fifo --json=maybe",
       "simulate: --json: expected no value, got 'maybe'"},
      {"simulate --policy fifo --cluster 4x8", "simulate: --trace is required (see"},
      {"simulate " + kScene + "--policy fifo --cost-scale much",
       "simulate: --cost-scale: expected a number, got 'much'"},
      {"simulate " + kScene + "--policy fifo --policy las",
       "simulate: --policy: expected one value, got several"},
      {"trace generate synthetic:habits --jobs 9 --ot a.csv",
       "trace generate: expected an option of this command, got '--ot'; did you mean `--out`? (see "
       "yardmaster trace generate --help)"},
  });
}

TEST(Messages, UnknownNamesGetASuggestion) {
  expect_refused({
      {"simulte", "did you mean `simulate`?"},
      {"trace descibe a.csv --json",
       "trace: expected one of: describe, convert, generate, got 'descibe'; did you mean "
       "`describe`?"},
      {"bench replai", "did you mean `replay`?"},
      {"bench --jsn", "did you mean `--json`?"},
      {"man simulte", "did you mean `simulate`?"},
      {"version --jsn", "did you mean `--json`?"},
      {"list policy", "did you mean `policies`?"},
      {"list policies tiresia", "did you mean `tiresias`?"},
      {"list rules tiresas", "did you mean `tiresias`?"},
      {"simulate " + kScene + "--policy fifo,gredy", "--policy: expected one of: "},
      {"simulate " + kScene + "--policy fifo,gredy", "got 'gredy'; did you mean `greedy`?"},
      {"evaluate " + kScene + "--candidate srsf-histroy --against fifo", "--candidate: expected"},
      {"evaluate " + kScene + "--candidate las --against fifoo", "--against: expected one of: "},
      {"evaluate " + kScene + "--candidate las --against fifoo", "did you mean `fifo`?"},
      {"tune " + kScene + "--policy gredy", "--policy: expected one of: "},
      {"whatif --trace synthetic:habits --cluster 4x8 --policy gredy", "did you mean `greedy`?"},
      {"simulate " + kScene + "--policy fifo --rules tiresas", "--rules: expected one of: "},
      {"simulate " + kScene + "--policy fifo --information histroy",
       "--information: expected one of: blind, history"},
      {"simulate " + kScene + "--policy fifo --speeds noisey", "did you mean `noisy`?"},
      {"simulate " + kScene + "--policy fifo --metrics al", "did you mean `all`?"},
      {"simulate --trace synthetic:habit --cluster 4x8 --policy fifo",
       "got 'habit'; did you mean `habits`?"},
      {"simulate --trace synthetic:habits --cluster phily --policy fifo", "did you mean `philly`?"},
  });
}

// Slurm's users look for its backfill plugin.
TEST(Messages, BackfillNamesThePoliciesThatBackfill) {
  const std::string said =
      "got 'backfill'; policies that backfill: `easy` (reserves for the first waiting job, nearest "
      "to Slurm), `conservative` (for each waiting job), `greedy` (for none)";
  expect_refused({{"list policies backfill", said},
                  {"simulate " + kScene + "--policy backfill", said},
                  {"simulate " + kScene + "--policy fifo,Back-Filling", "`greedy` (for none)"}});
  for (const char* name : {"easy", "conservative", "greedy"}) {
    EXPECT_EQ(shell(std::string("yardmaster list policies ") + name).code, 0);
  }
  const Result rules = shell("yardmaster list rules backfill");
  EXPECT_THAT(rules.err, ::testing::Not(HasSubstr("policies that backfill")));
}

TEST(Messages, UnknownFormatsGetASuggestion) {
  const Folder folder;
  folder.write("a.csv", "job_id,submit_s,run_s,gpus\n1,0,10,1\n");
  expect_refused({{"trace describe a.csv --format helos", "--format: expected one of: "},
                  {"trace describe a.csv --format helos", "did you mean `helios`?"}});
}

TEST(Messages, ClusterSizeIsPositive) {
  const Folder folder;
  folder.write("a.csv", "job_id,submit_s,run_s,gpus\n1,0,10,1\n");
  for (const std::string command : {"trace describe a.csv", "trace convert a.csv --out b.csv",
                                    "trace generate synthetic:habits --out b.csv"}) {
    expect_refused(
        {{command + " --cluster-gpus 0", "--cluster-gpus: expected a whole number from 1"},
         {command + " --cluster-gpus -3", "got '-3'"}});
  }
}

// A path is looked up as a path, and is never taken for a misspelt name.
TEST(Messages, PathErrorsNameThePath) {
  expect_refused({{"simulate " + kScene + "--policy checkpoint:fifo", "a checkpoint folder"},
                  {"simulate " + kScene + "--policy none/fifo.yaml", "none/fifo.yaml"}});
}

// The reported end of a window, just after its last job, is a --to which gives that window.
TEST(Messages, ReportedWindowEndIsAValidOption) {
  const Folder folder;
  folder.write("a.csv", "job_id,submit_s,run_s,gpus\n1,0,10,1\n2,7,10,1\n3,7.25,10,1\n");
  const auto simulated = [](const std::string& more) {
    const Result result =
        shell("yardmaster simulate --trace a.csv --cluster 1x8 --policy fifo --json " + more);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out);
  };
  const Json whole = simulated("");
  const Json again = simulated("--to " + whole["trace"]["to_s"].dump());
  for (const char* key : {"to_s", "jobs_scored"})
    EXPECT_EQ(again["trace"][key], whole["trace"][key]);
  EXPECT_EQ(simulated("--to 7.1")["trace"]["to_s"].dump(), "7.1");
}

// An argument's value may equal the argument's name, as in "log replay log".
TEST(Messages, ValueMayEqualItsArgumentsName) {
  const Folder folder;
  folder.write("trace", "job_id,submit_s,run_s,gpus\n1,0,10,1\n");
  const Result result = shell("yardmaster trace describe trace --json");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["jobs"], 1);
}

}  // namespace
}  // namespace yard::testing
