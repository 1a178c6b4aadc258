// Explanations: what a policy chose from, and why jobs wait.
#include "serving/explain/explain.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cmath>

#include "env/base/core/error.h"
#include "policies/learned/open_policy.h"
#include "serving/explain/why_waiting.h"
#include "serving/log/log_reader.h"
#include "serving/net/server.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

std::string why(const pb::ExplainResponse& explained, const std::string& job) {
  for (const pb::WhyWaiting& one : explained.waiting()) {
    if (one.job() == job) return one.why();
  }
  return "";
}

TEST(Explain, ShowsScoresAndFeaturesOfANetwork) {
  const TempFolder temp;
  write_checkpoint(temp.path() / "d", 3);
  const auto opened = open_policy("checkpoint:" + (temp.path() / "d").string(), {});
  pb::DecideRequest request = cluster_of(1);
  add_waiting(request, "a", 2);
  add_waiting(request, "b", 8);
  const pb::ExplainResponse out = explain(*opened.policy, request, nullptr, "");
  ASSERT_GT(out.steps_size(), 0);
  const pb::ExplainedStep& first = out.steps(0);
  ASSERT_GT(first.options_size(), 1);
  double sum = 0;
  bool has_features = false;
  for (const pb::ExplainedOption& option : first.options()) {
    sum += option.probability();
    has_features |= option.features().contains("gpus");
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_TRUE(has_features);
  EXPECT_EQ(out.detail(), "");
  // The same decision as the answer's: explained. Another one: said so.
  EXPECT_EQ(explain(*opened.policy, request, &out.decision(), "").steps_size(), out.steps_size());
  pb::DecideResponse other = out.decision();
  other.add_actions()->set_job("b");
  const pb::ExplainResponse unlike = explain(*opened.policy, request, &other, "");
  EXPECT_EQ(unlike.steps_size(), 0);
  EXPECT_NE(unlike.detail(), "");
}

TEST(Explain, SaysWhyJobsWait) {
  const auto fifo = open_policy("fifo", {});
  pb::DecideRequest request = cluster_of(2);
  add_running(request, "r", 6, "n0");
  add_running(request, "s", 6, "n1");
  add_waiting(request, "two-nodes", 4);
  add_waiting(request, "large", 9);
  add_waiting(request, "huge", 40);
  pb::Job& later = add_waiting(request, "later", 1);
  later.add_after("r");
  pb::Job& whole = add_waiting(request, "whole", 3);
  whole.add_groups()->set_count(1);
  whole.mutable_groups(0)->mutable_task()->set_gpus(3);
  pb::DecideResponse nothing;
  const auto of = [&](const std::string& id) {
    for (const pb::Job& job : request.jobs()) {
      if (job.id() == id) return why_waiting(job, request, nothing)->why();
    }
    return std::string();
  };
  EXPECT_EQ(of("two-nodes"),
            "enough GPUs are free: the decider keeps them for other jobs, or waits");
  EXPECT_EQ(of("large"), "it needs 9 GPUs, and 4 are free on nodes that it may use");
  EXPECT_EQ(of("huge"), "it needs 40 GPUs, and the nodes that it may use have 16");
  EXPECT_EQ(of("later"), "it waits for job 'r'");
  EXPECT_EQ(of("whole"), "one of its tasks needs 3 GPUs of one node, and no node has as many");
  const pb::ExplainResponse out = explain(*fifo.policy, request, nullptr, "large");
  EXPECT_EQ(out.waiting_size(), 1);
  EXPECT_NE(why(out, "large"), "");
  EXPECT_EQ(out.detail(), "a rule decided: it scores no options");
  EXPECT_THROW(explain(*fifo.policy, request, nullptr, "none"), InputError);
}

// Three nodes of 8 GPUs with 7, 6 and 7 in use, and a job of 4.
TEST(Explain, NamesTheMovesThatWouldMakeRoom) {
  pb::DecideRequest request = cluster_of(3);
  add_running(request, "a", 7, "n0");
  add_running(request, "b", 4, "n1");
  add_running(request, "c", 2, "n1");
  add_running(request, "d", 6, "n2");
  add_running(request, "e", 1, "n2");
  pb::Job& job = add_waiting(request, "four", 4);
  const auto moves = [&] {
    std::string out;
    const auto waits = why_waiting(job, request, {});
    for (const pb::Move& one : waits->moves()) {
      out += one.job() + " " + one.from(0).node() + ">" + one.to(0).node() + "; ";
    }
    return out;
  };
  // Two GPUs of n1 must go to n2, which has room once its smallest job has gone to n0.
  EXPECT_EQ(moves(), "c n1>n2; e n2>n0; ");
  request.mutable_jobs(2)->set_gpus(1);
  request.mutable_jobs(2)->mutable_placement(0)->set_gpus(1);
  EXPECT_EQ(moves(), "c n1>n0; ");
  for (pb::Job& one : *request.mutable_jobs()) one.set_pinned(one.id() != "four");
  EXPECT_EQ(moves(), "");
}

// The calls over the wire.
struct Wire {
  explicit Wire(const std::string& log = "") {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.policy = "las";
    options.log.folder = log;
    server = std::make_unique<Server>(options);
    stub = pb::PolicyService::NewStub(
        grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  }
  std::unique_ptr<Server> server;
  std::unique_ptr<pb::PolicyService::Stub> stub;
};

TEST(Explain, AnswersForRecentDecisions) {
  const Wire wire;
  grpc::ClientContext decide, known, unknown, neither;
  pb::DecideResponse answer;
  ASSERT_TRUE(wire.stub->Decide(&decide, full_cluster(), &answer).ok());
  pb::ExplainRequest request;
  pb::ExplainResponse out;
  request.set_decision_id(answer.decision_id());
  ASSERT_TRUE(wire.stub->Explain(&known, request, &out).ok());
  EXPECT_EQ(out.decision().decision_id(), answer.decision_id());
  EXPECT_EQ(lines_of(out.decision()), lines_of(answer));
  request.set_decision_id("no-such-decision");
  const grpc::Status lost = wire.stub->Explain(&unknown, request, &out);
  EXPECT_EQ(lost.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(lost.error_message(), "no decision 'no-such-decision' among the last 256");
  const grpc::Status empty = wire.stub->Explain(&neither, {}, &out);
  EXPECT_EQ(empty.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(Register, OverTheWire) {
  const Wire wire;
  grpc::ClientContext good, bad, stale;
  pb::RegisterRequest request;
  pb::RegisterResponse out;
  EXPECT_EQ(wire.stub->Register(&bad, request, &out).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.set_cluster("lab");
  ASSERT_TRUE(wire.stub->Register(&good, request, &out).ok());
  EXPECT_EQ(out.max_bytes(), 16u << 20);
  pb::DecideRequest decide = full_cluster();
  decide.set_cluster("lab");
  decide.set_epoch(out.epoch() + 1);
  pb::DecideResponse answer;
  EXPECT_EQ(wire.stub->Decide(&stale, decide, &answer).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST(ReportOutcome, IsLoggedAndOddRecordsAreNamed) {
  const TempFolder temp;
  const std::string log = (temp.path() / "log").string();
  {
    const Wire wire(log);
    grpc::ClientContext context;
    pb::ReportOutcomeRequest request;
    request.set_cluster("lab");
    pb::Outcome& good = *request.add_outcomes();
    good.set_job("a");
    good.set_end(pb::Outcome::COMPLETED);
    good.set_run_s(5);
    request.add_outcomes()->set_job("no-end");
    pb::Outcome& odd = *request.add_outcomes();
    odd.set_job("nan");
    odd.set_end(pb::Outcome::FAILED);
    odd.set_run_s(std::nan(""));
    pb::ReportOutcomeResponse out;
    ASSERT_TRUE(wire.stub->ReportOutcome(&context, request, &out).ok());
    EXPECT_EQ(out.accepted(), 1u);
    ASSERT_EQ(out.quarantined_size(), 2);
    EXPECT_EQ(out.quarantined(0).why(), "it does not say how the job ended");
    EXPECT_EQ(out.quarantined(1).why(), "a time is negative or not finite");
    wire.server->shut_down_gracefully();
  }
  LogReader reader(log);
  int reported = 0;
  for (const pb::LogRecord& record : reader) {
    ASSERT_TRUE(record.has_reported());
    EXPECT_EQ(record.reported().cluster(), "lab");
    EXPECT_EQ(record.reported().outcome().job(), "a");
    ++reported;
  }
  EXPECT_EQ(reported, 1);
}

}  // namespace
}  // namespace yard::testing
