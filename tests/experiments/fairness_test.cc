// Fairness, deadlines and tenants of a few jobs, computed by hand.
#include "env/sim/metrics/fairness.h"

#include <gtest/gtest.h>

#include <optional>

#include "env/sim/metrics/deadlines.h"
#include "env/sim/metrics/metrics.h"
#include "env/sim/metrics/tenants.h"
#include "env/sim/state/workload.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

Job user_job(const std::string& id, int64_t submit_s, int64_t run_s, int32_t gpus,
             const std::string& user = "", const std::string& tenant = "") {
  Job out;
  out.id = id;
  out.submit_us = submit_s * kUsPerS;
  out.run_us = run_s * kUsPerS;
  out.gpus = gpus;
  out.user = user;
  out.tenant = tenant;
  return out;
}

struct Case {
  Case(std::vector<Job> jobs, std::vector<int64_t> ends_s, int64_t end_s)
      : cluster(load_cluster("1x4")), spec(cluster) {
    trace.jobs = std::move(jobs);
    workload.emplace(trace, cluster);
    fixed = {spec.columns(), workload->jobs().columns(), {}};
    for (const int64_t at_s : ends_s) {
      outcome.jobs.push_back({.start_us = 0, .end_us = at_s < 0 ? kNone : at_s * kUsPerS});
    }
    outcome.end_us = end_s * kUsPerS;
  }

  std::vector<int64_t> alone() const { return isolated_run_us(trace, fixed); }

  Trace trace;
  ClusterSpec cluster;
  SpecTable spec;
  std::optional<Workload> workload;
  SimModel fixed;
  Outcome outcome;
};

TEST(Fairness, RhoOfThreeJobsMatchesHandComputation) {
  // In the system: a until 100 s; a, b and c until 200 s; b and c until 300 s; c until 400 s.
  Case it({user_job("a", 0, 100, 4), user_job("b", 100, 100, 1), user_job("c", 100, 50, 4)},
          {200, 300, 400}, 400);
  const Fairness fairness = fairness_of(it.trace, it.fixed, it.alone(), it.outcome);
  // a: 2 jobs on average leave it half of 4 GPUs: 100 s become 200, and it took 200.
  // b: 2.5 jobs leave it 1.6 GPUs, which are enough: 100 s; it took 200.
  // c: (3 + 2 + 1) / 3 = 2 jobs leave it 2 of its 4 GPUs: 50 s become 100; it took 300.
  ASSERT_TRUE(fairness.finish_time);
  EXPECT_EQ(fairness.finish_time->jobs, 3);
  EXPECT_NEAR(fairness.finish_time->mean, (1 + 2 + 3) / 3.0, 1e-12);
  EXPECT_NEAR(fairness.finish_time->max, 3, 1e-12);
  EXPECT_NEAR(fairness.finish_time->p95, 3, 1e-12);
  EXPECT_NEAR(fairness.finish_time->unfair_share, 2.0 / 3, 1e-12);
  EXPECT_FALSE(fairness.jain_users) << "the trace has no users";
  EXPECT_FALSE(fairness.jain_tenants);
}

TEST(Fairness, JobsThatWaitLongerHaveHigherRho) {
  // The expected value sums the jobs in the system second by second.
  std::vector<Job> jobs;
  std::vector<int64_t> ends_s;
  for (int i = 0; i < 30; ++i) {
    jobs.push_back(user_job(std::to_string(i), 7 * i, 20 + 13 * (i % 5), 1 + i % 4));
    ends_s.push_back(i == 11 ? -1 : 7 * i + (20 + 13 * (i % 5)) * (1 + i % 3));
  }
  const Case it(jobs, ends_s, 600);
  double sum = 0, n = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (ends_s[j] < 0) continue;
    double in_system = 0;
    const int64_t from_s = jobs[j].submit_us / kUsPerS;
    for (int64_t t = from_s; t < ends_s[j]; ++t) {
      for (size_t k = 0; k < jobs.size(); ++k) {
        in_system += jobs[k].submit_us / kUsPerS <= t && (ends_s[k] < 0 || t < ends_s[k]);
      }
    }
    const auto jct_s = static_cast<double>(ends_s[j] - from_s);
    const double share = 4 / (in_system / jct_s);
    const double run_s = static_cast<double>(jobs[j].run_us) / 1e6;
    sum += jct_s / (run_s * std::max(1.0, jobs[j].gpus / share));
    ++n;
  }
  EXPECT_NEAR(fairness_of(it.trace, it.fixed, it.alone(), it.outcome).finish_time->mean, sum / n,
              1e-9);
}

TEST(Fairness, JainIndexOfUsersMatchesHandComputation) {
  // u waits as long as it runs, v does not wait: x = 0.5 and 1.
  Case it({user_job("a", 0, 100, 1, "u", "t"), user_job("b", 0, 50, 2, "v", "t"),
           user_job("c", 0, 10, 4)},
          {200, 50, 400}, 400);
  const Fairness fairness = fairness_of(it.trace, it.fixed, it.alone(), it.outcome);
  EXPECT_NEAR(*fairness.jain_users, 1.5 * 1.5 / (2 * 1.25), 1e-12);
  EXPECT_FALSE(fairness.jain_tenants) << "one tenant is never treated unfairly";
}

TEST(Deadlines, MatchHandComputation) {
  Case it({user_job("met", 0, 10, 1), user_job("late", 0, 10, 1), user_job("never", 0, 10, 1),
           user_job("open", 0, 10, 1), user_job("none", 0, 10, 1)},
          {50, 130, -1, -1, 60}, 200);
  it.trace.jobs[0].dues = {{40 * kUsPerS, 4}, {100 * kUsPerS, 1}};
  it.trace.jobs[1].dues = {{100 * kUsPerS, 2}, {150 * kUsPerS, 0}};
  it.trace.jobs[2].dues = {{150 * kUsPerS, 1}};
  it.trace.jobs[3].dues = {{300 * kUsPerS, 1}};
  const auto due = deadlines_of(it.trace, it.outcome);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->jobs, 4);
  EXPECT_EQ(due->met, 1);
  EXPECT_EQ(due->missed, 2);
  EXPECT_EQ(due->open, 1);
  EXPECT_DOUBLE_EQ(due->mean_tardiness_s, (0 + 30 + 50) / 3.0);
  EXPECT_DOUBLE_EQ(due->max_tardiness_s, 50);
  EXPECT_DOUBLE_EQ(due->value, 1);
  EXPECT_DOUBLE_EQ(due->value_share, 1.0 / 8);
  it.trace.jobs.resize(5);
  for (Job& job : it.trace.jobs) job.dues.clear();
  EXPECT_FALSE(deadlines_of(it.trace, it.outcome));
}

TEST(Tenants, MatchHandComputation) {
  Case it({user_job("a", 0, 100, 1, "", "x"), user_job("b", 0, 100, 2, "", "x"),
           user_job("c", 0, 50, 4, "", "y"), user_job("d", 0, 50, 4)},
          {100, 300, 150, 400}, 400);
  it.cluster.tenants = {{.name = "x", .quota_gpus = 2}, {.name = "z", .quota_gpus = 1}};
  it.trace.jobs[2].dues = {{100 * kUsPerS, 1}};
  GpuUsage used;
  used.tenants = {"x", "y"};
  used.tenant_gpu_s = {1800, 3600};
  used.span_s = 400;
  const auto tenants = tenants_of(it.trace, it.cluster, it.alone(), it.outcome, &used);
  ASSERT_EQ(tenants.size(), 2u);
  EXPECT_EQ(tenants[0].tenant, "x");
  EXPECT_EQ(tenants[0].all.finished, 2);
  EXPECT_DOUBLE_EQ(tenants[0].all.mean_jct_s, 200);
  EXPECT_DOUBLE_EQ(tenants[0].all.p95_jct_s, 300);
  EXPECT_DOUBLE_EQ(tenants[0].all.mean_wait_s, 100);
  EXPECT_DOUBLE_EQ(tenants[0].p95_wait_s, 200);
  EXPECT_FALSE(tenants[0].deadlines);
  EXPECT_DOUBLE_EQ(*tenants[0].gpu_hours, 0.5);
  EXPECT_DOUBLE_EQ(*tenants[0].quota_share, 4.5 / 2);
  EXPECT_EQ(tenants[1].deadlines->missed, 1);
  EXPECT_FALSE(tenants[1].quota_gpus);
  EXPECT_FALSE(tenants_of(it.trace, it.cluster, it.alone(), it.outcome, nullptr)[0].gpu_hours);
}

}  // namespace
}  // namespace yard
