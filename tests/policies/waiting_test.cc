// The wait term moves a job ahead of other waiting jobs. It causes no preemption, since the
// preempted job would return in the same way.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/outcomes.h"

namespace yard::testing {
namespace {

std::vector<int64_t> ends(const std::string& policy, const std::vector<JobLine>& jobs) {
  std::vector<int64_t> out;
  for (const JobOutcome& job : outcomes(policy, "1x1", jobs_of(jobs))) out.push_back(job.end_us);
  return out;
}

constexpr double kHour = 3600;
const std::string kJoint = "joint margin_log2=0.3 settle_s=0 cost_weight=0";

TEST(JointWaiting, WaitingTimeCausesNoPreemption) {
  // At most one job waits, so there is no order to change.
  const std::vector<JobLine> jobs = {{0, 1, 10 * kHour}, {kHour / 2, 1, 9 * kHour}};
  EXPECT_EQ(ends(kJoint + " order_by_wait=-2", jobs), ends(kJoint, jobs));
}

TEST(JointWaiting, WaitingTimeReordersWaitingJobs) {
  std::vector<JobLine> jobs = {{0, 1, 8 * kHour}};
  for (int i = 0; i < 6; ++i) jobs.push_back({(1 + i) * kHour, 1, 2 * kHour});
  const auto first_waits = ends(kJoint + " preempt=false order_by_wait=-2", jobs);
  const auto last_waits = ends(kJoint + " preempt=false order_by_wait=2", jobs);
  EXPECT_LT(first_waits[1], first_waits[6]);
  EXPECT_GT(last_waits[1], last_waits[6]);
}

}  // namespace
}  // namespace yard::testing
