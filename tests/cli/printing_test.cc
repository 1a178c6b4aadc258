// What commands print: no NaN, tables which fit long names, notes on unknown inputs, and no error
// when the reader of a pipe has gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kPrintedScene = " --trace synthetic:habits --generate-jobs 200 --cluster 4x8 ";

// Returns whether `text` contains "nan" as a separate word, signed or not.
bool says_nan(const std::string& text) {
  for (size_t at = text.find("nan"); at != text.npos; at = text.find("nan", at + 1)) {
    const auto letter = [&](size_t i) {
      return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
    };
    if (!letter(at - 1) && !letter(at + 3)) return true;
  }
  return false;
}

TEST(Printing, JobsWithoutRunTimeHaveNoRatio) {
  const Folder folder;
  std::string jobs = "job_id,submit_s,run_s,gpus\n";
  for (int i = 0; i < 40; ++i) {
    jobs += std::to_string(i) + "," + std::to_string(10 * i) + ",0,1\n";
  }
  folder.write("zero.csv", jobs);
  const std::string base = "--trace zero.csv --cluster 2x8 ";
  const Result evaluated =
      shell("yardmaster evaluate --candidate las --against fifo,greedy " + base);
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("no ratio"));
  EXPECT_FALSE(says_nan(evaluated.out)) << evaluated.out;
  for (const std::string& command :
       {"simulate --policy fifo,las,srtf --metrics all " + base,
        "evaluate --candidate las --against fifo --from 0 --to 100 " + base,
        "tune --policy las --budget 2 " + base}) {
    const Result result = shell("yardmaster " + command);
    EXPECT_FALSE(says_nan(result.out + result.err)) << command << "\n" << result.out << result.err;
  }
}

// The columns of a table begin or end at the same position in every row.
TEST(Printing, LongNamesKeepColumnsAligned) {
  const std::string name = "a-policy-with-a-name-that-is-longer-than-any-column-was-wide";
  const Result result = shell("yardmaster simulate --policy fifo," + name + "=las" + kPrintedScene);
  ASSERT_EQ(result.code, 0) << result.err;
  std::set<size_t> lengths;
  int rows = 0;
  for (const std::string_view line : split(result.out, '\n')) {
    if (!line.starts_with("policy ") && !line.starts_with("fifo ") && !line.starts_with(name)) {
      continue;
    }
    lengths.insert(line.size());
    ++rows;
  }
  EXPECT_EQ(rows, 3) << result.out;
  EXPECT_EQ(lengths.size(), 1u) << result.out;
  const Result evaluated = shell("yardmaster evaluate --against fifo --candidate " + name +
                                 "=las --replicas 1" + kPrintedScene);
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("> " + name + "  blind"));
}

TEST(Printing, PoliciesAreShownByTheirGivenName) {
  const std::string root = std::filesystem::current_path().string();
  const std::string pilot = "checkpoint:" + root + "/checkpoints/pilot";
  const auto runs = [&](const std::string& policies) {
    const Result result = shell("yardmaster simulate --json --policy " + policies + kPrintedScene);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out)["runs"];
  };
  const Json named = runs("ours=" + pilot + ",theirs=las --set theirs.placement=consolidate");
  const Json plain = runs(pilot + ",las --set las.placement=consolidate");
  EXPECT_EQ(named[0]["policy"], "ours");
  EXPECT_EQ(named[1]["policy"], "theirs");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(named[i]["sum_jct_s"], plain[i]["sum_jct_s"]);
  for (const char* wrong : {"a=las,a=fifo", "las,las=fifo", "a=", "a=nosuch"}) {
    const Result result =
        shell("yardmaster simulate --policy " + std::string(wrong) + kPrintedScene);
    EXPECT_EQ(result.code, 2) << wrong;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  const Result seeds =
      shell("yardmaster evaluate --json --replicas 1 --against las --checkpoint ours=" + root +
            "/checkpoints/pilot-1," + root + "/checkpoints/pilot-2" + kPrintedScene);
  ASSERT_EQ(seeds.code, 0) << seeds.err;
  EXPECT_EQ(Json::parse(seeds.out)["cells"][0]["policy"], "ours");
  EXPECT_EQ(Json::parse(seeds.out)["cells"][0]["seeds"], 2);
}

TEST(Printing, UnknownGpuTypesAreNamed) {
  const auto notes = [](const std::string& command, const std::string& cluster) {
    const Result result =
        shell("yardmaster " + command + " --trace synthetic:habits --generate-jobs 100 --cluster " +
              cluster);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(notes("simulate --policy fifo", "8x8:nosuchgpu"),
              HasSubstr("GPU type 'nosuchgpu' is unknown"));
  EXPECT_THAT(notes("evaluate --replicas 1 --candidate las --against fifo", "8x8:nosuchgpu"),
              HasSubstr("GPU type 'nosuchgpu' is unknown"));
  EXPECT_THAT(notes("simulate --policy fifo", "4x8:v100+4x8:k80"),
              HasSubstr("v100, k80 are assumed to be equally fast"));
  for (const char* known : {"8x8", "8x8:v100", "8x8:V100", "mixed-9"}) {
    EXPECT_THAT(notes("simulate --policy fifo", known), Not(HasSubstr("GPU type"))) << known;
  }
}

// `head` closes the pipe early: no message appears, and files are still written.
TEST(Printing, ClosedPipeIsNotAnError) {
  const Folder folder;
  for (const std::string& command :
       {std::string("list policies"), std::string("list policies --json"), std::string("--help"),
        "simulate --policy fifo,las --metrics all --json-out out.json" + kPrintedScene}) {
    const Result result = shell("(yardmaster " + command + "; echo $? >code) | head -c 1");
    EXPECT_EQ(result.err, "") << command;
    const std::string code(trim(shell("cat code").out));
    EXPECT_TRUE(code == "0" || code == "141") << command << ": " << code;
  }
  EXPECT_TRUE(folder.has("out.json"));
  if (!trainer_built()) return;
  const Result result =
      shell("(yardmaster train --set agent=harmony --settings; echo $? >code) | (sleep 0.5; exit)");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::string(trim(shell("cat code").out)), "0");
}

}  // namespace
}  // namespace yard::testing
