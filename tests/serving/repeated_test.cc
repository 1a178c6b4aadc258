// Requests that are sent twice, and managers that say what they can carry out.
#include <gtest/gtest.h>

#include <thread>

#include "serving/engine/answer_store.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/max_starts.h"
#include "tests/serving/engine_calls.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

pb::DecideRequest named(const std::string& id, const std::string& cluster = "lab") {
  pb::DecideRequest out = full_cluster();
  out.set_request_id(id);
  out.set_cluster(cluster);
  return out;
}

std::string refusal(Engine& engine, const pb::DecideRequest& request) {
  try {
    ask_engine(engine, request);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(RepeatedRequests, GetTheSameBytes) {
  EngineFixture fixture("las");
  const pb::DecideResponse first = ask_engine(fixture.engine, named("a"));
  const pb::DecideResponse again = ask_engine(fixture.engine, named("a"));
  EXPECT_EQ(first.actions_size(), 2);
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(fixture.seen, 1) << "the repetition was logged as a decision";
  EXPECT_EQ(fixture.engine.repeated_requests(), 1u);
  // Another id, or another cluster with the same id, is another request.
  EXPECT_NE(ask_engine(fixture.engine, named("b")).decision_id(), first.decision_id());
  EXPECT_NE(ask_engine(fixture.engine, named("a", "hall")).decision_id(), first.decision_id());
  EXPECT_EQ(fixture.seen, 3);
}

TEST(RepeatedRequests, WithoutAnIdAreDecidedAnew) {
  EngineFixture fixture("las");
  ask_engine(fixture.engine, named(""));
  ask_engine(fixture.engine, named(""));
  EXPECT_EQ(fixture.seen, 2);
}

TEST(RepeatedRequests, AnIdOfAnotherRequestIsRefused) {
  EngineFixture fixture("las");
  ask_engine(fixture.engine, named("a"));
  pb::DecideRequest other = named("a");
  other.mutable_jobs(1)->set_gpus(4);
  EXPECT_EQ(refusal(fixture.engine, other),
            "request_id: expected an id of its own for each request, got 'a', the id of another "
            "request");
  // A sender that cannot be told from others is not refused for an id that another may have used.
  other.set_cluster("");
  std::promise<pb::DecideResponse> answers[2];
  for (const uint32_t gpus : {4U, 8U}) {
    other.mutable_jobs(1)->set_gpus(gpus);
    auto& answer = answers[gpus == 8];
    IncomingRequest call = incoming(other, answer);
    call.client = "http";
    call.is_client_known = false;
    fixture.engine.submit(std::move(call));
    EXPECT_GT(answer.get_future().get().actions_size(), 0);
  }
}

TEST(RepeatedRequests, SentWhileTheFirstIsDecidedWaitForItsAnswer) {
  start_hanging();
  EngineOptions options;
  options.budget_ms = 300;
  EngineFixture fixture("test-hangs", options);
  std::promise<pb::DecideResponse> first, second;
  fixture.engine.submit(incoming(named("a"), first));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  fixture.engine.submit(incoming(named("a"), second));
  const std::string bytes = first.get_future().get().SerializeAsString();
  EXPECT_EQ(second.get_future().get().SerializeAsString(), bytes);
  EXPECT_EQ(fixture.seen, 1);
  stop_hanging();
}

TEST(RepeatedRequests, ARefusedRequestIsRefusedAgain) {
  EngineFixture fixture("las");
  pb::DecideRequest twice = named("a");
  *twice.add_jobs() = twice.jobs(0);
  const std::string why = refusal(fixture.engine, twice);
  EXPECT_NE(why, "");
  EXPECT_EQ(refusal(fixture.engine, twice), why);
  // Nothing is kept of it, so that its id can be used for the corrected request.
  EXPECT_EQ(refusal(fixture.engine, named("a")), "");
}

TEST(AnswerStore, IsBoundedInNumberBytesAndTime) {
  using Match = AnswerStore::Match;
  const auto now = AnswerStore::Clock::now();
  const auto answer = [](size_t bytes) {
    auto out = std::make_shared<pb::DecideResponse>();
    out->set_detail(std::string(bytes, 'x'));
    return out;
  };
  AnswerStore store({.max_answers = 2, .max_bytes = 1000, .lifetime = std::chrono::seconds(5)});
  const auto begin = [&](const std::string& key, AnswerStore::Clock::time_point at) {
    return store.find_or_begin(key, "content", at, nullptr).match;
  };
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(begin(key, now), Match::kNone);
    store.keep(key, answer(10), now);
  }
  EXPECT_EQ(store.count(), 2u);
  EXPECT_EQ(begin("c", now), Match::kAnswered);
  EXPECT_EQ(begin("b", now), Match::kAnswered);
  EXPECT_EQ(begin("a", now), Match::kNone) << "the oldest went first";
  store.keep("a", answer(900), now);
  EXPECT_EQ(begin("a", now), Match::kAnswered);
  EXPECT_LE(store.count(), 2u);
  EXPECT_EQ(begin("a", now + std::chrono::seconds(6)), Match::kNone) << "it has expired";
  EXPECT_EQ(store.count(), 1u);
}

TEST(Register, LimitsThePlansOfItsCluster) {
  EngineFixture fixture("las");
  pb::RegisterRequest manager;
  manager.set_cluster("lab");
  manager.add_verbs(pb::START);
  const pb::RegisterResponse first = fixture.engine.add_registration(manager);
  EXPECT_GT(first.epoch(), 0u);
  EXPECT_GT(first.max_jobs(), 0u);
  EXPECT_EQ(ask_engine(fixture.engine, named("")).actions_size(), 0) << "it cannot preempt";
  EXPECT_EQ(ask_engine(fixture.engine, named("", "hall")).actions_size(), 2);

  pb::DecideRequest request = named("");
  request.set_epoch(first.epoch());
  EXPECT_EQ(refusal(fixture.engine, request), "");
  const pb::RegisterResponse second = fixture.engine.add_registration(manager);
  EXPECT_GT(second.epoch(), first.epoch());
  EXPECT_EQ(refusal(fixture.engine, request),
            "epoch " + std::to_string(first.epoch()) +
                " is not that of the cluster's last registration: call Register again");
}

TEST(Register, OneJobAtATime) {
  EngineFixture fixture("fifo");
  pb::RegisterRequest manager;
  manager.set_cluster("pods");
  manager.set_granularity(pb::RegisterRequest::ONE_JOB);
  fixture.engine.add_registration(manager);
  pb::DecideRequest request = cluster_of(2);
  request.set_cluster("pods");
  for (const char* id : {"a", "b", "c"}) add_waiting(request, id, 4);
  const pb::DecideResponse answer = ask_engine(fixture.engine, request);
  EXPECT_EQ(answer.source(), pb::POLICY) << answer.detail();
  ASSERT_EQ(answer.actions_size(), 1);
  EXPECT_EQ(answer.actions(0).job(), "a");
  request.set_cluster("lab");
  EXPECT_EQ(ask_engine(fixture.engine, request).actions_size(), 3);
}

TEST(Register, RefusesWhatMakesNoSense) {
  EngineFixture fixture("las");
  const auto why = [&](const pb::RegisterRequest& request) -> std::string {
    try {
      fixture.engine.add_registration(request);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  pb::RegisterRequest request;
  EXPECT_EQ(why(request),
            "cluster: expected the name that the manager's requests will carry, got "
            "none");
  request.set_cluster("lab");
  request.add_verbs(pb::PREEMPT);
  EXPECT_EQ(why(request), "verbs: expected START in the list, got only PREEMPT");
  request.set_verbs(0, static_cast<pb::Verb>(7));
  EXPECT_EQ(why(request), "verbs: expected START or PREEMPT, got 7");
}

// A plan for several jobs, of which one may be started, keeps only the preemptions that it needs.
TEST(MaxStarts, KeepsThePreemptionsThatMakeRoom) {
  pb::DecideRequest request = cluster_of(3);
  add_running(request, "x", 8, "n0");
  add_running(request, "y", 8, "n1");
  for (const char* id : {"a", "b", "c"}) add_waiting(request, id, 8);
  pb::DecideResponse plan;
  const auto act = [&](pb::Verb verb, const char* job, const char* node) {
    pb::Action& action = *plan.add_actions();
    action.set_verb(verb);
    action.set_job(job);
    if (verb == pb::PREEMPT) return;
    action.add_pieces()->set_node(node);
    action.mutable_pieces(0)->set_gpus(8);
  };
  act(pb::PREEMPT, "x", "");
  act(pb::PREEMPT, "y", "");
  act(pb::START, "a", "n1");
  act(pb::START, "b", "n0");
  act(pb::START, "c", "n2");
  ASSERT_EQ(flaw_of_decision(request, plan), "");
  request.set_max_starts(1);
  EXPECT_EQ(flaw_of_decision(request, plan), "it starts 3 jobs, of at most 1");
  pb::DecideResponse one = plan;
  keep_first_starts(request, {}, one);
  EXPECT_EQ(lines_of(one), "PREEMPT y\nSTART a n1x8\n");
  EXPECT_EQ(flaw_of_decision(request, one), "");
  // The first start needs no preemption.
  pb::DecideResponse other = plan;
  other.mutable_actions()->SwapElements(2, 4);
  keep_first_starts(request, {}, other);
  EXPECT_EQ(lines_of(other), "START c n2x8\n");
  request.set_max_starts(0);
  keep_first_starts(request, {}, plan);
  EXPECT_EQ(plan.actions_size(), 0);
}

}  // namespace
}  // namespace yard::testing
