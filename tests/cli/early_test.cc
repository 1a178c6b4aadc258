// What `simulate` reports of jobs ended early: in its table, its JSON and its job rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// At share x of its work, job a has loss 1 / (3 x + 1) and reaches `enough` (0.4) after 500 s. Job
// b needs all GPUs.
constexpr const char* kEarlyJobs =
    "job_id,submit_s,run_s,gpus,loss_b0,loss_b1,enough,dues\n"
    "a,0,1000,1,3,1,0.4,600:1\n"
    "b,10,100,2,,,,\n";

constexpr const char* kRun =
    "yardmaster simulate --trace jobs.csv --cluster 1x2 --policy mlf-h --set "
    "mlf-h.stopped_share=0 ";
constexpr const char* kControlled = "--set mlf-h.load_control=true ";

TEST(EarlyTermination, SimulateReportsEarlyEndsSeparately) {
  const Folder folder;
  folder.write("jobs.csv", kEarlyJobs);
  const std::string run = std::string(kRun) + kControlled;
  const Result json = shell(run + "--json --jobs-out jobs-out.csv");
  ASSERT_EQ(json.code, 0) << json.err;
  const Json figures = Json::parse(json.out)["runs"][0];
  EXPECT_EQ(figures["finished"], 2);
  EXPECT_EQ(figures["ended_early"], 1);
  EXPECT_EQ(figures["early_mean_jct_s"], 540);
  EXPECT_EQ(figures["others_mean_jct_s"], 630);
  EXPECT_EQ(figures["mean_jct_s"], 585);
  EXPECT_NEAR(figures["undone_share"], 460.0 / 1200, 1e-12);
  EXPECT_EQ(figures["accuracy"]["jobs"], 1);
  EXPECT_EQ(figures["accuracy"]["reached_share"], 1);
  EXPECT_EQ(figures["accuracy"]["due_reached_share"], 1);
  EXPECT_EQ(figures["accuracy"]["mean"], 1);
  const std::string rows = read_file("jobs-out.csv");
  EXPECT_THAT(rows, HasSubstr("a,1,0,0,540,0,540,0,0,ended-early\n"));
  EXPECT_THAT(rows, HasSubstr("b,2,10,540,640,530,630,0,0,finished\n"));
  const Result text = shell(run + "--metrics all");
  EXPECT_THAT(text.out, HasSubstr("mlf-h ended 1 job early: mean JCT 540.0 s, of other jobs 630.0 "
                                  "s; 38.3 % of requested GPU time undone"));
  EXPECT_THAT(text.out, HasSubstr("ended early "));
}

TEST(EarlyTermination, NothingIsReportedWithoutEarlyEnds) {
  const Folder folder;
  folder.write("jobs.csv", kEarlyJobs);
  const Result json = shell(std::string(kRun) + "--json");
  ASSERT_EQ(json.code, 0) << json.err;
  const Json figures = Json::parse(json.out)["runs"][0];
  EXPECT_EQ(figures["ended_early"], 0);
  EXPECT_TRUE(figures["early_mean_jct_s"].is_null());
  EXPECT_EQ(figures["accuracy"]["due_reached_share"], 0) << "reached, but past its deadline";
  EXPECT_EQ(figures["accuracy"]["reached_share"], 1);
  EXPECT_THAT(shell(kRun).out, ::testing::Not(HasSubstr("early")));
}

TEST(EarlyTermination, StagedJobCannotHaveATarget) {
  const Folder folder;
  folder.write("jobs.jsonl",
               R"({"job_id":"a","submit_s":0,"run_s":9,"gpus":2,"enough":0.5,"groups":[)"
               R"({"role":"x","gpus":1},{"role":"y","gpus":1,"after":[0]}]})"
               "\n");
  const Result result = shell("yardmaster trace describe jobs.jsonl");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("in a job with stages (groups with after)"));
}

}  // namespace
}  // namespace yard::testing
