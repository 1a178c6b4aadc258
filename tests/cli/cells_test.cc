// evaluate and tune on files of cells: one table of several traces, resumption of interrupted work,
// and test splits whose openings are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Two traces, each with an early and a late window.
class Cells : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string yaml = "congestions: [0.3, 1]\nreplicas: 2\nagainst: [fifo, greedy]\ntraces:\n";
    for (const std::string name : {"a", "b"}) {
      const std::string file = name + ".csv";
      ASSERT_EQ(shell("yardmaster trace generate synthetic:habits --jobs 400 --seed " +
                      std::string(name == "a" ? "1" : "2") + " --out " + file)
                    .code,
                0);
      yaml += "  " + name + ": {file: " + file + ", sha256: " + sha256_hex(read_file(file)) +
              ", cluster: " + (name == "a" ? "16x8" : "24x8") + "}\n";
    }
    yaml +=
        "groups:\n"
        "  early: {traces: [a], from: 40%, to: 80%}\n"
        "  late: {traces: [a, b], from: 80%, to: 100%, choose_on: early}\n";
    folder_.write("cells.yaml", yaml);
    std::filesystem::create_directory("evaluations");  // this project logs test openings
    folder_.write("evaluations/test_log.jsonl", "");
  }

  static Json evaluate(const std::string& options) {
    const Result result = shell("yardmaster evaluate --cells cells.yaml --json " + options);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out);
  }

  static int64_t files(const std::filesystem::path& folder) {
    using Each = std::filesystem::recursive_directory_iterator;
    if (!std::filesystem::exists(folder)) return 0;
    return std::count_if(Each(folder), Each(), [](const auto& e) { return e.is_regular_file(); });
  }

  const std::string root_ = std::filesystem::current_path().string();
  Folder folder_;
};

TEST_F(Cells, TestOpeningsAreLoggedIfALogExists) {
  const std::string options = "--only late/a/x1 --candidate las";
  std::filesystem::remove("evaluations/test_log.jsonl");
  EXPECT_EQ(evaluate(options)["cells"][0]["test_openings"], 0);
  EXPECT_FALSE(folder_.has("evaluations/test_log.jsonl"));
  // Openings are logged when called from another folder, and for a cells file in a subfolder.
  folder_.write("evaluations/test_log.jsonl", "");
  for (const char* made : {"elsewhere", "experiments"}) std::filesystem::create_directory(made);
  std::string yaml = read_file("cells.yaml");
  for (const char* trace : {"a.csv", "b.csv"}) {
    yaml.replace(yaml.find(trace), 5, std::string("../") + trace);
  }
  folder_.write("experiments/cells.yaml", yaml);
  for (const auto& [file, openings] :
       {std::pair{"../cells.yaml", 1}, {"../experiments/cells.yaml", 2}}) {
    const Result result = shell(std::string("cd elsewhere && yardmaster evaluate --json --cells ") +
                                file + " " + options);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(Json::parse(result.out)["cells"][0]["test_openings"], openings);
  }
  EXPECT_EQ(split(trim(read_file("evaluations/test_log.jsonl")), '\n').size(), 2u);
  EXPECT_TRUE(std::filesystem::is_empty("elsewhere"));
}

TEST_F(Cells, OneTableHasAllTracesAndCongestions) {
  const Json json = evaluate("--candidate las");
  ASSERT_EQ(json["cells"].size(), 6u);
  for (const Json& row : json["cells"]) {
    const bool late = row["cell"].get<std::string>().starts_with("late/");
    EXPECT_EQ(row["baseline_chosen"], late ? "validation" : "hindsight");
    EXPECT_EQ(row["hindsight_count"], 2);
    EXPECT_EQ(row["test_openings"], late ? 1 : 0);
    EXPECT_EQ(row["cell_hash"].get<std::string>().size(), 16u);
    EXPECT_TRUE(row["trace"] == "a.csv" || row["trace"] == "b.csv") << "only the name";
  }
  EXPECT_EQ(json["cells_file"]["sha256"], sha256_hex(read_file("cells.yaml")));
  for (const char* key : {"policy", "group", "over", "cells", "conclusive", "ratio", "ratio_lo",
                          "ratio_hi", "oracle_gap_closed", "oracle_gap_closed_lo", "iqm", "iqm_lo",
                          "probability_of_improvement", "p99_ratio", "p99_ratio_worst",
                          "max_wait_ratio_worst", "largest_class_jct_ratio", "preemptions_ratio"}) {
    EXPECT_TRUE(json["summary"][0].contains(key)) << key;
  }
  // One row for all cells, then one for each group; all results are inconclusive.
  ASSERT_EQ(json["summary"].size(), 3u);
  EXPECT_EQ(json["summary"][2]["group"], "late");
  EXPECT_EQ(json["summary"][2]["cells"], 4);
  const Result text = shell("yardmaster evaluate --cells cells.yaml --only early --candidate las");
  EXPECT_THAT(text.out, HasSubstr("early/a/x1"));
  EXPECT_THAT(text.out, HasSubstr("probability of improvement"));
}

TEST_F(Cells, KeptResultsAreReusedWithoutNewOpenings) {
  const std::string options = "--only late --candidate las,greedy --out kept ";
  const Json first = evaluate(options);
  const int64_t kept = files("kept");
  EXPECT_GT(kept, 0);
  const Json again = evaluate(options);
  EXPECT_EQ(first, again);
  EXPECT_EQ(files("kept"), kept);
  // One line for each trace, not for each congestion or call.
  EXPECT_EQ(split(trim(read_file("evaluations/test_log.jsonl")), '\n').size(), 2u);
  // Only the added candidate is played; it counts as another opening.
  const Json other = evaluate("--only late --candidate srsf-history --out kept");
  EXPECT_EQ(files("kept"), kept + 4);
  EXPECT_EQ(other["cells"][0]["test_openings"], 2);
}

// Where only starts are allowed, scores and openings are keyed by how a policy plays there.
TEST_F(Cells, StartOnlyCellsHaveSeparateScoresAndOpenings) {
  const std::string bare = "  bare: {traces: [a], from: 80%, to: 100%, allows: [start]}\n";
  folder_.write("cells.yaml", read_file("cells.yaml") + bare);
  const Json json = evaluate("--only late/a/x1,bare/a/x1 --candidate 2d-las --out kept");
  EXPECT_GT(json["cells"][0]["preemptions_per_job"], 0);
  EXPECT_EQ(json["cells"][1]["preemptions_per_job"], 0);
  EXPECT_EQ(split(trim(read_file("evaluations/test_log.jsonl")), '\n').size(), 2u);
  for (const auto& [cell, start_only] : {std::pair{"late", false}, std::pair{"bare", true}}) {
    int found = 0;
    const std::filesystem::path folder = std::string("kept/") + cell + "/a/x1";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (!file.path().filename().string().starts_with("2d-las-")) continue;
      const Json policy = Json::parse(read_file(file.path()))["inputs"]["policy"];
      EXPECT_EQ(policy.contains("start_only"), start_only);
      ++found;
    }
    EXPECT_EQ(found, 1) << cell;
  }
  evaluate("--only bare --candidate 2d-las --out kept");
  EXPECT_EQ(split(trim(read_file("evaluations/test_log.jsonl")), '\n').size(), 2u);
}

TEST_F(Cells, NamedSeedsHaveTheirNameInTheTable) {
  const std::string a = root_ + "/checkpoints/pilot-1", b = root_ + "/checkpoints/pilot-2";
  const std::string rest =
      " --against las --trace synthetic:habits --generate-jobs 100 --cluster 4x8 --replicas 1";
  const std::string one = shell("yardmaster evaluate --checkpoint mine=" + a + rest).out;
  EXPECT_THAT(one, HasSubstr("\n> mine "));
  const std::string two = shell("yardmaster evaluate --checkpoint mine=" + a + "," + b + rest).out;
  EXPECT_THAT(two, HasSubstr("\n> mine: checkpoint:" + a + " "));
  EXPECT_THAT(two, HasSubstr("\n> mine: checkpoint:" + b + " "));
}

TEST_F(Cells, PooledSeedsAreListedWithEachSeed) {
  const std::string a = root_ + "/checkpoints/pilot-1", b = root_ + "/checkpoints/pilot-2";
  const std::string both = "checkpoint:" + a + ",checkpoint:" + b;
  const Json json =
      evaluate("--only early/a/x0.3 --candidate " + both + " --checkpoint " + a + "," + b);
  ASSERT_EQ(json["cells"].size(), 3u);
  EXPECT_EQ(json["summary"].size(), 3u);
  const Json& seeds = json["cells"][2];
  EXPECT_EQ(seeds["policy"], "checkpoint:" + a + " and 1 more seed");
  EXPECT_EQ(seeds["seeds"], 2);
  EXPECT_EQ(seeds["others"].size(), 3u) << "each seed, and their untrained networks";
  EXPECT_EQ(json["cells"][0]["seeds"], 1);
  EXPECT_EQ(json["cells"][0]["others"].size(), 2u);
  EXPECT_EQ(json["cells"][0]["others"][1]["policy"], "untrained");
}

// Removes the figures which depend on this machine's speed.
Json without_speed(const std::string& text) {
  Json json = Json::parse(text);
  for (const char* part : {"cells", "summary"}) {
    for (Json& row : json[part]) row.erase("decisions_per_s");
  }
  return json;
}

TEST_F(Cells, InterruptedEvaluationResumes) {
  const std::string command =
      "yardmaster evaluate --cells cells.yaml --only early/a/x0.3 --candidate gittins --out kept "
      "--json";
  const Result whole = shell(
      "yardmaster evaluate --cells cells.yaml --only early/a/x0.3 "
      "--candidate gittins --json");
  // Ctrl-C as soon as one result is kept.
  const Result stopped = shell("sh -c '" + command +
                               " & pid=$!; "
                               "for i in $(seq 2000); do ls kept/early/a/x0.3/*-* >/dev/null 2>&1 "
                               "&& break; sleep 0.01; done; "
                               "kill -INT $pid; wait $pid'");
  EXPECT_TRUE(stopped.code == 130 || stopped.code == 0) << stopped.code << stopped.err;
  EXPECT_EQ(folder_.leftovers(), 0);
  EXPECT_GT(files("kept"), 0);
  const Result resumed = shell(command);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(without_speed(resumed.out), without_speed(whole.out));
}

TEST_F(Cells, ReportDecisionCostsAndComparisons) {
  const Json json = evaluate("--candidate las,gittins --only early/a/x0.3");
  const Json& las = json["cells"][0];
  EXPECT_GT(las["decisions_per_s"], 0);
  EXPECT_TRUE(las["training_core_s"].is_null());
  ASSERT_EQ(las["others"].size(), 1u);
  EXPECT_EQ(las["others"][0]["policy"], "gittins");
  const double there = las["others"][0]["ratio"], back = json["cells"][1]["others"][0]["ratio"];
  EXPECT_NEAR(there * back, 1, 1e-9);
  // With one cell, the mean over cells is that cell's value.
  const double mean = json["summary"][0]["decisions_per_s"], here = las["decisions_per_s"];
  EXPECT_NEAR(mean / here, 1, 1e-9);
}

TEST_F(Cells, UnreachableCongestionIsSkippedAndNamed) {
  std::string yaml = read_file("cells.yaml");
  const std::string two = "congestions: [0.3, 1]";
  ASSERT_TRUE(yaml.starts_with(two));
  folder_.write("cells.yaml", "congestions: [0.3, 900]" + yaml.substr(two.size()));
  const Json json = evaluate("--candidate las --only early");
  ASSERT_EQ(json["cells"].size(), 1u);
  EXPECT_EQ(json["cells"][0]["cell"], "early/a/x0.3");
  ASSERT_EQ(json["left_out"].size(), 1u);
  EXPECT_EQ(json["left_out"][0]["cell"], "early/a/x900");
  EXPECT_THAT(json["left_out"][0]["reason"].get<std::string>(), HasSubstr("nearest"));
  const Result none =
      shell("yardmaster evaluate --cells cells.yaml --candidate las --only early/a/x900");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("nearest"));
}

TEST_F(Cells, OptionsThatContradictTheFileAreRejected) {
  for (const std::string wrong :
       {"--only nowhere", "--only ''", "--trace a.csv", "--congestion 2", "--replicas 3",
        "--seed 3", "--from 10%", "--validate-from 1% --validate-to 2%", "--cost-scale 2"}) {
    const Result result = shell("yardmaster evaluate --cells cells.yaml --candidate las " + wrong);
    EXPECT_EQ(result.code, 2) << wrong << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  for (const std::string wrong :
       {"evaluate --candidate las", "evaluate --candidate las --only early",
        "evaluate --candidate las --trace a.csv --cluster 16x8 --out kept",
        "evaluate --candidate las --cells none.yaml",
        "tune --policy las --trace a.csv --cluster 16x8 --results kept"}) {
    const Result result = shell("yardmaster " + wrong);
    EXPECT_EQ(result.code, 2) << wrong << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  folder_.write("b.csv", read_file("a.csv"));
  const Result other = shell("yardmaster evaluate --cells cells.yaml --candidate las --out kept");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("b.csv: expected sha256"));
  EXPECT_FALSE(folder_.has("kept"));
}

TEST_F(Cells, TuneSearchesAllCellsAndNamesThem) {
  const Result result = shell(
      "yardmaster tune --cells cells.yaml --only early --policy las --budget 6 "
      "--results kept --out tuned.yaml --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["cells"].size(), 2u);
  EXPECT_EQ(json["cells"][1]["cell"], "early/a/x1");
  const std::string file = read_file("tuned.yaml");
  EXPECT_THAT(file, HasSubstr(json["cells"][0]["cell_hash"].get<std::string>()));
  EXPECT_THAT(file, HasSubstr("early/a/x0.3"));
  const Json scored = evaluate("--only early --candidate tuned.yaml,las --out kept");
  EXPECT_LE(scored["summary"][0]["ratio"].get<double>(),
            scored["summary"][scored["summary"].size() / 2]["ratio"].get<double>());
  // The search and the comparison play the same replicas.
  EXPECT_NEAR(scored["cells"][0]["mean_jct_s"].get<double>(),
              json["tuned"][0]["cells"][0]["mean_jct_s"].get<double>(), 1e-6);
}

}  // namespace
}  // namespace yard::testing
