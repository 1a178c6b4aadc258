// Jobs split into stages: which groups run together, for how long, and their dependencies.
#include "env/trace/core/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace yard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kS = 1'000'000;

RoleGroup group(const std::string& role, int32_t gpus, std::vector<int32_t> after, int64_t run_s) {
  RoleGroup out;
  out.role = role;
  out.task.gpus = gpus;
  out.after = std::move(after);
  out.run_us = run_s < 0 ? -1 : run_s * kS;
  return out;
}

// Two groups together, then one next to another, then one after both: 3, 4 + 8, 1 GPUs.
Trace diamond() {
  Trace trace;
  Job job;
  job.id = "d";
  job.run_us = 100 * kS;
  job.after = {"before"};
  job.groups = {group("last", 1, {2, 3}, 30), group("worker", 2, {}, 50), group("big", 8, {1}, -1),
                group("small", 4, {1, 4}, 10), group("ps", 1, {}, 70)};
  job.gpus = 16;
  Job next;
  next.id = "n";
  next.run_us = 5 * kS;
  next.gpus = 1;
  next.after = {"d", "elsewhere"};
  trace.jobs = {job, next};
  return trace;
}

TEST(Stages, RunInTheOrderOfTheirGroups) {
  Trace trace = diamond();
  fill_in_stage_run_times(trace);
  // 70 s of workers and servers, 100 s of the large group (10 s next to it), 30 s.
  EXPECT_EQ(trace.jobs[0].run_us, 200 * kS);
  EXPECT_EQ(trace.jobs[1].run_us, 5 * kS);
  const Trace before = trace;
  fill_in_stage_run_times(trace);
  EXPECT_EQ(trace.jobs[0].run_us, before.jobs[0].run_us);
  EXPECT_EQ(trace.jobs[0].groups, before.jobs[0].groups);
  EXPECT_DOUBLE_EQ(gpu_time_us(trace.jobs[0]), 1e6 * (70 * 3 + 100 * 8 + 10 * 4 + 30 * 1));

  const StageJobs stages = split_stages(trace.jobs);
  ASSERT_EQ(stages.jobs.size(), 5u);
  EXPECT_THAT(stages.job_of, ElementsAre(0, 0, 0, 0, 1));
  const auto id = [&](size_t e) { return stages.jobs[e].id; };
  EXPECT_THAT(stages.jobs[0].after, ElementsAre("before"));
  EXPECT_EQ(stages.jobs[0].gpus, 3);
  EXPECT_EQ(stages.jobs[0].run_us, 70 * kS);
  ASSERT_EQ(stages.jobs[0].groups.size(), 2u);
  EXPECT_THAT(stages.jobs[0].groups[1].after, IsEmpty());
  EXPECT_EQ(stages.jobs[1].gpus, 8);
  EXPECT_THAT(stages.jobs[1].after, ElementsAre(id(0)));
  EXPECT_EQ(stages.jobs[2].gpus, 4);
  EXPECT_EQ(stages.jobs[2].run_us, 10 * kS);
  EXPECT_EQ(stages.jobs[3].gpus, 1);
  EXPECT_THAT(stages.jobs[3].after, ElementsAre(id(1), id(2)));
  EXPECT_THAT(stages.jobs[4].after, ElementsAre(id(3), "elsewhere")) << "after the last stage";
}

TEST(Stages, JobsOfOneStageAreUnchanged) {
  Trace trace = diamond();
  for (RoleGroup& g : trace.jobs[0].groups) g.after.clear(), g.run_us = -1;
  EXPECT_FALSE(any_job_has_stages(trace));
  const StageJobs stages = split_stages(trace.jobs);
  ASSERT_EQ(stages.jobs.size(), 2u);
  EXPECT_EQ(stages.jobs[0].groups, trace.jobs[0].groups);
  EXPECT_EQ(stages.jobs[0].id, "d");
}

}  // namespace
}  // namespace yard
