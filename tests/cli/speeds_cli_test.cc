// --speeds: what is printed with the level of information, what it changes and where it is refused.
// Headroom appears only where known run times give a bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kServers =
    "--trace synthetic:servers --generate-jobs 120 --cluster servers-13 "
    "--profiles experiments/speeds/servers.csv ";

Json json_of(const std::string& command) {
  const Result result = shell(command);
  EXPECT_EQ(result.code, 0) << result.err;
  return Json::parse(result.out, nullptr, false);
}

TEST(Speeds, AreExactByDefaultAndPrinted) {
  const std::string simulate = "yardmaster simulate " + kServers + "--policy optimus,drf ";
  const Result table = shell(simulate);
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("information  speeds"));
  EXPECT_THAT(table.out, HasSubstr(" exact "));
  EXPECT_THAT(shell(simulate + "--speeds noisy").out, HasSubstr(" noisy "));
  for (const Json& run : json_of(simulate + "--json")["runs"]) EXPECT_EQ(run["speeds"], "exact");
  for (const Json& run : json_of(simulate + "--json --speeds learned")["runs"]) {
    EXPECT_EQ(run["speeds"], "learned");
  }
}

TEST(Speeds, AffectPoliciesThatUseThem) {
  const auto jct = [](const std::string& how) {
    const Json json =
        json_of("yardmaster simulate " + kServers + "--policy optimus,fifo --json " + how);
    return std::pair(json["runs"][0]["mean_jct_s"].get<double>(),
                     json["runs"][1]["mean_jct_s"].get<double>());
  };
  const auto [exact, fifo] = jct("");
  const auto [noisy, fifo_noisy] = jct("--speeds noisy");
  const auto [learned, fifo_learned] = jct("--speeds learned");
  EXPECT_NE(exact, noisy);
  EXPECT_NE(exact, learned);
  EXPECT_EQ(noisy, jct("--speeds noisy").first) << "the same seed, the same errors";
  EXPECT_EQ(fifo, fifo_noisy);
  EXPECT_EQ(fifo, fifo_learned);
  EXPECT_EQ(exact, jct("--speeds exact").first);
  EXPECT_EQ(exact, jct("--speeds told").first) << "another name of the level";
}

TEST(Speeds, AreSupportedByEvaluateAndTune) {
  const Json row = json_of("yardmaster evaluate " + kServers +
                           "--candidate optimus --against drf --replicas 1 --json --speeds "
                           "noisy")["cells"][0];
  EXPECT_EQ(row["speeds"], "noisy");
  EXPECT_EQ(row["policies"][0]["speeds"], "noisy");
  const Json tuned = json_of(
      "yardmaster tune --trace synthetic:habits --generate-jobs 60 --cluster 4x8 --policy las "
      "--budget 2 --replicas 1 --json --speeds learned")["tuned"][0];
  EXPECT_EQ(tuned["speeds"], "learned");
}

TEST(Speeds, AreRejectedUnderPublishedRules) {
  const Result rules = shell(
      "yardmaster simulate --trace synthetic:habits --generate-jobs 60 --cluster 4x8 --rules "
      "tiresias --policy fifo --speeds noisy");
  EXPECT_EQ(rules.code, 2);
  EXPECT_THAT(rules.err, HasSubstr("--speeds noisy: expected rules 'default'"));
  const Result word = shell("yardmaster simulate " + kServers + "--policy drf --speeds guessed");
  EXPECT_EQ(word.code, 2);
  EXPECT_THAT(word.err, HasSubstr("--speeds: expected one of: exact, noisy, learned"));
}

TEST(Speeds, NoteIsPrintedIfNoneAreKnown) {
  const std::string scene = "--trace synthetic:habits --generate-jobs 60 --cluster 4x8 ";
  const std::string note = "has no effect: no job here has a model with known speeds";
  for (const std::string command :
       {"simulate --policy las ", "evaluate --candidate las --against fifo --replicas 1 "}) {
    for (const std::string speeds : {"noisy", "learned"}) {
      const Result with = shell("yardmaster " + command + scene + "--speeds " + speeds);
      EXPECT_EQ(with.code, 0) << with.err;
      EXPECT_THAT(with.out + with.err, HasSubstr("--speeds " + speeds + " " + note)) << command;
    }
    const Result without = shell("yardmaster " + command + scene);
    EXPECT_THAT(without.out + without.err, Not(HasSubstr(note))) << command;
  }
  const Result known = shell("yardmaster simulate " + kServers + "--policy drf --speeds noisy");
  EXPECT_THAT(known.err, Not(HasSubstr(note)));
}

TEST(Speeds, NoteIsPrintedIfProfilesHaveNoEffect) {
  const std::string note = "the profiles have no effect: no job has a model";
  const Result without = shell(
      "yardmaster simulate --trace synthetic:habits --generate-jobs 60 --cluster 4x8 --policy las "
      "--profiles experiments/speeds/servers.csv");
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr(note));
  const Result with = shell("yardmaster simulate " + kServers + "--policy drf");
  EXPECT_THAT(with.err, Not(HasSubstr("profiles have no effect")));
}

TEST(Headroom, SmallHeadroomAndRegressionsAreReported) {
  const std::string evaluate =
      "yardmaster evaluate --trace synthetic:habits --generate-jobs 600 --cluster 4x8 --replicas 1 "
      "--candidate srtf-history --against fifo ";
  const Json row = json_of(evaluate + "--json")["cells"][0];
  ASSERT_GT(row["max_wait_ratio"].get<double>(), 1.1) << "the example has one";
  EXPECT_LT(row["ratio"].get<double>(), 1);
  EXPECT_THAT(row["regressions"][0].get<std::string>(), HasSubstr("longest wait x "));
  EXPECT_THAT(shell(evaluate).out, HasSubstr(", but longest wait x "));
  const Json alone = json_of(
      "yardmaster evaluate --trace synthetic:habits --generate-jobs 60 --cluster 400x8 --replicas "
      "1 "
      "--candidate las --against fifo --json")["cells"][0];
  EXPECT_TRUE(alone["oracle_gap_closed"].is_null()) << "nothing waits: " << alone["headroom"];
}

TEST(Headroom, IsUndefinedForElasticJobsWithAReason) {
  const std::string evaluate =
      "yardmaster evaluate " + kServers + "--candidate optimus --against drf --replicas 1 ";
  const Json json = json_of(evaluate + "--json");
  const Json& row = json["cells"][0];
  for (const char* key : {"headroom", "headroom_hindsight", "oracle_gap_closed",
                          "oracle_gap_closed", "oracle", "oracle_jct_s"}) {
    ASSERT_TRUE(row.contains(key)) << key;
    EXPECT_TRUE(row[key].is_null()) << key;
  }
  EXPECT_THAT(row["no_bound"].get<std::string>(), HasSubstr("elastic"));
  EXPECT_TRUE(json["summary"][0]["oracle_gap_closed"].is_null());
  const Result text = shell(evaluate);
  EXPECT_THAT(text.out, HasSubstr("no bound"));
  EXPECT_THAT(text.out, HasSubstr("headroom - (hindsight -), oracle gap closed -"));
  EXPECT_THAT(text.out, Not(HasSubstr("nan")));
}

TEST(Headroom, IsDefinedForPlainJobs) {
  const Json row = json_of(
      "yardmaster evaluate --trace synthetic:habits --generate-jobs 200 --cluster 4x8 --replicas 1 "
      "--candidate las --against fifo --json")["cells"][0];
  EXPECT_TRUE(row["no_bound"].is_null());
  EXPECT_TRUE(row["headroom"].is_number());
  EXPECT_EQ(row["oracle_gap_closed"], row["oracle_gap_closed"]);
  EXPECT_TRUE(row["oracle_gap_closed"].is_number());
}

TEST(Headroom, SimulateLabelsInvalidBounds) {
  const std::string with = "--policy drf,srtf ";
  const Result elastic = shell("yardmaster simulate " + kServers + with);
  EXPECT_THAT(elastic.out,
              HasSubstr("oracles, which see true run times (no bound here: elastic jobs"));
  const Json runs = json_of("yardmaster simulate " + kServers + with + "--json")["runs"];
  EXPECT_FALSE(runs[1]["bound"].get<bool>());
  const Result plain = shell(
      "yardmaster simulate --trace synthetic:habits --generate-jobs 60 --cluster 4x8 --policy "
      "fifo,srtf");
  EXPECT_THAT(plain.out, HasSubstr("oracles, which see true run times (bounds, not rivals):"));
}

}  // namespace
}  // namespace yard::testing
