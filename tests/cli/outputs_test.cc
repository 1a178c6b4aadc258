// An output may not overwrite an input or another output. Options without effect are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOutputJobs = "job_id,submit_s,run_s,gpus\na,0,10,1\nb,1,10,1\n";
constexpr const char* kOutputRun =
    "yardmaster simulate --trace jobs.csv --cluster 2x8 --policy fifo ";

void expect_output_refused(const std::string& command, const std::string& said) {
  SCOPED_TRACE(command);
  const Result result = shell(command);
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr(said));
}

TEST(Outputs, CannotOverwriteInputs) {
  const Folder folder;
  folder.write("jobs.csv", kOutputJobs);
  folder.write("site.yaml", "nodes: [{count: 2, gpus: 8}]\n");
  for (const char* option : {"--jobs-out jobs.csv", "--json-out ./jobs.csv",
                             "--timeline ../$(basename $PWD)/jobs.csv", "--waits-out jobs.csv"}) {
    expect_output_refused(std::string(kOutputRun) + option, "a file other than that of --trace");
  }
  expect_output_refused(
      "yardmaster simulate --trace jobs.csv --cluster site.yaml --policy fifo "
      "--json-out site.yaml",
      "a file other than that of --cluster");
  expect_output_refused("yardmaster trace convert jobs.csv --out jobs.csv",
                        "a file other than that of trace");
  EXPECT_EQ(read_file("jobs.csv"), kOutputJobs);
}

TEST(Outputs, AreCheckedBeforeTheFirstRun) {
  const Folder folder;
  folder.write("jobs.csv", kOutputJobs);
  for (const char* option : {"--jobs-out", "--timeline", "--waits-out", "--json-out"}) {
    expect_output_refused(std::string(kOutputRun) + "--out made " + option + " missing/file",
                          "missing");
    EXPECT_FALSE(folder.has("made")) << option;
  }
}

TEST(Outputs, CannotOverwriteOtherOutputs) {
  const Folder folder;
  folder.write("jobs.csv", kOutputJobs);
  expect_output_refused(std::string(kOutputRun) + "--jobs-out q.csv --waits-out ./q.csv",
                        "a file other than");
  EXPECT_FALSE(folder.has("q.csv"));
}

TEST(Outputs, OptionsWithoutEffectAreRejected) {
  const Folder folder;
  folder.write("jobs.csv", kOutputJobs);
  expect_output_refused(std::string(kOutputRun) + "--rates nosuch", "--rates");
  expect_output_refused(std::string(kOutputRun) + "--throughputs nosuch", "--throughputs");
  expect_output_refused(std::string(kOutputRun) + "--generate-jobs 4", "synthetic");
  expect_output_refused(std::string(kOutputRun) + "--rules tiresias --cost-scale 4",
                        "--rules default");
  expect_output_refused("YARD_CLUSTERS=/nosuch yardmaster cluster describe philly",
                        "YARD_CLUSTERS");
}

TEST(Outputs, EndlessFilesAreRejected) {
  const Folder folder;
  expect_output_refused("yardmaster cluster describe /dev/zero", "/dev/zero: expected at most");
}

TEST(Outputs, StagesDoNotWaitForTheirOwnJob) {
  const Folder folder;
  folder.write("jobs.csv",
               "job_id,submit_s,run_s,gpus,groups\n"
               "a,0,100,2,\"[{\"\"role\"\":\"\"p\"\",\"\"gpus\"\":1,\"\"run_s\"\":60},"
               "{\"\"role\"\":\"\"t\"\",\"\"gpus\"\":1,\"\"after\"\":[0],\"\"run_s\"\":40}]\"\n");
  const Result result = shell(std::string(kOutputRun) + "--waits-out waits.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_file("waits.csv"),
            "policy,job_id,from_s,to_s,reason,detail,behind,from_time,to_time\n");
}

// Stages outnumber jobs: each output keeps track of stages separately, and waits count jobs.
TEST(Outputs, HandleJobsWithManyStages) {
  const Folder folder;
  std::string jobs;
  for (int i = 0; i < 60; ++i) {
    jobs += R"({"job_id":"j)" + std::to_string(i) + R"(","submit_s":)" + std::to_string(i) +
            R"(,"run_s":90,"gpus":3,"tenant":"t","groups":[)";
    for (int stage = 0; stage < 3; ++stage) {
      jobs += R"({"role":"s)" + std::to_string(stage) + R"(","gpus":1,"run_s":30)" +
              (stage > 0 ? R"(,"after":[)" + std::to_string(stage - 1) + "]" : "") +
              (stage < 2 ? "}," : "}]}\n");
    }
  }
  folder.write("jobs.jsonl", jobs);
  const Result result = shell(
      "yardmaster simulate --trace jobs.jsonl --cluster 1x4 --policy fifo,las --waits-out w.csv "
      "--timeline t.json --series-out s.csv --dump-at 100 --dump-out d.json --metrics all --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto out = nlohmann::json::parse(result.out);
  for (const auto& run : out["runs"]) {
    EXPECT_EQ(run["finished"], 60);
    for (const auto& wait : run["waits"]) EXPECT_LE(wait["jobs"], 60);
  }
}

}  // namespace
}  // namespace yard::testing
