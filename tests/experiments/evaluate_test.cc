// Comparisons with known answers, and the log of test split openings.
#include "experiments/evaluate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "experiments/evaluate/policy_specs.h"
#include "experiments/evaluate/summary.h"
#include "experiments/evaluate/test_log.h"
#include "tests/support/checkpoints.h"

namespace yard {
namespace {

EvaluateOptions options_for(const std::string& candidate, std::vector<std::string> against) {
  EvaluateOptions options;
  CellSpec cell;
  cell.name = "as it is";
  cell.scenario.trace = "synthetic:habits";
  cell.scenario.cluster = "4x8";
  cell.scenario.generate_jobs = 600;
  cell.replicas = 2;
  options.cells = {cell};
  options.candidates = {{candidate, {candidate}}};
  options.against = std::move(against);
  options.run_of = [](const std::string&) { return RunOptions{}; };
  return options;
}

TEST(Evaluate, PolicyAgainstItselfIsExactlyOne) {
  const Evaluation result = evaluate(options_for("las", {"las"}));
  ASSERT_EQ(result.cells.size(), 1u);
  const CellResult& cell = result.cells[0];
  EXPECT_DOUBLE_EQ(cell.vs_baseline.ratio, 1);
  EXPECT_DOUBLE_EQ(cell.vs_baseline.interval.lo, 1);
  EXPECT_DOUBLE_EQ(cell.vs_baseline.interval.hi, 1);
  EXPECT_NEAR(cell.oracle_gap_closed(), 0, 1e-12);
  EXPECT_EQ(cell.facts.jobs, 600);
  EXPECT_EQ(cell.unfinished(), 0);
  EXPECT_TRUE(cell.conclusive);
  EXPECT_EQ(cell.test_openings, 0);
}

TEST(Evaluate, RatioIsThatOfMeanJcts) {
  const Evaluation result = evaluate(options_for("greedy", {"fifo", "2d-las"}));
  const CellResult& cell = result.cells[0];
  ASSERT_EQ(cell.rivals.size(), 2u);
  EXPECT_EQ(cell.rivals[cell.baseline].score.name, "2d-las");
  for (const ComparedPolicy& rival : cell.rivals) {
    EXPECT_NEAR(rival.candidate_ratio.ratio,
                cell.mean(&PolicyScore::mean_jct_s) / rival.score.mean_jct_s, 1e-9);
    EXPECT_LE(rival.candidate_ratio.interval.lo, rival.candidate_ratio.ratio);
    EXPECT_GE(rival.candidate_ratio.interval.hi, rival.candidate_ratio.ratio);
  }
  EXPECT_GT(cell.vs_baseline.ratio, 1);  // without preemption it loses, and the table shows it
  EXPECT_LT(cell.oracle_gap_closed(), 0);
}

TEST(Evaluate, OracleIsTheBestOfItsFamily) {
  const Evaluation result = evaluate(options_for("las", {"fifo"}));
  const CellResult& cell = result.cells[0];
  ASSERT_TRUE(cell.oracle.has_value());
  EXPECT_GE(cell.bounds.size(), 10u);
  for (const PolicyScore& bound : cell.bounds) {
    EXPECT_TRUE(is_oracle_bound(bound.level)) << bound.name;
    EXPECT_GE(bound.mean_jct_s, cell.bounds[*cell.oracle].mean_jct_s);
  }
  EXPECT_GT(cell.oracle_headroom(), 0);
  EXPECT_NEAR(cell.oracle_gap_closed(),
              std::log(cell.vs_baseline.ratio) / std::log(1 - cell.oracle_headroom()), 1e-12);
}

TEST(Evaluate, OraclesAreNotRivals) {
  const Evaluation result = evaluate(options_for("las", {"fifo", "srtf"}));
  ASSERT_EQ(result.cells[0].rivals.size(), 1u);
  EXPECT_EQ(result.cells[0].rivals[0].score.name, "fifo");
  EXPECT_THROW(evaluate(options_for("las", {"srtf"})), InputError);
}

TEST(Evaluate, RivalsHaveNoMoreInformationThanTheCandidate) {
  const Evaluation result = evaluate(options_for("las", {}));
  for (const ComparedPolicy& rival : result.cells[0].rivals) {
    EXPECT_LE(rival.score.level, InformationLevel::kBlind) << rival.score.name;
    EXPECT_NE(rival.score.name, "las");
  }
  EXPECT_GE(result.cells[0].rivals.size(), 2u);
}

TEST(Evaluate, BaselineIsChosenOnValidation) {
  EvaluateOptions options = options_for("fifo", {"greedy", "las"});
  CellSpec& cell = options.cells[0];
  cell.scenario.window.from = "60%";
  cell.scenario.window.to = "80%";
  for (const char* part : {"20%", "40%"}) {
    options.validation.push_back(cell);
    CellSpec& validation = options.validation.back();
    validation.name = std::string("validation from ") + part;
    validation.chosen_on.clear();
    validation.scenario.window.from = part;
    validation.scenario.window.to = "60%";
    cell.chosen_on.push_back(validation.name);
  }
  const Evaluation result = evaluate(options);
  const CellResult& found = result.cells[0];
  EXPECT_TRUE(found.validated);
  // The geometric mean of both windows evaluated alone.
  double product = 1;
  for (const CellSpec& validation : options.validation) {
    EvaluateOptions alone = options_for("fifo", {"las"});
    alone.cells = {validation};
    product *= evaluate(alone).cells[0].rivals[0].score.mean_jct_s;
  }
  ASSERT_EQ(found.rivals[1].score.name, "las");
  EXPECT_NEAR(found.rivals[1].validation_jct_s, std::sqrt(product), 1e-6);
  const double chosen = found.rivals[found.baseline].validation_jct_s;
  for (const ComparedPolicy& rival : found.rivals) EXPECT_GE(rival.validation_jct_s, chosen);
  EXPECT_FALSE(found.conclusive);  // about 120 jobs: too few blocks
}

TEST(Evaluate, CandidatesAreComparedSeparately) {
  EvaluateOptions both = options_for("las", {});
  both.candidates.push_back({"srsf-history", {"srsf-history"}});
  const Evaluation result = evaluate(both);
  ASSERT_EQ(result.cells.size(), 2u);
  for (const CellResult& cell : result.cells) {
    EvaluateOptions alone = options_for(cell.candidate_name, {});
    const CellResult own = evaluate(alone).cells[0];
    EXPECT_EQ(cell.vs_baseline.ratio, own.vs_baseline.ratio) << cell.candidate_name;
    EXPECT_EQ(cell.rivals.size(), own.rivals.size())
        << "a policy with more information is not a rival";
  }
  EXPECT_LT(result.cells[0].rivals.size(), result.cells[1].rivals.size());
}

// The result equals that with the other candidate named as a rival.
TEST(Evaluate, CandidatesAreComparedWithEachOther) {
  EvaluateOptions both = options_for("las", {"fifo"});
  both.candidates.push_back({"srsf-history", {"srsf-history"}});
  const Evaluation result = evaluate(both);
  ASSERT_EQ(result.cells[0].others.size(), 1u);
  const ComparedPolicy& other = result.cells[0].others[0];
  EXPECT_EQ(other.score.name, "srsf-history");
  const CellResult named = evaluate(options_for("las", {"srsf-history"})).cells[0];
  EXPECT_EQ(other.candidate_ratio.ratio, named.vs_baseline.ratio);
  EXPECT_EQ(other.candidate_ratio.interval.lo, named.vs_baseline.interval.lo);
  EXPECT_NEAR(other.candidate_ratio.ratio * result.cells[1].others[0].candidate_ratio.ratio, 1,
              1e-9);
  EXPECT_GT(result.cells[0].decisions_per_core_s(), 0);
}

TEST(Evaluate, LearnedPolicyIsComparedWithItsUntrainedNetwork) {
  const testing::Scratch scratch;
  const auto saved = [&](const char* name, int seed) {
    Checkpoint made = testing::small_checkpoint();
    made.weights = testing::random_weights(8, Rng{static_cast<uint64_t>(seed)});
    const std::string folder = (scratch.path() / name).string();
    save_checkpoint(made, folder);
    return "checkpoint:" + folder;
  };
  const std::vector<std::string> seeds = {saved("a", 1), saved("b", 2)};
  EvaluateOptions options = options_for("seeds", {"las"});
  options.candidates[0].policies = seeds;
  options.candidates.push_back({"fifo", {"fifo"}});
  int played = 0;
  options.progress = [&](const std::string& line) {
    played += line.find("untrained:") != line.npos;
  };
  const Evaluation result = evaluate(options);
  const CellResult& learned = result.cells[0];
  ASSERT_NE(learned.untrained_result(), nullptr);
  EXPECT_EQ(learned.untrained_result()->score.name, "untrained");
  EXPECT_EQ(learned.rivals.size(), 1u) << "it is not a rival and cannot be the baseline";
  EXPECT_EQ(played, 2) << "both seeds have the same untrained network";
  EXPECT_EQ(result.cells[1].untrained_result(), nullptr) << "a heuristic has no untrained network";
  // The result equals that with the untrained network named as a rival.
  const std::string self = "untrained:" + seeds[0].substr(std::string("checkpoint:").size());
  EvaluateOptions named = options_for("seeds", {self});
  named.candidates[0].policies = seeds;
  const RatioEstimate expected = evaluate(named).cells[0].vs_baseline;
  EXPECT_EQ(learned.untrained_result()->candidate_ratio.ratio, expected.ratio);
  EXPECT_EQ(learned.untrained_result()->candidate_ratio.interval.hi, expected.interval.hi);
}

TEST(Evaluate, PooledSeedsAreListedWithEachSeed) {
  EvaluateOptions as_one = options_for("seeds", {"fifo"});
  as_one.candidates[0].policies = {"las", "2d-las"};
  EvaluateOptions all = options_for("las", {"fifo"});
  all.candidates.push_back({"2d-las", {"2d-las"}});
  all.candidates.push_back(as_one.candidates[0]);
  int played = 0, played_by_two = 0;
  all.progress = [&](const std::string& line) { played += line.find("run ") != line.npos; };
  const Evaluation result = evaluate(all);
  EvaluateOptions two = options_for("las", {"fifo"});
  two.candidates.push_back({"2d-las", {"2d-las"}});
  two.progress = [&](const std::string& line) { played_by_two += line.find("run ") != line.npos; };
  evaluate(two);
  EXPECT_GT(played_by_two, 0);
  EXPECT_EQ(played, played_by_two);
  ASSERT_EQ(result.cells.size(), 3u);
  const CellResult alone = evaluate(as_one).cells[0];
  EXPECT_EQ(result.cells[2].candidates.size(), 2u);
  EXPECT_EQ(result.cells[2].vs_baseline.ratio, alone.vs_baseline.ratio);
  EXPECT_EQ(result.cells[2].vs_baseline.interval.lo, alone.vs_baseline.interval.lo);
  // A pool of seeds is compared with each other candidate, but no candidate with a pool.
  EXPECT_EQ(result.cells[2].others.size(), 2u);
  EXPECT_EQ(result.cells[0].others.size(), 1u);
}

TEST(Evaluate, LargestClassHasAtLeastFiftyJobs) {
  const CellResult cell = evaluate(options_for("las", {"las"})).cells[0];
  int64_t jobs = 0;
  for (const int64_t of_class : cell.facts.class_jobs) jobs += of_class;
  EXPECT_EQ(jobs, 600);
  ASSERT_TRUE(cell.largest_size_class().has_value());
  for (int c = *cell.largest_size_class() + 1; c < kSizeClasses; ++c) {
    EXPECT_LT(cell.facts.class_jobs[static_cast<size_t>(c)], 50);
  }
  EXPECT_GE(cell.facts.class_jobs[static_cast<size_t>(*cell.largest_size_class())], 50);
  EXPECT_DOUBLE_EQ(cell.largest_class_jct_ratio(), 1);
}

// If the mean improves and another figure grows by over 10 %, both are reported; 10 % is not over.
TEST(Evaluate, RegressionsAreNamed) {
  const auto result = [](double wait_s, double class_jct_s) {
    CellResult cell;
    cell.facts.class_jobs[4] = 60;
    PolicyScore ours, theirs;
    theirs.max_wait_s = 1000;
    theirs.class_jct_s[4] = 500;
    ours.max_wait_s = wait_s;
    ours.class_jct_s[4] = class_jct_s;
    cell.candidates = {ours};
    cell.rivals.emplace_back().score = theirs;
    cell.baseline = 0;
    return cell;
  };
  EXPECT_THAT(result(1100, 500).regressions(), ::testing::IsEmpty());
  EXPECT_THAT(result(1520, 500).regressions(), ::testing::ElementsAre("longest wait x 1.52"));
  EXPECT_THAT(result(900, 600).regressions(),
              ::testing::ElementsAre("mean JCT of jobs of >16 GPUs x 1.20"));
  EXPECT_THAT(result(2000, 600).regressions(), ::testing::SizeIs(2));
}

TEST(SizeClasses, MatchTheTables) {
  const auto name = [](int32_t gpus) { return std::string(size_class_name(size_class_of(gpus))); };
  EXPECT_EQ(name(1), "1");
  EXPECT_EQ(name(2), "2-4");
  EXPECT_EQ(name(4), "2-4");
  EXPECT_EQ(name(5), "5-8");
  EXPECT_EQ(name(8), "5-8");
  EXPECT_EQ(name(16), "9-16");
  EXPECT_EQ(name(17), ">16");
}

// A kept score equals the computed one and is read instead of replayed.
TEST(Evaluate, KeptScoresAreNotReplayed) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "yard_kept";
  std::filesystem::remove_all(folder);
  EvaluateOptions options = options_for("las", {"fifo", "greedy"});
  options.cells[0].name = "group/trace/x1";
  options.cells[0].sha256 = "of this test";
  options.cells[0].scenario.congestion = 1;
  const CellResult never_kept = evaluate(options).cells[0];
  options.results = folder;
  const CellResult first = evaluate(options).cells[0];
  EXPECT_EQ(first.vs_baseline.ratio, never_kept.vs_baseline.ratio);
  const std::filesystem::path cell = folder / "group/trace/x1";
  std::filesystem::path of_las;
  for (const auto& file : std::filesystem::directory_iterator(cell)) {
    const std::string name = file.path().filename();
    EXPECT_FALSE(name.starts_with(".")) << "left over: " << name;
    if (name.starts_with("las-")) of_las = file.path();
  }
  ASSERT_FALSE(of_las.empty());
  // An impossible value in the kept file shows that it was read.
  std::string text = read_file(of_las);
  const size_t at = text.find("\"p99_jct_s\": ");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find(',', at) - at, "\"p99_jct_s\": 12345.0");
  write_file_atomic(of_las, text);
  EXPECT_EQ(evaluate(options).cells[0].candidates[0].p99_jct_s, 12345);
  // Other settings give another score.
  options.run_of = [](const std::string& policy) {
    RunOptions how;
    if (policy == "las") how.policy.set("limit_1_gpu_s", "100", "test");
    return how;
  };
  const CellResult other = evaluate(options).cells[0];
  EXPECT_NE(other.candidates[0].p99_jct_s, 12345);
  EXPECT_NE(other.candidates[0].mean_jct_s, first.candidates[0].mean_jct_s);
  write_file_atomic(of_las, "{");
  options.run_of = [](const std::string&) { return RunOptions{}; };
  EXPECT_THROW(evaluate(options), InputError);
  std::filesystem::remove_all(folder);
}

// Policies which play alike where preemption is allowed may differ where it is not, and the
// reverse.
TEST(PolicySpecInputs, StartOnlyInputsReflectStartOnlyPlay) {
  const auto spec_with = [](const std::string& policy, const char* key, const char* value) {
    RunOptions how;
    how.policy.set(key, value, "test");
    return make_policy_spec(policy, how);
  };
  const PolicySpec stops = spec_with("2d-las", "preempt", "true");
  const PolicySpec starts = spec_with("2d-las", "preempt", "false");
  const auto of = [](const PolicySpec& policy_spec, bool may_stop) {
    return nlohmann::json::parse(inputs_of(policy_spec, may_stop));
  };
  EXPECT_FALSE(of(stops, true).contains("start_only"));
  EXPECT_NE(of(stops, true)["fingerprint"], of(starts, true)["fingerprint"]);
  EXPECT_EQ(of(stops, false)["fingerprint"], of(stops, true)["fingerprint"]);
  EXPECT_EQ(of(stops, false)["start_only"], of(starts, false)["start_only"]);
  EXPECT_EQ(of(starts, false)["start_only"], of(starts, true)["fingerprint"]);
  EXPECT_NE(of(stops, false)["start_only"],
            of(spec_with("fifo", "placement", "first-fit"), false)["start_only"]);
}

TEST(Summary, CoversConclusiveCellsOfEachCandidateAndGroup) {
  EvaluateOptions options = options_for("las", {"greedy"});
  options.cells.push_back(options.cells[0]);
  options.cells[0].name = "one/habits/x1";
  options.cells[0].scenario.congestion = 1;
  options.cells[1].name = "two/habits/x3";
  options.cells[1].scenario.congestion = 3;
  const Evaluation result = evaluate(options);
  ASSERT_EQ(result.cells.size(), 2u);
  EXPECT_NEAR(result.cells[0].facts.congestion, 1, 0.05);
  EXPECT_NEAR(result.cells[1].facts.congestion, 3, 0.15);
  const std::vector<SummaryRow> rows = summarise(result.cells, 1);
  std::vector<std::string> groups;
  for (const SummaryRow& row : rows) groups.push_back(row.group);
  EXPECT_EQ(groups.front(), "all");
  for (const char* group : {"all", "one", "two"}) EXPECT_THAT(groups, ::testing::Contains(group));
  double log_gain = 0, log_oracle_gain = 0;
  int conclusive = 0;
  for (const CellResult& cell : result.cells) {
    if (!cell.conclusive && rows[0].conclusive > 0) continue;
    ++conclusive;
    log_gain += std::log(cell.vs_baseline.ratio);
    log_oracle_gain += std::log(1 - cell.oracle_headroom());
  }
  ASSERT_EQ(rows[0].cells, conclusive);
  EXPECT_NEAR(std::log(rows[0].pooled.ratio.value), log_gain / conclusive, 1e-12);
  EXPECT_NEAR(rows[0].pooled.oracle_gap_closed.value, log_gain / log_oracle_gain, 1e-9);
  EXPECT_LE(rows[0].pooled.oracle_gap_closed.interval.lo, rows[0].pooled.oracle_gap_closed.value);
  EXPECT_GE(rows[0].pooled.oracle_gap_closed.interval.hi, rows[0].pooled.oracle_gap_closed.value);
  EXPECT_EQ(rows[0].ratio.worst,
            std::max(result.cells[0].vs_baseline.ratio, result.cells[1].vs_baseline.ratio));
  // One comparison with each rival.
  ASSERT_EQ(rows[0].against.size(), result.cells[0].rivals.size());
  for (size_t r = 0; r < rows[0].against.size(); ++r) {
    const PooledComparison& over = rows[0].against[r];
    EXPECT_EQ(over.policy, result.cells[0].rivals[r].score.name);
    double sum = 0;
    int conclusive_count = 0;
    for (const CellResult& cell : result.cells) {
      if (!cell.conclusive && rows[0].conclusive > 0) continue;
      const ComparedPolicy& rival = cell.rivals[r];
      sum += std::log(rival.candidate_ratio.ratio);
      conclusive_count += rival.candidate_ratio.blocks >= 6 && cell.facts.jobs >= 500;
    }
    EXPECT_EQ(over.conclusive, conclusive_count) << over.policy;
    EXPECT_NEAR(std::log(over.ratio.value), sum / conclusive, 1e-12) << over.policy;
    EXPECT_LT(over.ratio.interval.lo, over.ratio.value) << over.policy;
    EXPECT_GT(over.ratio.interval.hi, over.ratio.value) << over.policy;
  }
}

TEST(Summary, AlsoCoversAllCellsIfSomeAreInconclusive) {
  EvaluateOptions options = options_for("las", {"fifo"});
  options.cells.push_back(options.cells.front());
  options.cells[0].name = "one/habits/x1";
  options.cells[1].name = "one/habits/x3";
  Evaluation result = evaluate(options);
  const auto over = [&] {
    std::vector<std::pair<std::string, int>> out;
    for (const SummaryRow& row : summarise(result.cells, 1)) {
      if (!row.over.ends_with("3 %")) out.emplace_back(row.over, row.cells);
    }
    return out;
  };
  using Over = std::vector<std::pair<std::string, int>>;
  result.cells[0].conclusive = result.cells[1].conclusive = true;
  EXPECT_EQ(over(), (Over{{"conclusive cells", 2}}));
  result.cells[1].conclusive = false;
  EXPECT_EQ(over(), (Over{{"conclusive cells", 1}, {"all cells", 2}}));
  result.cells[0].conclusive = false;
  EXPECT_EQ(over(), (Over{{"all cells", 2}}));
}

TEST(TestLog, CountsTheOpeningsOfEachTrace) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "yard_test_log";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto log = folder / "log.jsonl";
  EXPECT_EQ(log_test_split_opening(log, {"a.csv", "aa", "1x8", "0", "10", {"las"}, {}, ""}), 1);
  EXPECT_EQ(log_test_split_opening(log, {"b.csv", "bb", "1x8", "0", "10", {"las"}, {}, ""}), 1);
  EXPECT_EQ(log_test_split_opening(log, {"a.csv", "aa", "1x8", "0", "10", {"fifo"}, {"d"}, ""}), 2);
  EXPECT_EQ(std::ranges::count(read_file(log), '\n'), 3);
  // An opening with known inputs counts only the first time for a window.
  const TestSplitOpening known{"a.csv", "aa", "1x8", "0", "10", {"las"}, {}, "hash"};
  EXPECT_EQ(log_test_split_opening(log, known), 3);
  EXPECT_EQ(log_test_split_opening(log, known), 3);
  TestSplitOpening other = known;
  other.to = "20";
  EXPECT_EQ(log_test_split_opening(log, other), 4);
  other.inputs = "of others";
  EXPECT_EQ(log_test_split_opening(log, other), 5);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace yard
