// Policies with a setting `order` serve jobs by the priorities, weights or deadlines of users.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/outcomes.h"

namespace yard::testing {
namespace {

// Returns when each of three equal jobs starts that wait for one GPU.
std::vector<int64_t> starts_s(const std::string& policy) {
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {1, 1, 100}, {2, 1, 100}, {3, 1, 100}});
  jobs[2].priority = 5;
  jobs[1].weight = 0.5;
  jobs[3].weight = 2;
  jobs[2].dues = {{.within_us = 900 * kSecond}};
  jobs[3].dues = {{.within_us = 800 * kSecond}, {.within_us = 1000 * kSecond, .value = 0.5}};
  const std::vector<JobOutcome> ended = outcomes(policy, "1x1", jobs);
  std::vector<int64_t> out;
  for (size_t j = 1; j < jobs.size(); ++j) out.push_back(ended[j].start_us / kSecond);
  return out;
}

using StartTimes = std::vector<int64_t>;

class Orders : public ::testing::TestWithParam<std::string> {};

TEST_P(Orders, FollowUserAttributes) {
  EXPECT_EQ(starts_s(GetParam()), (StartTimes{100, 200, 300}));
  EXPECT_EQ(starts_s(GetParam() + " order=priority"), (StartTimes{200, 100, 300}));
  EXPECT_EQ(starts_s(GetParam() + " order=weight"), (StartTimes{300, 200, 100}));
  EXPECT_EQ(starts_s(GetParam() + " order=deadline"), (StartTimes{300, 200, 100}));
}

INSTANTIATE_TEST_SUITE_P(Policies, Orders, ::testing::Values("greedy", "easy"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace yard::testing
