// Demands drawn for jobs which ask for GPUs only: within the bounds of the header file, the same
// for the same seed, and only where the trace has none.
#include "experiments/scenario/demand_draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "env/trace/profiles/training_curves.h"

namespace yard::testing {
namespace {

Trace plain_trace() {
  Trace out;
  for (int i = 0; i < 400; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.gpus = std::vector{1, 2, 4, 8, 6, 0}[static_cast<size_t>(i % 6)];
    job.run_us = int64_t{1'000'000} * (60 + 400 * i);
    out.jobs.push_back(job);
  }
  return out;
}

TEST(JobAttributeDrawConfig, StaysWithinItsBounds) {
  Trace trace = plain_trace();
  draw_missing_job_attributes(trace, Rng(3));
  std::set<size_t> parts;
  std::set<int64_t> urgencies, cores;
  int longer = 0, shorter = 0;
  for (const Job& job : trace.jobs) {
    if (job.gpus == 0) {
      EXPECT_TRUE(job.groups.empty() && job.dues.empty());
      continue;
    }
    int32_t gpus = 0;
    for (const RoleGroup& group : job.groups) {
      EXPECT_EQ(group.task.gpus, 1);
      EXPECT_EQ(group.task.cpu_milli, job.groups[0].task.cpu_milli);
      gpus += group.count;
      cores.insert(group.task.cpu_milli / 1000);
    }
    EXPECT_EQ(gpus, job.gpus);
    parts.insert(job.groups.size());
    urgencies.insert(job.priority);
    ASSERT_EQ(job.dues.size(), 1U);
    const auto within_h = static_cast<double>(job.dues[0].within_us) / 3600e6;
    const auto run_h = static_cast<double>(job.run_us) / 3600e6;
    EXPECT_GE(within_h, 0.5);
    EXPECT_GE(within_h, 1.1 * run_h * std::exp(-0.25 * 5));
    EXPECT_LE(within_h, std::max(24.0, 1.1 * run_h * std::exp(0.25 * 5)) + 1e-9);
    longer += within_h > 1.2 * run_h;
    shorter += within_h < run_h;  // users err both ways
    const std::vector<TrainingCurvePoint> curve = tabulate_loss(job.loss);
    EXPECT_NEAR(curve.front().value, 1, 1e-12);
    EXPECT_GT(job.loss.b2, 0.05 - 1e-12);
    EXPECT_LT(job.loss.b2, 0.3);
    const double share = work_share_to_reach(curve, job.enough);
    EXPECT_GE(share, 0.4 - 0.02);  // the table is interpolated linearly
    EXPECT_LE(share, 1);
  }
  EXPECT_EQ(parts, (std::set<size_t>{1, 2, 4}));
  EXPECT_EQ(urgencies.size(), 10U);
  EXPECT_EQ(cores, (std::set<int64_t>{2, 4, 6, 8, 10, 12}));
  EXPECT_GT(longer, 40);
  EXPECT_GT(shorter, 10);
}

TEST(JobAttributeDrawConfig, DependsOnlyOnTheSeedAndKeepsGivenDemands) {
  Trace one = plain_trace(), two = plain_trace(), other = plain_trace(), said = plain_trace();
  draw_missing_job_attributes(one, Rng(3));
  draw_missing_job_attributes(two, Rng(3));
  draw_missing_job_attributes(other, Rng(4));
  int same = 0;
  for (size_t j = 0; j < one.jobs.size(); ++j) {
    EXPECT_EQ(one.jobs[j].enough, two.jobs[j].enough);
    EXPECT_EQ(one.jobs[j].groups, two.jobs[j].groups);
    same += one.jobs[j].enough == other.jobs[j].enough && one.jobs[j].gpus > 0;
  }
  EXPECT_EQ(same, 0);
  said.jobs[0].groups = {RoleGroup{}};
  draw_missing_job_attributes(said, Rng(3));
  EXPECT_EQ(said.jobs[0].groups, std::vector{RoleGroup{}});
  EXPECT_TRUE(said.jobs[0].dues.empty());
}

}  // namespace
}  // namespace yard::testing
