// explain from outside: its formula has few terms, plays, and keeps what it says it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Two numbers that matter where jobs are long and short, among others that hardly do.
constexpr const char* kRule =
    "policy: joint\nsettings: {margin_log2: 0.3, gpu_exponent: 0.2, order_by_wait: -1.5, clear: "
    "0.11, left_over: 0.11, settle_s: 601}\n";
constexpr const char* kOn =
    " --trace synthetic:mixed --generate-jobs 150 --cluster mixed-9 --replicas 2 ";

TEST(Explain, AFormulaOfTwoTermsSaysWhatItKeepsAndPlays) {
  Folder folder;
  folder.write("rule.yaml", kRule);
  const Result result = shell(
      "yardmaster explain --checkpoint rule.yaml --terms 2 --out f.yaml "
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
  // What it says is what playing it gives.
  const Result played = shell(
      "yardmaster simulate --policy f.yaml,rule.yaml,joint --json --trace "
      "synthetic:mixed --generate-jobs 150 --cluster mixed-9");
  ASSERT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(Json::parse(played.out)["runs"].size(), 3u);
  EXPECT_THAT(read_file("f.yaml"), HasSubstr("policy: joint"));
}

TEST(Explain, RefusesWhatIsWrongInOneMessage) {
  Folder folder;
  folder.write("rule.yaml", kRule);
  folder.write("las.yaml", "policy: las\nsettings: {}\n");
  folder.write("same.yaml", "policy: joint\nsettings: {margin_log2: 1}\n");
  const std::pair<const char*, const char*> cases[] = {
      {"--checkpoint las.yaml", "a file of the policy 'joint'"},
      {"--checkpoint same.yaml", "numbers other than the defaults"},
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
