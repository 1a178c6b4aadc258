// Optimus: its fits of loss and speed, and the order in which jobs are placed.
#include "env/sim/speed/optimus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/sim/speed/nonnegative.h"
#include "env/trace/profiles/training_curves.h"
#include "policies/optimus_loss.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

TEST(OptimusFits, WeightsAreNotNegative) {
  // y = 2 a - b: the best fit without negative weights omits b.
  const std::vector<std::vector<double>> x = {{1, 0}, {0, 1}, {1, 1}};
  const std::vector<double> w = nonnegative_least_squares(x, {2, -1, 1});
  EXPECT_NEAR(w[0], 1.5, 1e-9);
  EXPECT_EQ(w[1], 0);
  const std::vector<double> exact = nonnegative_least_squares(x, {2, 1, 3});
  EXPECT_NEAR(exact[0], 2, 1e-9);
  EXPECT_NEAR(exact[1], 1, 1e-9);
}

// Columns in other units have the same answer, in those units.
TEST(OptimusFits, ColumnUnitsDoNotMatter) {
  for (const double unit : {1e-9, 1e-6, 1.0, 1e6}) {
    const std::vector<double> w =
        nonnegative_least_squares({{unit, 0}, {0, 1}, {unit, 1}}, {2, 1, 3});
    EXPECT_NEAR(w[0] * unit, 2, 1e-9) << unit;
    EXPECT_NEAR(w[1], 1, 1e-9) << unit;
  }
  // Equal columns: either one explains all, and both together are singular.
  const std::vector<double> same = nonnegative_least_squares({{1e6, 1e6}, {2e6, 2e6}}, {1, 2});
  EXPECT_NEAR((same[0] + same[1]) * 1e6, 1, 1e-9);
}

// Several pairs of terms fit two samples exactly, but differ elsewhere. The first pair is chosen,
// whichever has the smaller rounding error.
TEST(OptimusFits, FirstExactFitIsTaken) {
  for (const double scale : {1.0, 0.1, 1.0 / 3, 7.7}) {
    const std::vector<double> w = nonnegative_least_squares(
        {{1, 1, 1}, {1.0 / 2, 1, 2}}, {3 * scale, 2 * scale});  // of 1/n, 1 and n
    EXPECT_NEAR(w[0], 2 * scale, 1e-9);
    EXPECT_NEAR(w[1], scale, 1e-9);
    EXPECT_EQ(w[2], 0) << scale;
  }
}

TEST(OptimusFits, QuarterOfALossCurvePredictsItsTarget) {
  const LossFit truth{0.004, 0.5, 0.4};
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i <= 12; ++i) points.emplace_back(100.0 * i, truth.at(100.0 * i));
  const auto fit = fit_loss(points);
  ASSERT_TRUE(fit.has_value());
  const double target = truth.at(5000);
  EXPECT_NEAR(*truth.work_until_loss(target), 5000, 1e-6);
  ASSERT_TRUE(fit->work_until_loss(target).has_value());
  EXPECT_NEAR(*fit->work_until_loss(target), 5000, 1000);
  EXPECT_FALSE(fit->work_until_loss(0.1).has_value()) << "below what it ever reaches";
  EXPECT_FALSE(fit_loss({{0, 1.0}, {1, 1.5}, {2, 2.0}}).has_value()) << "it does not fall";
  EXPECT_FALSE(fit_loss({{0, 2.0}, {1, 1.5}}).has_value());
}

TEST(OptimusFits, FewSamplesRecoverTheSpeedForm) {
  const OptimusSync truth{{1.0, 0.1, 0.05, 0.01, 0.02}, 1};
  std::vector<MeasuredOptimusSpeed> samples;
  for (const auto& [p, w] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 4}, {2, 4}}) {
    samples.push_back({p, w, truth.steps_per_s(p, w)});
  }
  const OptimusSync fit = fit_optimus_sync(samples, 1);
  EXPECT_NEAR(fit.steps_per_s(4, 8), truth.steps_per_s(4, 8), 1e-6);
  // Without servers: twice the workers, twice the speed.
  const std::vector<MeasuredOptimusSpeed> alone = {{0, 1, 0.5}, {0, 2, 1.0}, {0, 4, 2.0}};
  EXPECT_NEAR(fit_optimus_sync(alone, 1).steps_per_s(0, 16), 8, 1e-6);
}

// The second job is smaller, so it is placed first, consolidated, though submitted later.
TEST(Optimus, SmallestJobIsPlacedFirst) {
  std::vector<Job> jobs = jobs_of({{0, 5, 100}, {0, 3, 100}});
  for (Job& job : jobs) job.limit_us = job.run_us;
  const Scene scene("2x4", jobs, no_costs());
  for (const std::string name : {"optimus", "drf"}) {
    const auto policy = make_policy(name);
    SceneRunner runner(scene, *policy);
    ASSERT_TRUE(runner.step());
    ASSERT_EQ(runner.plan().edits.size(), 2U);
    const int32_t first = runner.view().serial(runner.plan().edits[0].job.slot);
    EXPECT_EQ(first, name == "optimus" ? 1 : 0);
  }
}

// Both have the same limit and end when the loss reaches their targets, the first after a tenth of
// that work. In the second slot its fit shows this, and the other gets more GPUs.
TEST(Optimus, WorkLeftFollowsFromMeasuredLosses) {
  std::vector<Job> jobs = jobs_of({{0, 2, 36'000}, {0, 2, 36'000}});
  for (size_t j = 0; j < jobs.size(); ++j) {
    Job& job = jobs[j];
    RoleGroup group;
    group.count = 2;
    group.min_count = 1;
    group.max_count = 6;
    group.task.gpus = 1;
    job.groups = {group};
    job.limit_us = job.run_us;
    job.loss = LossCurveFormula{40, 1, 0.1};
    job.target = j == 0 ? 0.3 : 0.126;
  }
  Trace trace;
  trace.jobs = jobs;
  apply_training_curves(trace, {});
  const Scene scene("1x6", trace.jobs, no_costs());
  const auto policy = make_policy("optimus timer_s=600");
  SceneRunner runner(scene, *policy);
  std::vector<int> held(2, 0);
  while (runner.step() && runner.view().now_us() <= 700 * kSecond) {
    for (int32_t i = 0; i < runner.view().num_holders(); ++i) {
      const int32_t slot = runner.view().holder_slot(i);
      held[static_cast<size_t>(runner.view().serial(slot))] = runner.view().held_tasks(slot, 0);
    }
  }
  EXPECT_FALSE(runner.failed());
  EXPECT_GT(held[1], held[0]) << "more work is left of the second job";
}

}  // namespace
}  // namespace yard::testing
