// MLF-C: when a cluster is overloaded, where training levels off, and which jobs mlf-h ends early.
#include "env/scheduling/mlf_load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/futures.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

constexpr const char* kPolicy = "mlf-h stopped_share=0 load_control=true";

// The loss falls linearly to half of its first value, which satisfies the user.
Job content_halfway(Job job) {
  job.curve = {{0, 1, 0}, {1, 0, 0}};
  job.enough = 0.5;
  return job;
}

// A loss of 1 / (1 + minutes of work). The user's target is near zero improvement.
Job levels_off(Job job) {
  const double minutes = static_cast<double>(job.run_us) / (60.0 * kSecond);
  for (double m = 0; m <= minutes; m += 0.5) job.curve.push_back({m / minutes, 1 / (1 + m), 0});
  job.enough = 1e-6;
  return job;
}

std::vector<JobOutcome> play(const std::string& cluster, const std::vector<Job>& jobs,
                             const std::string& policy) {
  const Scene scene(cluster, jobs, no_costs());
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  return runner.jobs();
}

TEST(MlfLoad, EndsAJobAtItsTargetWhileAnotherWaits) {
  std::vector<Job> jobs = jobs_of({{0, 1, 1000}, {10, 2, 100}});
  jobs[0] = content_halfway(jobs[0]);
  const auto ended = play("1x2", jobs, kPolicy);
  EXPECT_TRUE(ended[0].ended_early);
  EXPECT_EQ(ended[0].end_us, 540 * kSecond) << "target reached at 500, checked every minute";
  EXPECT_EQ(ended[1].start_us, 540 * kSecond) << "at the same time";
  EXPECT_FALSE(ended[1].ended_early);
  for (const std::string policy : {"mlf-h stopped_share=0", "fifo", "las"}) {
    EXPECT_FALSE(play("1x2", jobs, policy)[0].ended_early) << policy;
  }
}

// Half of the server is in use: no job waits, nothing is overloaded.
TEST(MlfLoad, JobAtItsTargetContinuesWithoutOverload) {
  std::vector<Job> jobs = jobs_of({{0, 1, 1000}});
  jobs[0] = content_halfway(jobs[0]);
  EXPECT_EQ(play("1x2", jobs, kPolicy)[0].end_us, 1000 * kSecond);
  EXPECT_EQ(play("1x1", jobs, kPolicy)[0].end_us, 540 * kSecond) << "all of it is in use";
  EXPECT_EQ(play("1x1", jobs, std::string(kPolicy) + " cluster_overloaded=1")[0].end_us,
            1000 * kSecond);
}

TEST(MlfLoad, NeverEndsAJobWithoutATarget) {
  std::vector<Job> jobs = jobs_of({{0, 1, 1000}, {10, 2, 100}});
  jobs[0] = content_halfway(jobs[0]);
  jobs[0].enough = Job::kNoTarget;
  EXPECT_EQ(play("1x2", jobs, kPolicy)[0].end_us, 1000 * kSecond);
  jobs[0] = levels_off(jobs_of({{0, 1, 3000}})[0]);
  jobs[0].enough = Job::kNoTarget;
  EXPECT_EQ(play("1x2", jobs, kPolicy)[0].end_us, 3000 * kSecond);
}

// m / (m + 1) of the improvement after m minutes: 0.949 of it after 19.
TEST(MlfLoad, EndsAConvergedJobWithoutWaitingJobs) {
  std::vector<Job> jobs = jobs_of({{0, 1, 3000}});
  jobs[0] = levels_off(jobs[0]);
  const auto ended = play("1x2", jobs, std::string(kPolicy) + " about=0.949");
  EXPECT_TRUE(ended[0].ended_early);
  EXPECT_EQ(ended[0].end_us, 1140 * kSecond);
  EXPECT_EQ(play("1x2", jobs, std::string(kPolicy) + " about=1")[0].end_us, 3000 * kSecond);
}

TEST(MlfLoad, LimitMatchesHandComputation) {
  std::vector<Job> jobs =
      jobs_of({{0, 1, 3000}, {0, 1, 3000}, {0, 1, 3000}, {540, 1, 1}, {1200, 1, 1}});
  jobs[0] = levels_off(jobs[0]);
  for (TrainingCurvePoint& point : jobs[0].curve) point.value = 3 - point.value;  // rises to 3
  jobs[1] = content_halfway(jobs[1]);
  jobs[2] = content_halfway(jobs[2]);
  jobs[2].curve = {{0, 1, 0}, {0.2, 0.5, 0}, {0.4, 0.7, 0}};
  const Scene scene("1x4", jobs, no_costs());
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  const View& view = runner.view();
  while (view.now_us() < 540 * kSecond) ASSERT_TRUE(runner.step());
  EXPECT_FALSE(mlfs_extrapolated_final_metric(view, 0)) << "nine minutes of work";
  while (view.now_us() < 1200 * kSecond) ASSERT_TRUE(runner.step());
  ASSERT_TRUE(mlfs_extrapolated_final_metric(view, 0));
  EXPECT_NEAR(*mlfs_extrapolated_final_metric(view, 0), 3, 1e-9);
  EXPECT_FALSE(mlfs_extrapolated_final_metric(view, 1)) << "it does not level off";
  EXPECT_FALSE(mlfs_extrapolated_final_metric(view, 2)) << "it reverses";
  EXPECT_FALSE(mlfs_has_reached_target(view, 1)) << "at 0.6";
}

TEST(MlfLoad, ServerUseMatchesHandComputation) {
  ClusterSpec cluster = load_cluster("2x4");
  cluster.nodes[0].cpus = 8;
  std::vector<Job> jobs = jobs_of({{0, 2, 100}, {0, 4, 100}});
  jobs[0].groups.resize(1);
  jobs[0].groups[0].task.gpus = 2;
  jobs[0].groups[0].task.cpu_milli = 2000;
  const Scene scene(cluster, jobs);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.advance());
  EXPECT_EQ(mlfs_mean_server_utilisation(runner.view()), 0);
  Draft draft(scene.fixed(), runner.world().state());
  const Piece task{.node = 0, .gpus = 2, .group = 0, .tasks = 1};
  ASSERT_TRUE(draft.start(0, &task, 1));
  // Half of the GPUs and a quarter of the cores; the other server is idle.
  const double use = std::sqrt((0.25 + 0.0625) / 2);
  EXPECT_NEAR(mlfs_mean_server_utilisation(runner.view()), use / 2, 1e-12);
  EXPECT_TRUE(mlfs_is_cluster_overloaded(runner.view(), {})) << "a job waits";
  const Piece four{1, 4};
  ASSERT_TRUE(draft.start(1, &four, 1));
  EXPECT_NEAR(mlfs_mean_server_utilisation(runner.view()), (use + 1) / 2, 1e-12)
      << "node 1 has only GPUs";
  EXPECT_FALSE(mlfs_is_cluster_overloaded(runner.view(), {}));
  EXPECT_TRUE(mlfs_is_cluster_overloaded(runner.view(), {.overloaded = 0.6}));
}

// The runner checks the invariants of every plan and state.
TEST(MlfLoad, KeepsInvariantsWithAllFeatures) {
  const auto policy = make_policy("mlf-h load_control=true");
  int ended = 0;
  for (uint64_t trial = 0; trial < 12; ++trial) {
    const ForkableScene scene(forkable_world(Rng(61).split(trial), {.tenants = trial % 2 == 1,
                                                                    .overload = trial % 3 == 1,
                                                                    .models = trial % 4 > 1,
                                                                    .world = {}}));
    SceneRunner runner(scene.scene(), *policy);
    runner.play();
    ASSERT_FALSE(runner.failed());
    for (const JobOutcome& job : runner.jobs()) {
      ASSERT_NE(job.end_us, kNone);
      ended += job.ended_early;
    }
  }
  EXPECT_GT(ended, 20);
}

}  // namespace
}  // namespace yard::testing
