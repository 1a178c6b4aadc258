// Predicted run times change while a job waits: with every finished job of its user, and with the
// age of the user's running jobs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

struct HistoryLine {
  double submit_s;
  int32_t gpus;
  double run_s;
  std::string user;
};

// Returns when each job starts, in seconds, on two GPUs.
std::vector<double> starts(const std::string& policy, const std::vector<HistoryLine>& lines) {
  std::vector<Job> jobs;
  for (const HistoryLine& line : lines) {
    jobs.push_back(jobs_of({{line.submit_s, line.gpus, line.run_s}})[0]);
    jobs.back().id = std::to_string(jobs.size());
    jobs.back().user = line.user;
  }
  const Scene scene("1x2", jobs, no_costs());
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  std::vector<double> out;
  for (const JobOutcome& job : runner.jobs()) {
    out.push_back(static_cast<double>(job.start_us) / kSecond);
  }
  return out;
}

// Two jobs that ask for both GPUs wait while a long job has one of them. On the other GPU, the user
// of one of the two finishes short jobs.
std::vector<HistoryLine> short_job_finishes(const std::string& who) {
  std::vector<HistoryLine> lines = {{0, 1, 2000, "hog"}, {5, 2, 500, "ann"}, {6, 2, 60, "bob"}};
  for (int i = 0; i < 12; ++i) lines.push_back({10.0 + 20 * i, 1, 10, who});
  return lines;
}

class HistoryOrder : public ::testing::TestWithParam<std::string> {};

TEST_P(HistoryOrder, WaitingJobsAreRerankedWhenTheirUsersJobsEnd) {
  // All end before the hog does, and the prior for all users falls with them.
  const std::vector<double> bob = starts(GetParam(), short_job_finishes("bob"));
  EXPECT_LT(bob[2], bob[1]) << "although ann's came first, and both came before any job ended";
  const std::vector<double> ann = starts(GetParam(), short_job_finishes("ann"));
  EXPECT_LT(ann[1], ann[2]);
}

TEST_P(HistoryOrder, LongRunningJobRaisesItsSiblingsEstimates) {
  // No job has ended. Ann's job has run for over an hour when the two waiting ones can start. The
  // one that Ann submitted with it is expected to be as long.
  const std::vector<double> out =
      starts(GetParam(),
             {{0, 1, 40000, "ann"}, {0, 1, 30000, "hog"}, {1, 1, 100, "ann"}, {2, 1, 100, "bob"}});
  EXPECT_LT(out[3], out[2]);
}

// Returns when the only waiting job starts: ann's, of two GPUs, submitted 500 s into a hog's of
// 1,000 s, after twelve finished jobs of ann.
double start_after(const std::string& policy, double her_run_s) {
  std::vector<HistoryLine> lines;
  for (int i = 0; i < 12; ++i) lines.push_back({i * her_run_s, 1, her_run_s, "ann"});
  const double begin_s = 13 * her_run_s;
  lines.push_back({begin_s, 1, 1000, "hog"});
  lines.push_back({begin_s + 500, 2, her_run_s, "ann"});
  return starts(policy, lines).back() - begin_s;
}

TEST(HistoryOrder, LoneWaitingJobPreemptsALongerOne) {
  for (const char* policy : {"srtf-history", "srsf-history"}) {
    EXPECT_EQ(start_after(policy, 10), 500) << policy;
    EXPECT_EQ(start_after(policy, 4000), 1000) << policy;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, HistoryOrder,
                         ::testing::Values("sjf-history", "srtf-history margin_log2=10",
                                           "srsf-history margin_log2=10"),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find('-'));
                         });

// --- By users' limits

// Ends in seconds after the first arrival, which is at `from_s`.
std::vector<double> ends_by_limits(const std::string& policy, double from_s = 0) {
  std::vector<Job> jobs = jobs_of({{from_s, 2, 100},
                                   {from_s + 1, 2, 10},
                                   {from_s + 2, 2, 300},
                                   {from_s + 3, 2, 50}});  // limits in another order
  const std::vector<int64_t> limits_s = {1000, 900, 200, -1};
  for (size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].limit_us = limits_s[j] < 0 ? -1 : limits_s[j] * kSecond;
  }
  const Scene scene("1x2", jobs, no_costs());
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  std::vector<double> out;
  for (const JobOutcome& job : runner.jobs()) {
    out.push_back(static_cast<double>(job.end_us) / kSecond - from_s);
  }
  return out;
}

using Ends = std::vector<double>;

TEST(Estimates, ShortLimitsGoFirstAndMissingOnesLast) {
  EXPECT_EQ(ends_by_limits("sjf-estimate"), (Ends{100, 410, 400, 460}));
  // At 1 s 999 s of the first are left, at 2 s 899 s of the second: each is preempted by the next.
  EXPECT_EQ(ends_by_limits("srtf-estimate"), (Ends{410, 311, 302, 460}));
  EXPECT_EQ(ends_by_limits("srsf-estimate"), (Ends{410, 311, 302, 460}));
  EXPECT_EQ(ends_by_limits("srtf-estimate", 1e6), (Ends{410, 311, 302, 460}));
}

}  // namespace
}  // namespace yard::testing
