// Having waited puts a job before others that wait; it stops nobody by it, for whom it stopped
// would come back in the same way.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policies/policy.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

Job job_of(int32_t gpus, int64_t submit_us, int64_t run_us) {
  Job job;
  job.submit_us = submit_us;
  job.gpus = gpus;
  job.run_us = run_us;
  return job;
}

std::vector<int64_t> ends(const std::string& policy, const std::vector<Job>& jobs) {
  const Scene scene("1x1", jobs);
  const auto scheduler = make_policy(policy);
  Player player(scene, *scheduler);
  player.play();
  EXPECT_FALSE(player.failed());
  std::vector<int64_t> out;
  for (const JobOutcome& job : player.jobs()) out.push_back(job.end_us);
  return out;
}

constexpr int64_t kHourUs = 3'600'000'000;
const std::string kJoint = "joint margin_log2=0.3 settle_s=0 cost_weight=0";

TEST(JointWaiting, StopsNobodyByHavingWaited) {
  // Never two that wait, so that there is no order among them to change.
  const std::vector<Job> jobs = {job_of(1, 0, 10 * kHourUs), job_of(1, kHourUs / 2, 9 * kHourUs)};
  EXPECT_EQ(ends(kJoint + " order_by_wait=-2", jobs), ends(kJoint, jobs));
}

TEST(JointWaiting, PutsOneBeforeOthersThatWait) {
  std::vector<Job> jobs = {job_of(1, 0, 8 * kHourUs)};
  for (int i = 0; i < 6; ++i) jobs.push_back(job_of(1, (1 + i) * kHourUs, 2 * kHourUs));
  const auto first_waits = ends(kJoint + " preempt=false order_by_wait=-2", jobs);
  const auto last_waits = ends(kJoint + " preempt=false order_by_wait=2", jobs);
  EXPECT_LT(first_waits[1], first_waits[6]);
  EXPECT_GT(last_waits[1], last_waits[6]);
}

}  // namespace
}  // namespace yard::testing
