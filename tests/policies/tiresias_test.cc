// las, tiresias and tiresias-gittins against the paper's simulator, and against results by hand.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "policies/service_queues.h"
#include "tests/reference/tiresias_reference.h"
#include "tests/support/replays.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

std::vector<JobOutcome> played(const Scene& scene, const std::string& policy) {
  const auto made = make_policy(policy);
  SceneRunner runner(scene, *made);
  runner.play();
  EXPECT_FALSE(runner.failed());
  return runner.jobs();
}

void expect_same_jobs(const std::vector<JobOutcome>& ours, const std::vector<JobOutcome>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t j = 0; j < ours.size(); ++j) {
    ASSERT_EQ(ours[j].start_us, theirs[j].start_us) << "job " << j;
    ASSERT_EQ(ours[j].end_us, theirs[j].end_us) << "job " << j;
    ASSERT_EQ(ours[j].preemptions, theirs[j].preemptions) << "job " << j;
  }
}

// Times without a common divisor, so that no end falls on an arrival: the original then ends jobs
// from an outdated list (env/sim/rulesets/tiresias_dlas.cc).
std::vector<Job> odd_jobs(Rng& rng, const std::vector<int32_t>& sizes) {
  std::vector<JobLine> lines;
  int64_t at_s = 0;
  const int32_t count = 5 + static_cast<int32_t>(rng.below(40));
  for (int32_t i = 0; i < count; ++i) {
    if (rng.below(3) > 0) at_s += 1 + rng.below(3000);
    const auto size = sizes[rng.below(static_cast<uint32_t>(sizes.size()))];
    const uint32_t most = rng.below(4) == 0 ? 20'000 : 5000;
    lines.push_back({static_cast<double>(at_s), size, static_cast<double>(1 + rng.below(most))});
  }
  return jobs_of(lines);
}

TEST(TiresiasPolicies, LasMatchesDlasGpuForJobsOfOneGpu) {
  int64_t preemptions = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(1);
    const std::string cluster = seed % 3 == 0 ? "1x1" : seed % 3 == 1 ? "1x2" : "2x2";
    const Scene scene(cluster, odd_jobs(rng, {1}), no_costs());
    const Outcome published = replay(scene, {"tiresias", "dlas-gpu", "count"});
    expect_same_jobs(played(scene, "las"), published.jobs);
    if (HasFatalFailure()) return;
    for (const JobOutcome& job : published.jobs) preemptions += job.preemptions;
  }
  EXPECT_GT(preemptions, 1000);
}

struct Case {
  std::string ours, theirs;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.ours << " as " << c.theirs; }
};

class TiresiasPunctual : public ::testing::TestWithParam<Case> {};

// The original notices late that jobs of several GPUs pass a limit. Sizes divide the limits, so
// that jobs pass them at whole seconds.
TEST_P(TiresiasPunctual, LargeJobsAreDemotedOnTime) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(2);
    const std::vector<Job> jobs = odd_jobs(rng, {1, 1, 2, 5, 10});
    const reference::Nodes nodes{seed % 2 == 0 ? 1 : 2, 10, 2};
    const Scene scene(std::to_string(nodes.count) + "x10", jobs, no_costs());
    const auto slow =
        reference::tiresias(in_seconds(jobs), nodes, GetParam().theirs, "count", true);
    const std::vector<JobOutcome> fast = played(scene, GetParam().ours);
    for (size_t j = 0; j < jobs.size(); ++j) {
      ASSERT_EQ(fast[j].start_us, slow[j].start_s * kSecond) << "job " << j;
      ASSERT_EQ(fast[j].end_us, slow[j].end_s * kSecond) << "job " << j;
      // A job may be preempted for one job and restarted at the same time, when another preemption
      // makes room. The reference does not count it.
      ASSERT_GE(fast[j].preemptions, slow[j].preemptions) << "job " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TiresiasPunctual,
                         ::testing::Values(Case{"las", "dlas-gpu"},
                                           Case{"tiresias promote_knob=0", "dlas-gpu"},
                                           Case{"tiresias promote_knob=1", "dlas-gpu-1"},
                                           Case{"tiresias promote_knob=8", "dlas-gpu-8"}),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(TiresiasPolicies, GittinsIndexMatchesItsDefinition) {
  Memory memory;
  memory.reset(ServiceHistory::bytes());
  BumpAllocator bump(memory.data());
  ServiceHistory history(bump);
  EXPECT_FALSE(history.refit()) << "nothing has finished";
  EXPECT_EQ(history.gittins_index(0, 100), 0);
  for (const double gpu_s : {10.0, 40.0, 40.0, 1000.0}) history.add(gpu_s);
  EXPECT_TRUE(history.refit());
  // Three of four end within 100 GPU-seconds; they use 10, 40, 40 and 100.
  EXPECT_DOUBLE_EQ(history.gittins_index(0, 100), 0.75 / (190.0 / 4));
  // After 20 GPU-seconds three are left, which use 20, 20 and 100 more.
  EXPECT_DOUBLE_EQ(history.gittins_index(20, 100), (2.0 / 3) / (140.0 / 3));
  EXPECT_DOUBLE_EQ(history.gittins_index(40, 100), 0.0);
  EXPECT_DOUBLE_EQ(history.gittins_index(900, 100), 1.0 / 100);
  EXPECT_EQ(history.gittins_index(1000, 100), 0);
}

// An order by the index is rebuilt only when the index changes, so that must be rare.
TEST(TiresiasPolicies, GittinsIndexChangesAfterAnEighthMoreJobs) {
  Memory memory;
  memory.reset(ServiceHistory::bytes());
  BumpAllocator bump(memory.data());
  ServiceHistory history(bump);
  int fits = 0;
  for (int finished = 1; finished <= 30'000; ++finished) {
    const double before = history.gittins_index(0, 100);
    history.add(finished % 2 == 0 ? 10 : 1000);
    EXPECT_EQ(history.gittins_index(0, 100), before);
    const bool fitted = history.refit();
    fits += fitted;
    if (finished <= 9 || finished == 11 || finished == 13) {
      EXPECT_TRUE(fitted) << finished;
      const double ends = finished / 2, goes_on = finished - ends;
      EXPECT_DOUBLE_EQ(history.gittins_index(0, 100), ends / (10 * ends + 100 * goes_on));
    }
    if (finished == 10 || finished == 12) {
      EXPECT_FALSE(fitted) << finished;
    }
  }
  EXPECT_LT(fits, 100);
}

// After jobs of 100 s, the index expects a job that ran longer to continue. So the long job is
// preempted for both later jobs; under queues alone it would run to its limit.
TEST(TiresiasPolicies, GittinsIndexDependsOnAttainedService) {
  std::vector<JobLine> lines;
  for (int i = 0; i < 10; ++i) lines.push_back({100.0 * i, 1, 100});
  lines.insert(lines.end(), {{1000, 1, 3000}, {1150, 1, 100}, {1310, 1, 100}});
  const Scene scene("1x1", jobs_of(lines), no_costs());
  const std::vector<JobOutcome> by_queue = played(scene, "tiresias");
  EXPECT_EQ(by_queue[10].end_us, 4000 * kSecond);
  const std::vector<JobOutcome> jobs = played(scene, "tiresias-gittins");
  EXPECT_EQ(jobs[11].end_us, 1250 * kSecond);
  EXPECT_EQ(jobs[12].end_us, 1410 * kSecond);
  EXPECT_EQ(jobs[10].end_us, 4200 * kSecond);
  EXPECT_EQ(jobs[10].preemptions, 2);
}

// A running job is likelier to end the nearer it is to the usual run time, so it continues.
TEST(TiresiasPolicies, GittinsIndexKeepsAJobNearItsEnd) {
  std::vector<JobLine> lines;
  for (int i = 0; i < 10; ++i) lines.push_back({100.0 * i, 1, 100});
  lines.insert(lines.end(), {{1000, 1, 100}, {1060, 1, 100}});
  const Scene scene("1x1", jobs_of(lines), no_costs());
  const std::vector<JobOutcome> jobs = played(scene, "tiresias-gittins");
  EXPECT_EQ(jobs[10].end_us, 1100 * kSecond);
  EXPECT_EQ(jobs[11].end_us, 1200 * kSecond);
}

// All three put a job that has passed a limit behind those that have not.
TEST(TiresiasPolicies, ShortJobsGoBeforeADemotedOne) {
  for (const char* name : {"las", "tiresias", "tiresias-gittins"}) {
    const Scene scene("1x1", jobs_of({{0, 1, 4000}, {10, 1, 100}, {20, 1, 100}}), no_costs());
    const std::vector<JobOutcome> jobs = played(scene, name);
    EXPECT_EQ(jobs[0].end_us, 4200 * kSecond) << name;
    EXPECT_EQ(jobs[1].end_us, 3350 * kSecond) << name;
    EXPECT_EQ(jobs[2].end_us, 3450 * kSecond) << name;
  }
}

}  // namespace
}  // namespace yard::testing
