// Checks the limits on preemptions: what a decision may do after earlier ones, and that a policy
// which wants more decides again within them.
#include "serving/engine/preemption_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/snapshot/guard.h"
#include "serving/snapshot/run_policy.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// Jobs of 8 GPUs which have run for an hour fill the cluster. So many jobs of 8 GPUs, which las
// puts first, wait.
pb::DecideRequest full(int nodes, int waiting, double time_s = 10'000) {
  pb::DecideRequest out = cluster_of(nodes);
  out.set_cluster("c");
  out.set_time_s(time_s);
  for (int i = 0; i < nodes; ++i) {
    const std::string node = "n" + std::to_string(i);
    pb::Job& job = add_running(out, "r" + std::to_string(i), 8, node);
    job.set_since_s(time_s - 3600);
    job.set_submit_s(time_s - 3600);
  }
  for (int i = 0; i < waiting; ++i) {
    add_waiting(out, "w" + std::to_string(i), 8).set_submit_s(time_s - 1);
  }
  return out;
}

pb::DecideResponse preempting(std::initializer_list<const char*> jobs) {
  pb::DecideResponse out;
  for (const char* id : jobs) {
    pb::Action& action = *out.add_actions();
    action.set_job(id);
    action.set_verb(pb::PREEMPT);
  }
  return out;
}

int preemptions(const pb::DecideResponse& response) {
  return static_cast<int>(std::ranges::count_if(
      response.actions(), [](const pb::Action& one) { return one.verb() == pb::PREEMPT; }));
}

TEST(PreemptionLimits, AShareOfTheGpusWithinTheInterval) {
  PreemptionLimits limits({.interval_s = 600, .gpu_share = 0.25}, 8);
  const auto left = [&](double time_s) {
    return limits.bounds_of(full(8, 0, time_s), "").max_gpus;
  };
  EXPECT_EQ(left(10'000), 16);
  limits.count(full(8, 0, 10'000), "", preempting({"r0"}));
  EXPECT_EQ(left(10'000), 8);
  limits.count(full(8, 0, 10'300), "", preempting({"r1"}));
  EXPECT_EQ(left(10'300), 0);
  EXPECT_EQ(left(10'599), 0);
  EXPECT_EQ(left(10'600), 8);
  EXPECT_EQ(left(10'900), 16);
  // Another cluster has its own.
  pb::DecideRequest other = full(8, 0, 10'300);
  other.set_cluster("other");
  EXPECT_EQ(limits.bounds_of(other, "").max_gpus, 16);
}

TEST(PreemptionLimits, OneJobMayBeLargerThanTheShare) {
  PreemptionLimits limits({.interval_s = 600, .gpu_share = 0.1}, 8);
  EXPECT_EQ(limits.bounds_of(full(1, 0), "").max_gpus, 1);  // of 0.8
  limits.count(full(1, 0), "", preempting({"r0"}));
  EXPECT_EQ(limits.bounds_of(full(1, 0), "").max_gpus, 0);
  EXPECT_EQ(PreemptionLimits({.gpu_share = 0}, 8).bounds_of(full(1, 0), "").max_gpus, 0);
  EXPECT_EQ(PreemptionLimits({.gpu_share = 1}, 8).bounds_of(full(1, 0), "").max_gpus, kNoLimit);
}

TEST(PreemptionLimits, APreemptionThatIsNotCarriedOutCountsOnce) {
  PreemptionLimits limits({.gpu_share = 0.5, .per_job = 2}, 8);
  pb::DecideRequest request = full(4, 0);
  const auto bounds = [&] { return limits.bounds_of(request, ""); };
  for (int i = 0; i < 5; ++i) {
    limits.count(request, "", preempting({"r0"}));
    EXPECT_EQ(bounds().max_gpus, 8);
    EXPECT_THAT(bounds().preempting, UnorderedElementsAre("r0"));
  }
  // It waits, then runs again.
  request.mutable_jobs(0)->set_state(pb::WAITING);
  EXPECT_TRUE(bounds().preempting.empty());
  request.mutable_jobs(0)->set_state(pb::RUNNING);
  EXPECT_TRUE(bounds().preempting.empty());
  EXPECT_TRUE(bounds().pinned.empty());
  limits.count(request, "", preempting({"r0"}));
  EXPECT_EQ(bounds().max_gpus, 0);
  request.mutable_jobs(0)->set_preemptions(2);  // seen only when it runs again
  EXPECT_THAT(bounds().pinned, UnorderedElementsAre("r0"));
  request.set_time_s(10'000 + 3601);
  EXPECT_TRUE(bounds().pinned.empty());
}

TEST(PreemptionLimits, AJobRunsForAWhileFirst) {
  PreemptionLimits limits({.min_run_s = 60}, 8);
  pb::DecideRequest request = full(4, 0);
  request.mutable_jobs(0)->set_since_s(10'000 - 59);
  request.mutable_jobs(1)->set_since_s(10'000 - 60);
  request.mutable_jobs(2)->set_state(pb::STARTING);
  // Without the time of its start, all of its run time counts.
  request.mutable_jobs(3)->clear_since_s();
  request.mutable_jobs(3)->set_attained_s(59);
  EXPECT_THAT(limits.bounds_of(request, "").pinned, UnorderedElementsAre("r0", "r2", "r3"));
}

TEST(PreemptionLimits, AClockThatWasSetBackForgets) {
  PreemptionLimits limits({.gpu_share = 0.5}, 8);
  limits.count(full(4, 0, 1e6), "", preempting({"r0", "r1"}));
  EXPECT_EQ(limits.bounds_of(full(4, 0, 1e6 - 1), "").max_gpus, 0);  // a request that was late
  EXPECT_EQ(limits.bounds_of(full(4, 0, 10'000), "").max_gpus, 16);
}

TEST(PreemptionLimits, ThePolicyDecidesAgainWithinThem) {
  const auto las = make_policy("las");
  pb::DecideRequest request = full(8, 8);
  const PolicyResult free = run_policy(*las, Snapshot(request), request);
  EXPECT_EQ(preemptions(free.response), 8);
  EXPECT_FALSE(free.limited);
  for (const int most : {0, 1, 8, 23, 24, 64}) {
    request.set_max_preempted_gpus(static_cast<uint32_t>(most));
    const Snapshot snapshot(request);
    ClusterMemory memory;
    const PolicyResult answer = run_policy(*las, snapshot, request, Tracing::kNone, &memory);
    EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
    const int expected = most == 1 ? 1 : most / 8;
    EXPECT_EQ(preemptions(answer.response), expected) << most;
    // Its plan is whole: what it preempts makes room for what it starts.
    EXPECT_EQ(answer.response.actions_size(), 2 * expected) << most;
    EXPECT_EQ(answer.limited, most > 0 && most < 64) << most;
    EXPECT_EQ(answer.detail.starts_with("it wanted to preempt jobs with 64 GPUs"), answer.limited);
    EXPECT_EQ(flaw_of_decision(request, answer.response), "");
    // The next decision goes on from there.
    request.set_time_s(10'001);
    const Snapshot next(request);
    EXPECT_FALSE(run_policy(*las, next, request, Tracing::kNone, &memory).rebuilt);
    request.set_time_s(10'000);
  }
}

TEST(PreemptionLimits, WhatAnEarlierAnswerPreemptedMayStillBe) {
  const auto las = make_policy("las");
  pb::DecideRequest request = full(4, 4);
  request.set_max_preempted_gpus(0);
  EXPECT_EQ(preemptions(run_policy(*las, Snapshot(request), request).response), 0);
  request.mutable_jobs(2)->set_preempting(true);
  const PolicyResult of_request = run_policy(*las, Snapshot(request), request);
  EXPECT_EQ(of_request.response.actions(0).job(), "r2");
  EXPECT_EQ(preemptions(of_request.response), 1);
  request.mutable_jobs(2)->clear_preempting();
  request.set_max_preempted_gpus(8);
  const Snapshot snapshot(request, {.pinned = {}, .preempting = {"r1"}, .max_gpus = 64});
  const PolicyResult of_server = run_policy(*las, snapshot, request);
  EXPECT_EQ(preemptions(of_server.response), 2);
  EXPECT_EQ(flaw_of_decision(request, preempting({"r1", "r2"}), snapshot.bounds()), "");
  EXPECT_THAT(flaw_of_decision(request, preempting({"r3", "r2"}), snapshot.bounds()),
              HasSubstr("at most 8"));
}

TEST(PreemptionLimits, TheGuardKnowsThem) {
  pb::DecideRequest request = full(2, 0);
  const pb::DecideResponse both = preempting({"r0", "r1"}), one = preempting({"r0"});
  request.set_max_preempted_gpus(16);
  EXPECT_EQ(flaw_of_decision(request, both), "");
  EXPECT_THAT(flaw_of_decision(request, both, {.pinned = {"r1"}, .preempting = {}}),
              HasSubstr("it is pinned"));
  EXPECT_THAT(flaw_of_decision(request, both, {.pinned = {}, .preempting = {}, .max_gpus = 15}),
              HasSubstr("16 GPUs"));
  request.set_max_preempted_gpus(1);
  EXPECT_EQ(flaw_of_decision(request, one), "");
  EXPECT_THAT(flaw_of_decision(request, both), HasSubstr("at most 1"));
  request.set_max_preempted_gpus(0);
  EXPECT_THAT(flaw_of_decision(request, one), HasSubstr("at most 0"));
}

// Cluster managers describe jobs by tasks with CPUs. Preemption must make room for these, too.
TEST(PreemptionForTasks, FreesTheCpusThatATaskNeeds) {
  const auto joint = make_policy("joint");
  const auto verbs = [&](uint32_t wanted_cpus) {
    pb::DecideRequest request = cluster_of(1);
    request.mutable_nodes(0)->set_cpus(8);
    add_running(request, "long", 4, "n0");
    add_running(request, "pinned", 4, "n0").set_pinned(true);
    add_waiting(request, "fresh", 4);
    const uint32_t cpus[] = {2, 6, wanted_cpus};
    for (int i = 0; i < request.jobs_size(); ++i) {
      pb::TaskGroup& group = *request.mutable_jobs(i)->add_groups();
      group.set_role("node");
      group.set_count(1);
      group.mutable_task()->set_gpus(4);
      group.mutable_task()->set_cpu_milli(1000 * cpus[i]);
    }
    const PolicyResult answer = run_policy(*joint, Snapshot(request), request);
    EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
    std::string out;
    for (const pb::Action& action : answer.response.actions()) {
      out += pb::Verb_Name(action.verb()) + " " + action.job() + ";";
    }
    return out;
  };
  EXPECT_EQ(verbs(2), "PREEMPT long;START fresh;");
  EXPECT_EQ(verbs(3), "") << "its 2 CPUs do not suffice";
}

}  // namespace
}  // namespace yard::testing
