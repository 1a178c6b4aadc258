// The search finds better settings, writes a policy, and gives the same result for the same seed.
#include "experiments/search/tune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/sim/placement/placement_rules.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

std::vector<TuneCell> habits_cells(int replicas = 2) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "2x8";
  options.generate_jobs = 200;
  std::vector<TuneCell> cells;
  cells.emplace_back("habits", load_scenario(options), replicas, 1);
  return cells;
}

TuneOptions budget(int candidates) {
  TuneOptions options;
  options.budget = candidates;
  return options;
}

// Delays every job by the distance of the two settings from their optimum.
class Planted final : public Policy {
 public:
  struct Config {
    double a = 0.9, b = 1;
    void fields(FieldList& f) {
      f("a", a, 0.0, 1.0, "best at 0.3");
      f("b", b, 1.0, 1000.0, "best at 50");
    }
  };
  explicit Planted(const Settings& settings) {
    const auto config = parse<Config>(settings);
    const double away = std::abs(config.a - 0.3) + std::abs(std::log(config.b / 50));
    delay_us_ = std::llround(1e9 * away);
  }
  InformationLevel level() const override { return InformationLevel::kBlind; }
  void decide(const View& view, Memory&, Draft& draft) const override {
    int64_t wake_us = kNever;
    for (int32_t slot = view.queue_head(); slot != kNone;) {
      const int32_t next = view.queue_next(slot);
      const int64_t due_us = view.submit_us(slot) + delay_us_;
      if (due_us > view.now_us()) {
        wake_us = std::min(wake_us, due_us);
      } else if (const int32_t n = place(view, PlacementRule::kFirstFit, slot, draft.scratch());
                 n > 0) {
        draft.start(slot, draft.scratch(), n);
      }
      slot = next;
    }
    if (wake_us != kNever) draft.wake_at(wake_us);
  }

 private:
  int64_t delay_us_;
};

const PolicyRegistry::Add<Planted> kPlanted{"test-planted",
                                            {.about = "waits",
                                             .source = "",
                                             .fidelity = "",
                                             .servable = false,
                                             .fields = describe<Planted::Config>}};

Field number(double min, double max) {
  Field field;
  field.type = "number";
  field.min = min;
  field.max = max;
  return field;
}

TEST(Tune, WideRangesAreSearchedLogarithmically) {
  const Field wide = number(1, 1e4), linear = number(0, 2), from_zero = number(0, 100);
  EXPECT_NEAR(from_unit_interval(wide, 0.5), 100, 1e-9);
  EXPECT_NEAR(to_unit_interval(wide, 100), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(from_unit_interval(linear, 0.25), 0.5);
  EXPECT_DOUBLE_EQ(to_unit_interval(linear, 0.5), 0.25);
  EXPECT_EQ(from_unit_interval(from_zero, 0), 0);
  EXPECT_NEAR(from_unit_interval(from_zero, 1.0 / 3), 1, 1e-9);
  EXPECT_NEAR(to_unit_interval(from_zero, 1), 1.0 / 3, 1e-12);
  for (const Field& field : {wide, linear, from_zero}) {
    EXPECT_NEAR(from_unit_interval(field, 1), field.max, 1e-9 * field.max);
    EXPECT_EQ(to_unit_interval(field, field.min), 0);
  }
}

TEST(Tune, IsNoWorseThanTheDefaultsAndSpendsItsBudget) {
  const std::vector<TuneCell> cells = habits_cells();
  const TuningResult tuned = tune(cells, "las", {}, budget(40));
  EXPECT_EQ(tuned.evaluated, 40);
  EXPECT_GT(tuned.refused, 0);  // some pairs of limits are in the wrong order
  EXPECT_LT(tuned.jct_s.front(), tuned.default_jct_s.front());
  const TuningResult again = tune(cells, "las", {}, budget(40));
  EXPECT_EQ(again.settings, tuned.settings);
  EXPECT_EQ(again.jct_s, tuned.jct_s);
}

TEST(Tune, FindsAPlantedOptimum) {
  const TuningResult tuned = tune(habits_cells(1), "test-planted", {}, budget(200));
  ASSERT_EQ(tuned.settings.size(), 2u);
  EXPECT_NEAR(parse_double(tuned.settings[0].second).value(), 0.3, 0.02);
  EXPECT_NEAR(parse_double(tuned.settings[1].second).value(), 50, 2);
}

TEST(Tune, PoolIsScoredByTheGeometricMean) {
  ScenarioOptions sparse;
  sparse.trace = "synthetic:habits";
  sparse.cluster = "4x8";
  sparse.generate_jobs = 100;
  std::vector<TuneCell> cells = habits_cells();
  cells.emplace_back("sparse", load_scenario(sparse), 2, 1);
  const TuningResult tuned = tune(cells, "las", {}, budget(30));
  ASSERT_EQ(tuned.jct_s.size(), 2u);
  double product = 1;
  for (size_t c = 0; c < 2; ++c) product *= tuned.jct_s[c] / tuned.default_jct_s[c];
  EXPECT_NEAR(tuned.ratio, std::sqrt(product), 1e-12);
  EXPECT_LT(tuned.ratio, 1);
  EXPECT_NE(tuned_yaml(tuned, cells, budget(30)).find("cluster: 4x8"), std::string::npos);
}

TEST(Tune, FileIsTheScoredPolicy) {
  const std::vector<TuneCell> cells = habits_cells(1);
  const TuneOptions options = budget(16);
  const TuningResult tuned = tune(cells, "las", {}, options);
  const std::string file =
      (std::filesystem::path(::testing::TempDir()) / "yard_tuned_las.yaml").string();
  write_file_atomic(file, tuned_yaml(tuned, cells, options));
  const auto run = run_policy(cells.front().scenario, file, {});
  EXPECT_DOUBLE_EQ(run.summary.all.mean_jct_s, tuned.jct_s.front());
  std::filesystem::remove(file);
}

// A stopped search resumes: candidates with kept scores are not played again.
TEST(Tune, KeptCandidatesAreNotReplayed) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "yard_tune";
  std::filesystem::remove_all(folder);
  const auto files = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      count += entry.is_regular_file();
    }
    return count;
  };
  const std::vector<TuneCell> cells = habits_cells(1);
  TuneOptions kept = budget(10);
  kept.results = folder;
  tune(cells, "las", {}, kept);
  const int first = files();
  kept.budget = 24;
  const TuningResult resumed = tune(cells, "las", {}, kept),
                     at_once = tune(cells, "las", {}, budget(24));
  EXPECT_EQ(resumed.settings, at_once.settings);
  EXPECT_EQ(resumed.jct_s, at_once.jct_s);
  EXPECT_EQ(resumed.refused, at_once.refused);
  EXPECT_GT(first, 0);
  const int all = files();
  EXPECT_GT(all, first);
  tune(cells, "las", {}, kept);
  EXPECT_EQ(files(), all);
  std::filesystem::remove_all(folder);
}

TEST(Tune, FixedSettingsAreKept) {
  RunOptions run;
  run.policy.set("gpu_exponent", "0.5", "test");
  const TuningResult tuned = tune(habits_cells(), "las", run, budget(8));
  for (const auto& [key, value] : tuned.settings) EXPECT_NE(key, "gpu_exponent") << value;
  ASSERT_NE(tuned.fixed.find("gpu_exponent"), nullptr);
}

TEST(Tune, PolicyWithoutNumericSettingsIsRejected) {
  EXPECT_THROW(tune(habits_cells(), "fifo", {}, budget(8)), InputError);
}

}  // namespace
}  // namespace yard
