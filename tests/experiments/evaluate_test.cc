// Comparisons whose answer is known beforehand, and the log of opened test splits.
#include "experiments/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/text.h"
#include "experiments/test_log.h"

namespace yard {
namespace {

EvaluateOptions options_for(const std::string& candidate, std::vector<std::string> against) {
  EvaluateOptions options;
  options.scenario.trace = "synthetic:habits";
  options.scenario.cluster = "4x8";
  options.scenario.generate_jobs = 600;
  options.congestions = {std::nullopt};
  options.candidates = {candidate};
  options.candidate_name = candidate;
  options.against = std::move(against);
  options.replicas = 2;
  options.run_of = [](const std::string&) { return RunOptions{}; };
  return options;
}

TEST(Evaluate, APolicyAgainstItselfIsOneWithoutDoubt) {
  const Evaluation result = evaluate(options_for("las", {"las"}));
  ASSERT_EQ(result.cells.size(), 1u);
  const CellResult& cell = result.cells[0];
  EXPECT_DOUBLE_EQ(cell.versus.ratio, 1);
  EXPECT_DOUBLE_EQ(cell.versus.interval.lo, 1);
  EXPECT_DOUBLE_EQ(cell.versus.interval.hi, 1);
  EXPECT_NEAR(cell.captured(), 0, 1e-12);
  EXPECT_EQ(cell.jobs, 600);
  EXPECT_EQ(cell.unfinished(), 0);
  EXPECT_TRUE(cell.judged);
  EXPECT_EQ(result.test_openings, 0);
}

TEST(Evaluate, TheRatioIsThatOfMeanJcts) {
  const Evaluation result = evaluate(options_for("backfill", {"fifo", "las"}));
  const CellResult& cell = result.cells[0];
  ASSERT_EQ(cell.rivals.size(), 2u);
  EXPECT_EQ(cell.rivals[cell.yardstick].score.name, "las");
  for (const Rival& rival : cell.rivals) {
    EXPECT_NEAR(rival.candidate_over_it.ratio, cell.mean_jct_s() / rival.score.mean_jct_s, 1e-9);
    EXPECT_LE(rival.candidate_over_it.interval.lo, rival.candidate_over_it.ratio);
    EXPECT_GE(rival.candidate_over_it.interval.hi, rival.candidate_over_it.ratio);
  }
  EXPECT_GT(cell.versus.ratio, 1);  // without preemption it loses, and the table says so
  EXPECT_LT(cell.captured(), 0);
}

TEST(Evaluate, TheOracleIsTheBestOfItsFamily) {
  const Evaluation result = evaluate(options_for("las", {"fifo"}));
  const CellResult& cell = result.cells[0];
  ASSERT_TRUE(cell.oracle.has_value());
  EXPECT_GE(cell.bounds.size(), 10u);
  for (const Score& bound : cell.bounds) {
    EXPECT_TRUE(is_bound(bound.level)) << bound.name;
    EXPECT_GE(bound.mean_jct_s, cell.bounds[*cell.oracle].mean_jct_s);
  }
  EXPECT_GT(cell.headroom(), 0);
  EXPECT_NEAR(cell.captured(), std::log(cell.versus.ratio) / std::log(1 - cell.headroom()), 1e-12);
}

TEST(Evaluate, OraclesAreNoCompetitors) {
  const Evaluation result = evaluate(options_for("las", {"fifo", "srtf"}));
  ASSERT_EQ(result.cells[0].rivals.size(), 1u);
  EXPECT_EQ(result.cells[0].rivals[0].score.name, "fifo");
  EXPECT_THROW(evaluate(options_for("las", {"srtf"})), InputError);
}

TEST(Evaluate, RivalsKnowNoMoreThanTheCandidate) {
  const Evaluation result = evaluate(options_for("las", {}));
  for (const Rival& rival : result.cells[0].rivals) {
    EXPECT_LE(rival.score.level, Level::kBlind) << rival.score.name;
    EXPECT_NE(rival.score.name, "las");
  }
  EXPECT_GE(result.cells[0].rivals.size(), 2u);
}

TEST(Evaluate, TheYardstickIsChosenOnValidation) {
  EvaluateOptions options = options_for("fifo", {"backfill", "las"});
  options.scenario.window.from = "60%";
  options.scenario.window.to = "80%";
  options.validate_from = "40%";
  options.validate_to = "60%";
  const Evaluation result = evaluate(options);
  const CellResult& cell = result.cells[0];
  EXPECT_TRUE(cell.validated);
  const double chosen = cell.rivals[cell.yardstick].validation_jct_s;
  for (const Rival& rival : cell.rivals) EXPECT_GE(rival.validation_jct_s, chosen);
  EXPECT_FALSE(cell.judged);  // some 120 jobs
}

TEST(Evaluate, CellsForEachCongestionAndOneSummary) {
  EvaluateOptions options = options_for("las", {"backfill"});
  options.congestions = {1.0, 3.0};
  const Evaluation result = evaluate(options);
  ASSERT_EQ(result.cells.size(), 2u);
  EXPECT_NEAR(result.cells[0].congestion, 1, 0.05);
  EXPECT_NEAR(result.cells[1].congestion, 3, 0.15);
  double won = 0, to_win = 0;
  int cells = 0;
  for (const CellResult& cell : result.cells) {
    if (cell.judged != result.over_judged) continue;
    ++cells;
    won += std::log(cell.versus.ratio);
    to_win += std::log(1 - cell.headroom());
  }
  ASSERT_GT(cells, 0);
  EXPECT_NEAR(std::log(result.ratio), won / cells, 1e-12);
  EXPECT_NEAR(result.captured, won / to_win, 1e-9);
  EXPECT_LE(result.captured_interval.lo, result.captured);
  EXPECT_GE(result.captured_interval.hi, result.captured);
}

TEST(TestLog, CountsTheOpeningsOfEachTrace) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "yard_test_log";
  std::filesystem::remove_all(folder);
  const auto log = folder / "evaluations" / "log.jsonl";
  EXPECT_EQ(log_opening(log, {"a.csv", "aa", "1x8", "0", "10", {"las"}, {}}), 1);
  EXPECT_EQ(log_opening(log, {"b.csv", "bb", "1x8", "0", "10", {"las"}, {}}), 1);
  EXPECT_EQ(log_opening(log, {"a.csv", "aa", "1x8", "0", "10", {"fifo"}, {"d"}}), 2);
  EXPECT_EQ(std::ranges::count(read_file(log), '\n'), 3);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace yard
