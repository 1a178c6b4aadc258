// explain: its formula has few terms, can be played, and keeps the share of the gain it reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// A rule with two settings that matter, for long and short jobs, and others with little effect.
constexpr const char* kRule =
    "policy: joint\nsettings: {gpu_exponent: 0.6, order_by_wait: -0.5, migration_penalty: 0.11, "
    "settle_s: "
    "601}\n";
constexpr const char* kOn =
    " --trace synthetic:habits --generate-jobs 400 --cluster 4x8 --congestion 2 ";

TEST(Explain, TwoTermFormulaReportsItsRetainedGainAndPlays) {
  Folder folder;
  folder.write("rule.yaml", kRule);
  const Result result = shell(
      "yardmaster explain --replicas 1 --checkpoint rule.yaml --terms 2 --out f.yaml "
      "--json" +
      std::string(kOn));
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_GE(json["terms"].size(), 1u);
  EXPECT_LE(json["terms"].size(), 2u);
  for (const Json& term : json["terms"]) {
    EXPECT_NE(term["value"], term["default"]);
    EXPECT_FALSE(term["about"].get<std::string>().empty());
    EXPECT_GT(term["without"], 0.0);
  }
  EXPECT_EQ(json["kept"], json["terms"].back()["kept"]);
  const double whole = json["ratio_to_defaults"], formula = json["formula_ratio_to_defaults"];
  EXPECT_NEAR(json["kept"].get<double>(), std::log(formula) / std::log(whole), 1e-9);
  // The reported ratios are those of replaying the formula and the rule.
  const Result played =
      shell("yardmaster simulate --policy f.yaml,rule.yaml,joint --json" + std::string(kOn));
  ASSERT_EQ(played.code, 0) << played.err;
  const Json runs = Json::parse(played.out)["runs"];
  const auto jct_s = [&](size_t run) { return runs[run]["mean_jct_s"].get<double>(); };
  EXPECT_NEAR(jct_s(0) / jct_s(2), formula, 1e-9);
  EXPECT_NEAR(jct_s(1) / jct_s(2), whole, 1e-9);
  EXPECT_THAT(read_file("f.yaml"), HasSubstr("policy: joint"));
}

TEST(Explain, RejectsInvalidOptionsInOneMessage) {
  Folder folder;
  folder.write("rule.yaml", kRule);
  folder.write("las.yaml", "policy: las\nsettings: {}\n");
  folder.write("same.yaml", "policy: joint\nsettings: {margin_log2: 1}\n");
  const std::pair<const char*, const char*> cases[] = {
      {"--checkpoint las.yaml", "a file of the policy 'joint'"},
      {"--checkpoint same.yaml", "settings other than the defaults"},
      {"--checkpoint nowhere", "nowhere"},
      {"--checkpoint rule.yaml --terms 0", "--terms: expected 1 to 100, got 0"},
  };
  for (const auto& [options, message] : cases) {
    const Result result = shell("yardmaster explain " + std::string(options) + kOn);
    EXPECT_EQ(result.code, 2) << options << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << options;
  }
}

}  // namespace
}  // namespace yard::testing
