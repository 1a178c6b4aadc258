// evolve writes a policy file which is the same for the same seed. Wrong input is refused with one
// message and leaves no file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kShort =
    "--episodes 3 --validation-episodes 2 --episode-jobs 60 --generations 3 --candidates 4 --meet "
    "2 ";

class Evolve : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(shell("yardmaster trace generate synthetic:habits --jobs 400 --out a.csv").code, 0);
    folder_.write("cells.yaml", "congestions: [1]\ntraces:\n  a: {file: a.csv, sha256: " +
                                    sha256_hex(read_file("a.csv")) +
                                    ", cluster: 4x8}\ngroups:\n"
                                    "  train: {traces: [a], to: 60%}\n"
                                    "  validate: {traces: [a], from: 60%, to: 80%}\n");
  }

  static Result evolve(const std::string& options) {
    return shell("yardmaster evolve --policy las " + std::string(kShort) + options);
  }

  Folder folder_;
};

TEST_F(Evolve, WritesAPlayablePolicyWithItsProvenance) {
  const std::string on = "--cells cells.yaml --only train --validate-on validate --json ";
  const Result one = evolve(on + "--out one.yaml"), two = evolve(on + "--out two.yaml");
  ASSERT_EQ(one.code, 0) << one.err;
  const Json json = Json::parse(one.out);
  EXPECT_LE(json["validation_ratio_to_start"], 1.0);
  const int64_t met = json["episodes"], valid = json["validation_episodes"];
  // Candidates play at most two episodes each, the start plays all; start and end validate.
  EXPECT_EQ(json["played"], 3 * 4 * std::min<int64_t>(2, met) + met + 2 * valid);
  EXPECT_EQ(json["settings"].size(), 4u);
  EXPECT_EQ(read_file("one.yaml"), read_file("two.yaml"));
  const std::string yaml = read_file("one.yaml");
  EXPECT_THAT(yaml, HasSubstr("policy: las"));
  EXPECT_THAT(yaml, HasSubstr(sha256_hex(read_file("a.csv"))));
  EXPECT_THAT(yaml, HasSubstr("train/a/x1"));
  const Result played = shell("yardmaster simulate --trace a.csv --cluster 4x8 --policy one.yaml");
  EXPECT_EQ(played.code, 0) << played.err;
}

TEST_F(Evolve, DrainPlaysEpisodesWithoutLaterArrivals) {
  const std::string on = "--cells cells.yaml --only train --validate-on validate --json ";
  const Result full = evolve(on + "--out full.yaml"),
               drain = evolve(on + "--drain --out drain.yaml");
  ASSERT_EQ(drain.code, 0) << drain.err;
  EXPECT_THAT(read_file("full.yaml"), HasSubstr("after_an_episode: its jobs again"));
  EXPECT_THAT(read_file("drain.yaml"), HasSubstr("after_an_episode: nothing"));
  // Unscored jobs differ, so the scores differ.
  EXPECT_NE(Json::parse(full.out)["validation_ratio_to_start"],
            Json::parse(drain.out)["validation_ratio_to_start"]);
}

TEST_F(Evolve, AcceptsOneWorkloadWithoutACellsFile) {
  const std::string on = "--trace a.csv --cluster 4x8 --to 60% --json ";
  const Result ok = evolve(on + "--validate-from 60% --validate-to 80% --learn gpu_exponent");
  ASSERT_EQ(ok.code, 0) << ok.err;
  EXPECT_EQ(Json::parse(ok.out)["episodes"], 3);
  const Result none = evolve(on);
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--validate-from: expected a validation window of the trace"));
  const Result cells = evolve(on + "--validate-from 60% --validate-on later");
  EXPECT_EQ(cells.code, 2);
  EXPECT_THAT(cells.err, HasSubstr("--validate-on: expected --cells"));
}

TEST_F(Evolve, SearchIsNeitherOverwrittenNorShortened) {
  const std::string on =
      "--trace a.csv --cluster 4x8 --to 60% --validate-from 60% --validate-to 80% --out x.yaml ";
  ASSERT_EQ(evolve(on).code, 0);
  const std::string found = read_file("x.yaml");
  const Result again = evolve(on);
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("--resume"));
  std::string fewer = kShort;
  fewer.replace(fewer.find("--generations 3"), 15, "--generations 1");
  const Result less = shell("yardmaster evolve --policy las " + fewer + on + "--resume");
  EXPECT_EQ(less.code, 2);
  EXPECT_THAT(less.err, HasSubstr("--generations: expected at least"));
  EXPECT_EQ(read_file("x.yaml"), found);
  const Result nowhere = evolve(
      "--trace a.csv --cluster 4x8 --to 60% --validate-from 60% --validate-to 80% --out no/x.yaml");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("no/x.yaml"));
}

TEST_F(Evolve, RejectsInvalidOptionsInOneMessage) {
  const std::string on = "--cells cells.yaml --only train --validate-on validate --out x.yaml ";
  const std::pair<const char*, const char*> cases[] = {
      {"--learn luck", "'luck'"},
      {"--candidates 5", "--candidates: expected an even number, got 5"},
      {"--step 0", "--step: expected above 0"},
      {"--generations 0", "--generations: expected 1 to"},
      {"--episode-jobs 1", "--episode-jobs: expected 10 to"},
      {"--validate-from 60%", "--validate-from: expected no --cells, because"},
      {"--set las.limit_1_gpu_s=1 --set las.limit_2_gpu_s=2 --set las.gpu_exponent=1 "
       "--set las.cost_weight=0",
       "--policy: expected a policy with numeric settings"},
  };
  for (const auto& [options, message] : cases) {
    const Result result = shell("yardmaster evolve --policy las " + on + options);
    EXPECT_EQ(result.code, 2) << options << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << options;
    EXPECT_FALSE(folder_.has("x.yaml"));
  }
}

}  // namespace
}  // namespace yard::testing
