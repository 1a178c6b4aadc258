// pack turns a policy file into a checkpoint which makes the same decisions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class Pack : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("rule.yaml",
                  "policy: joint\nsettings: {gpu_exponent: 0.7, margin_log2: 0.5}\n"
                  "provenance: {seed: 3, cells: {train/a.b/x0.3: {sha256: abc}}, seen: [a, b]}\n");
  }

  static double mean_jct_s(const std::string& policy) {
    const Result r = shell(
        "yardmaster simulate --trace synthetic:mixed --cluster mixed-9 --generate-jobs 120 --json "
        "--policy " +
        policy);
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? Json::parse(r.out)["runs"][0]["mean_jct_s"].get<double>() : 0;
  }

  Folder folder_;
};

TEST_F(Pack, CheckpointDecidesAsTheRule) {
  const Result r = shell("yardmaster pack --policy rule.yaml --checkpoint made");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json manifest = Json::parse(read_file("made/manifest.json"));
  EXPECT_EQ(manifest["agent"], "pilot");
  EXPECT_EQ(manifest["network"], "none");
  EXPECT_EQ(manifest["provenance"]["seed"], "3");
  EXPECT_EQ(manifest["provenance"]["cells"]["train/a.b/x0.3"]["sha256"], "abc");
  EXPECT_EQ(manifest["provenance"]["seen"], Json({"a", "b"}));
  EXPECT_GT(manifest["provenance"]["golden_workload"]["decisions"], 256);
  EXPECT_EQ(mean_jct_s("checkpoint:made"), mean_jct_s("rule.yaml"));
}

TEST_F(Pack, SettingsOverrideTheFile) {
  ASSERT_EQ(shell("yardmaster pack --policy rule.yaml --checkpoint a --set margin_log2=4").code, 0);
  ASSERT_EQ(shell("yardmaster pack --policy rule.yaml --checkpoint b").code, 0);
  const Json a = Json::parse(read_file("a/manifest.json"))["provenance"];
  const Json b = Json::parse(read_file("b/manifest.json"))["provenance"];
  EXPECT_EQ(a["set"]["margin_log2"], "4");
  EXPECT_NE(a["golden_workload"], b["golden_workload"]);
  EXPECT_NE(mean_jct_s("checkpoint:a"), mean_jct_s("checkpoint:b"));
}

// A search records its core-seconds with its policy file; pack copies them to cost.json.
TEST_F(Pack, KeepsTheSearchCost) {
  ASSERT_EQ(shell("yardmaster pack --policy rule.yaml --checkpoint alone").code, 0);
  EXPECT_FALSE(std::filesystem::exists("alone/cost.json"));
  const std::string search =
      "yardmaster evolve --policy joint --trace synthetic:mixed --generate-jobs 600 --cluster "
      "mixed-9 "
      "--to 60% --validate-from 60% --validate-to 100% --episodes 2 --episode-jobs 40 "
      "--validation-episodes 1 --candidates 2 --meet 1 --out found.yaml ";
  const auto took = [&](const std::string& options) {
    const Result r = shell(search + options);
    EXPECT_EQ(r.code, 0) << r.err;
    return Json::parse(read_file("made/cost.json"))["training_core_s"].get<double>();
  };
  const double one = took("--generations 1 --checkpoint made");
  EXPECT_GT(one, 0);
  EXPECT_GT(took("--generations 2 --resume --checkpoint made"), one);
  std::filesystem::remove_all("made");
  ASSERT_EQ(shell("yardmaster pack --policy found.yaml --checkpoint made").code, 0);
  EXPECT_GT(Json::parse(read_file("made/cost.json"))["training_core_s"], one);
}

TEST_F(Pack, FolderWithOtherFilesIsNotReplaced) {
  std::filesystem::create_directory("mine");
  folder_.write("mine/notes.txt", "of years");
  const Result packed = shell("yardmaster pack --policy rule.yaml --checkpoint mine");
  EXPECT_EQ(packed.code, 2);
  EXPECT_THAT(packed.err, HasSubstr("'notes.txt'"));
  const Result searched = shell(
      "yardmaster evolve --policy joint --trace synthetic:mixed --generate-jobs 600 --cluster "
      "mixed-9 --to 60% --validate-from 60% --validate-to 80% --out found.yaml --checkpoint mine");
  EXPECT_EQ(searched.code, 2);
  EXPECT_FALSE(folder_.has("found.yaml")) << "reported before the search";
  EXPECT_EQ(read_file("mine/notes.txt"), "of years");
  EXPECT_EQ(folder_.leftovers(), 0);
}

TEST_F(Pack, RejectsFilesThatAreNotRules) {
  folder_.write("las.yaml", "policy: las\nsettings: {}\n");
  for (const auto& [options, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--policy las.yaml", "a file of the policy 'joint'"},
           {"--policy nowhere.yaml", "nowhere.yaml"},
           {"--policy rule.yaml --set margin_log2=-1", "margin_log2"},
           {"--policy rule.yaml --set no_such_key=1", "no_such_key"}}) {
    const Result r = shell("yardmaster pack --checkpoint made " + std::string(options));
    EXPECT_EQ(r.code, 2) << options;
    EXPECT_THAT(r.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists("made")) << options;
  }
}

}  // namespace
}  // namespace yard::testing
