// What the engine does about policies that fail often or leave GPUs idle, jobs that wait too long
// and old snapshots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/serving/engine_calls.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

TEST(Guards, BreakerLetsTheHeuristicDecideAfterManyFailures) {
  EngineOptions options;
  options.breaker = {.at_least = 5, .open_s = 3600};
  EngineFixture fixture("test-throws", options);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ask_engine(fixture.engine, full_cluster()).reason(), pb::POLICY_ERROR);
  }
  const pb::DecideResponse open = ask_engine(fixture.engine, full_cluster());
  EXPECT_EQ(open.source(), pb::HEURISTIC);
  EXPECT_EQ(pb::Reason_Name(open.reason()), "BREAKER_OPEN");
  EXPECT_THAT(open.detail(), HasSubstr("the policy failed 5 of 5 decisions"));
  EXPECT_EQ(open.timings().policy_ms(), 0);
  EXPECT_EQ(fixture.engine.times_breakers_opened(), 1u);
  fixture.engine.breaker_of("test-throws", "").reset();
  EXPECT_EQ(ask_engine(fixture.engine, full_cluster()).reason(), pb::POLICY_ERROR);
}

TEST(Guards, DeadlinesThatAPolicyMissesOpenTheBreaker) {
  start_hanging();
  EngineOptions options;
  options.breaker = {.at_least = 2, .open_s = 3600};
  options.budget_ms = 20;
  EngineFixture fixture("test-hangs", options);
  EXPECT_EQ(ask_engine(fixture.engine, full_cluster()).reason(), pb::DEADLINE);
  EXPECT_EQ(ask_engine(fixture.engine, full_cluster()).reason(), pb::DEADLINE);
  EXPECT_EQ(pb::Reason_Name(ask_engine(fixture.engine, full_cluster()).reason()), "BREAKER_OPEN");
  stop_hanging();
}

// Two nodes of 8. A job of 16 GPUs has waited for a day beside small ones that las prefers.
pb::DecideRequest with_a_starved_job() {
  pb::DecideRequest request = cluster_of(2);
  request.set_time_s(200'000);
  add_running(request, "running", 4, "n0").set_since_s(190'000);
  add_waiting(request, "large", 16).set_submit_s(100'000);
  add_waiting(request, "small", 1).set_submit_s(199'000);
  return request;
}

TEST(Guards, AJobThatWaitedTooLongIsPlacedFirst) {
  EngineOptions options;
  options.max_wait_s = 86'400;
  EngineFixture fixture("greedy", options);
  pb::DecideRequest request = with_a_starved_job();
  const pb::DecideResponse held = ask_engine(fixture.engine, request);
  EXPECT_EQ(pb::Reason_Name(held.reason()), "STARVATION");
  EXPECT_EQ(held.source(), pb::HEURISTIC);
  EXPECT_EQ(held.decided_by(), "easy");
  EXPECT_THAT(held.detail(), HasSubstr("job large has waited for 100000 s, more than 86400"));
  EXPECT_EQ(lines_of(held), "") << "small could run past the start of large";
  request.mutable_jobs(2)->set_limit_s(60);
  request.mutable_jobs(0)->set_limit_s(20'000);
  EXPECT_EQ(lines_of(ask_engine(fixture.engine, request)), "START small n0x1\n")
      << "it ends before large can start";
  request.mutable_jobs()->DeleteSubrange(0, 1);
  EXPECT_EQ(lines_of(ask_engine(fixture.engine, request)), "START large n0x8 n1x8\n");
  request.mutable_jobs(0)->set_since_s(150'000);
  EXPECT_EQ(ask_engine(fixture.engine, request).source(), pb::POLICY) << "preempted since";
}

// Else no other job would ever start again.
TEST(Guards, JobsThatCannotStartHoldNothingUp) {
  EngineOptions options;
  options.max_wait_s = 3600;
  for (const int kind : {0, 1, 2, 3}) {
    SCOPED_TRACE(kind);
    EngineFixture fixture("greedy", options);
    pb::DecideRequest request = with_a_starved_job();
    pb::Job& large = *request.mutable_jobs(1);
    if (kind == 0) request.mutable_nodes(1)->add_down(3);
    if (kind == 1) large.add_after("running");
    if (kind == 2) large.add_required_nodes("n1");
    if (kind == 3) {
      large.set_tenant("lab");
      pb::Tenant& lab = *request.add_tenants();
      lab.set_name("lab");
      lab.set_limit_gpus(8);
    }
    EXPECT_EQ(ask_engine(fixture.engine, request).source(), pb::POLICY);
    // A second one that can start does, whatever the first one lacks.
    add_waiting(request, "old", 2).set_submit_s(150'000);
    const pb::DecideResponse answer = ask_engine(fixture.engine, request);
    EXPECT_EQ(pb::Reason_Name(answer.reason()), "STARVATION");
    EXPECT_THAT(lines_of(answer), HasSubstr("START old"));
  }
}

TEST(Guards, OldSnapshotsAreNotDecided) {
  EngineOptions options;
  options.max_age_s = 30;
  EngineFixture fixture("greedy", options);
  pb::DecideRequest request = full_cluster();
  request.set_age_s(29);
  EXPECT_EQ(ask_engine(fixture.engine, request).source(), pb::POLICY);
  request.set_age_s(31);
  const pb::DecideResponse old = ask_engine(fixture.engine, request);
  EXPECT_EQ(pb::Reason_Name(old.reason()), "STALE_STATE");
  EXPECT_EQ(old.source(), pb::SAFE_DEFAULT);
  EXPECT_THAT(old.detail(),
              HasSubstr("send a new snapshot: this one is 31.0 s old, of at most 30"));
}

pb::DecideRequest request_at(double time_s) {
  pb::DecideRequest request = cluster_of(2);
  request.set_time_s(time_s);
  add_waiting(request, "waits", 1);
  return request;
}

TEST(Guards, IdlePolicyIsOverruledAfterTheBound) {
  EngineOptions options;
  options.max_idle_s = 600;
  options.breaker = {.failed_share = 0.1, .at_least = 1, .open_s = 3600};
  EngineFixture fixture("test-idles", options);
  EXPECT_EQ(ask_engine(fixture.engine, request_at(10'000)).source(), pb::POLICY);
  EXPECT_EQ(ask_engine(fixture.engine, request_at(10'600)).source(), pb::POLICY);
  // With all GPUs held it is not idle, and its time begins anew.
  pb::DecideRequest full = request_at(10'601);
  add_running(full, "a", 8, "n0");
  add_running(full, "b", 8, "n1");
  EXPECT_EQ(ask_engine(fixture.engine, full).source(), pb::POLICY);
  EXPECT_EQ(ask_engine(fixture.engine, request_at(10'602)).source(), pb::POLICY);
  EXPECT_EQ(ask_engine(fixture.engine, request_at(11'202)).source(), pb::POLICY);
  const pb::DecideResponse late = ask_engine(fixture.engine, request_at(11'203));
  EXPECT_EQ(pb::Reason_Name(late.reason()), "IDLE") << late.detail();
  EXPECT_EQ(late.source(), pb::HEURISTIC);
  EXPECT_THAT(late.detail(), HasSubstr("the policy has left GPUs idle for 601 s"));
  EXPECT_EQ(lines_of(late), "START waits n0x1\n");
  EXPECT_EQ(pb::Reason_Name(ask_engine(fixture.engine, request_at(11'204)).reason()),
            "BREAKER_OPEN")
      << "idling counts as failure";
}

TEST(Guards, IdlePolicyIsRightIfTheHeuristicStartsNothingEither) {
  EngineOptions options;
  options.max_idle_s = 600;
  EngineFixture fixture("test-idles", options);
  const auto at = [](double time_s) {
    pb::DecideRequest request = request_at(time_s);
    request.mutable_jobs(0)->add_gpu_types("h100");  // of which there is none free
    request.mutable_nodes(0)->set_gpu_type("h100");
    add_running(request, "a", 8, "n0");  // las would preempt it, and leave n1 idle as well
    return request;
  };
  EXPECT_EQ(ask_engine(fixture.engine, at(10'000)).source(), pb::POLICY);
  const pb::DecideResponse later = ask_engine(fixture.engine, at(11'000));
  EXPECT_EQ(later.source(), pb::POLICY);
  EXPECT_EQ(later.reason(), pb::NONE) << later.detail();
  EXPECT_EQ(ask_engine(fixture.engine, at(11'500)).source(), pb::POLICY);
}

TEST(Guards, ActionsSayWhatTheyExpectAndWhenTheyExpire) {
  EngineOptions options;
  options.valid_s = 45;
  EngineFixture fixture("las", options);
  pb::DecideRequest request = full_cluster();
  request.mutable_jobs(0)->set_restart(3);
  const pb::DecideResponse answer = ask_engine(fixture.engine, request);
  EXPECT_EQ(answer.valid_for_s(), 45);
  ASSERT_EQ(answer.actions_size(), 2);
  EXPECT_EQ(answer.actions(0).verb(), pb::PREEMPT);
  EXPECT_EQ(pb::JobState_Name(answer.actions(0).expected()), "RUNNING");
  EXPECT_EQ(answer.actions(0).restart(), 3u);
  EXPECT_EQ(pb::JobState_Name(answer.actions(1).expected()), "WAITING");
  EXPECT_FALSE(answer.actions(1).has_restart());
}

}  // namespace
}  // namespace yard::testing
