// Preemptive orders have a setting for the cost of preemption, which makes preemptions rarer.
#include <gtest/gtest.h>

#include <string>

#include "policies/policy.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

int32_t preemptions(const std::string& policy) {
  RandomJobs how;
  how.count = 80;
  std::vector<Job> jobs = random_jobs(Rng(5), how);
  for (Job& job : jobs) job.limit_us = 2 * job.run_us;
  const Scene scene("2x4", jobs);
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  int32_t sum = 0;
  for (const JobOutcome& job : runner.jobs()) sum += job.preemptions;
  return sum;
}

class PreemptionCost : public ::testing::TestWithParam<std::string> {};

TEST_P(PreemptionCost, ReducesPreemptions) {
  // `las` gets low queue limits. Orders with a margin have it set to zero.
  std::string with = GetParam();
  if (with == "las") with += " limit_1_gpu_s=200 limit_2_gpu_s=400";
  const int32_t free = preemptions(with + " cost_weight=0");
  EXPECT_GT(free, 10);
  EXPECT_LT(preemptions(with + " cost_weight=20"), free);
}

INSTANTIATE_TEST_SUITE_P(Orders, PreemptionCost,
                         ::testing::Values("las", "2d-las margin_log2=0", "srtf", "srsf",
                                           "srtf-estimate", "srsf-estimate",
                                           "srtf-history margin_log2=0",
                                           "srsf-history margin_log2=0", "srsf-qssf margin_log2=0",
                                           "gittins margin_log2=0", "survival margin_log2=0"));

}  // namespace
}  // namespace yard::testing
