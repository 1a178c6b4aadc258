// The search finds what is better, writes a policy, and does the same for the same seed.
#include "experiments/tune.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "env/base/error.h"
#include "env/base/file.h"

namespace yard {
namespace {

Scenario habits() {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "2x8";
  options.generate_jobs = 200;
  return load_scenario(options);
}

TuneOptions budget(int candidates) {
  TuneOptions options;
  options.budget = candidates;
  return options;
}

Field number(double min, double max) {
  Field field;
  field.type = "number";
  field.min = min;
  field.max = max;
  return field;
}

TEST(Tune, RangesOverDecadesAreSearchedByLogarithm) {
  const Field wide = number(1, 1e4), linear = number(0, 2), from_zero = number(0, 100);
  EXPECT_NEAR(from_unit(wide, 0.5), 100, 1e-9);
  EXPECT_NEAR(to_unit(wide, 100), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(from_unit(linear, 0.25), 0.5);
  EXPECT_DOUBLE_EQ(to_unit(linear, 0.5), 0.25);
  EXPECT_EQ(from_unit(from_zero, 0), 0);
  EXPECT_NEAR(from_unit(from_zero, 1.0 / 3), 1, 1e-9);
  EXPECT_NEAR(to_unit(from_zero, 1), 1.0 / 3, 1e-12);
  for (const Field& field : {wide, linear, from_zero}) {
    EXPECT_NEAR(from_unit(field, 1), field.max, 1e-9 * field.max);
    EXPECT_EQ(to_unit(field, field.min), 0);
  }
}

TEST(Tune, IsNoWorseThanTheDefaultsAndSpendsItsBudget) {
  const Scenario scenario = habits();
  const Tuned tuned = tune(scenario, "las", {}, budget(40));
  EXPECT_EQ(tuned.evaluated, 40);
  EXPECT_GT(tuned.refused, 0);  // some pairs of limits fall the wrong way round
  EXPECT_LT(tuned.mean_jct_s, tuned.default_jct_s);
  const Tuned again = tune(scenario, "las", {}, budget(40));
  EXPECT_EQ(again.settings, tuned.settings);
  EXPECT_EQ(again.mean_jct_s, tuned.mean_jct_s);
}

TEST(Tune, TheFileIsThePolicyThatWasScored) {
  const Scenario scenario = habits();
  TuneOptions options = budget(16);
  options.replicas = 1;
  const Tuned tuned = tune(scenario, "las", {}, options);
  const std::string file =
      (std::filesystem::path(testing::TempDir()) / "yard_tuned_las.yaml").string();
  write_file_atomic(file, tuned_yaml(tuned, scenario, options));
  const auto run = run_policy(scenario, file, {});
  EXPECT_DOUBLE_EQ(run.summary.all.mean_jct_s, tuned.mean_jct_s);
  std::filesystem::remove(file);
}

TEST(Tune, WhatIsSetStaysSet) {
  RunOptions run;
  run.policy.set("gpu_exponent", "0.5", "test");
  const Tuned tuned = tune(habits(), "las", run, budget(8));
  for (const auto& [key, value] : tuned.settings) EXPECT_NE(key, "gpu_exponent") << value;
  ASSERT_NE(tuned.fixed.find("gpu_exponent"), nullptr);
}

TEST(Tune, APolicyWithoutNumbersIsRefused) {
  EXPECT_THROW(tune(habits(), "fifo", {}, budget(8)), InputError);
}

}  // namespace
}  // namespace yard
