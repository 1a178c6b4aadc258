// Training curves: the form by hand, where a target is reached, its effect on the job, and what a
// view shows while the job runs.
#include "env/trace/profiles/training_curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/require.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

TEST(Curves, FollowTheOptimusForm) {
  const LossCurveFormula form{12, 0.5, 0.1};
  const std::vector<TrainingCurvePoint> curve = tabulate_loss(form);
  EXPECT_DOUBLE_EQ(curve.front().value, 2.1);
  EXPECT_DOUBLE_EQ(curve.back().value, 1 / 12.5 + 0.1);
  EXPECT_DOUBLE_EQ(curve[16].value, 1 / 3.5 + 0.1) << "a quarter of the way";
  const double max_error = std::pow(12.0 / 64, 2) / (4 * std::pow(0.5, 3));
  for (size_t i = 1; i < curve.size(); ++i) {
    const double middle = (curve[i - 1].share + curve[i].share) / 2;
    const double line = (curve[i - 1].value + curve[i].value) / 2;
    const double above = line - (1 / (12 * middle + 0.5) + 0.1);
    EXPECT_GE(above, 0);
    EXPECT_LE(above, max_error);
  }
}

TEST(Curves, TargetIsReachedFromEitherSide) {
  const std::vector<TrainingCurvePoint> falls = {{0, 10, 0}, {0.5, 4, 0}, {1, 2, 0}};
  EXPECT_DOUBLE_EQ(work_share_to_reach(falls, 7), 0.25);
  EXPECT_DOUBLE_EQ(work_share_to_reach(falls, 4), 0.5);
  EXPECT_DOUBLE_EQ(work_share_to_reach(falls, 3), 0.75);
  EXPECT_DOUBLE_EQ(work_share_to_reach(falls, 1), 1) << "never";
  const std::vector<TrainingCurvePoint> rises = {
      {0, 0.2, 0}, {0.5, 0.8, 0}, {0.75, 0.7, 0}, {1, 0.9, 0}};
  EXPECT_DOUBLE_EQ(work_share_to_reach(rises, 0.5), 0.25);
  EXPECT_DOUBLE_EQ(work_share_to_reach(rises, 0.85), 0.9375) << "it falls before it gets there";
}

Trace with_loss(double target) {
  Trace trace;
  trace.jobs = jobs_of({{0, 1, 1000}, {0, 1, 1000}});
  trace.jobs[0].loss = {3, 1, 0};  // 1 at first, 0.25 in the end
  trace.jobs[0].target = target;
  return trace;
}

TEST(Curves, JobEndsAtItsTarget) {
  Trace trace = with_loss(0.4);  // 3 x + 1 = 2.5: x = 0.5, at a point of the curve
  apply_training_curves(trace, {});
  EXPECT_EQ(trace.jobs[0].run_us, 500 * kSecond);
  EXPECT_EQ(trace.jobs[1].run_us, 1000 * kSecond);
  EXPECT_TRUE(trace.jobs[1].curve.empty());
  const Trace before = trace;
  apply_training_curves(trace, {});
  EXPECT_EQ(trace.jobs[0].run_us, before.jobs[0].run_us);
  Trace never = with_loss(0.2);
  apply_training_curves(never, {});
  EXPECT_EQ(never.jobs[0].run_us, 1000 * kSecond);
}

TEST(Curves, ViewShowsTrainingProgress) {
  Trace trace = with_loss(0.4);
  trace.jobs[1].submit_us = 250 * kSecond;
  apply_training_curves(trace, {});
  const Scene scene("1x2", trace.jobs, no_costs());
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  EXPECT_TRUE(runner.view().has_training_metric(0));
  EXPECT_EQ(runner.view().training_metric_now(0), 1);
  EXPECT_EQ(runner.view().target_metric(0), 0.4);
  ASSERT_TRUE(runner.step());
  ASSERT_EQ(runner.view().now_us(), 250 * kSecond);
  EXPECT_DOUBLE_EQ(runner.view().training_metric_now(0), 1 / 1.75) << "a quarter of the request";
  EXPECT_EQ(runner.view().training_metric_at_start(0), 1);
  EXPECT_FALSE(runner.view().has_training_metric(1));
  runner.play();
  EXPECT_EQ(runner.jobs()[0].end_us, 500 * kSecond);
}

TEST(Curves, CurvesOfPolluxTrainings) {
  YARD_NEEDS_TRACES();
  const Profiles profiles = load_profiles(traces_dir() / "pollux-adaptdl/traces/cifar10");
  Trace trace;
  trace.jobs = jobs_of({{0, 1, 1000}, {0, 1, 1000}});
  for (Job& job : trace.jobs) job.model = "cifar10";
  trace.jobs[0].batch_size = 128;
  trace.jobs[1].batch_size = 900;  // measured: 128, 256, 512, 1024, ...
  trace.jobs[1].target = 0.5838;   // after its second row, 782.78 of 39068.08
  apply_training_curves(trace, profiles);
  EXPECT_DOUBLE_EQ(trace.jobs[0].curve.front().value, 0.4455);
  EXPECT_DOUBLE_EQ(trace.jobs[0].curve.front().noise, 5.066593295150894 / 8.947307535897329);
  EXPECT_DOUBLE_EQ(trace.jobs[0].curve.back().share, 1);
  EXPECT_DOUBLE_EQ(trace.jobs[1].curve.front().value, 0.4395);
  EXPECT_EQ(trace.jobs[1].run_us, std::ceil(1000e6 * (782.78243115291 / 39068.07913937574)));
}

}  // namespace
}  // namespace yard::testing
