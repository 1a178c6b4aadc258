// The client library sends what changed, and whole snapshots to servers that lack the state before.
// Servers see the same snapshots in either case.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "serving/log/log_reader.h"
#include "serving/net/bench_served.h"
#include "serving/net/client.h"
#include "serving/net/server.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

constexpr std::chrono::seconds kLong{20};

class ClientDeltas : public ::testing::Test {
 protected:
  std::string address(const std::string& name = "a") const {
    return "unix:" + (temp_.path() / name).string();
  }

  std::unique_ptr<Server> serve(const std::string& name = "a") const {
    ServerOptions out;
    out.listen = address(name);
    out.policy = "greedy";
    out.name = name;
    out.engine.budget_ms = 20'000;
    out.grace_s = 0;
    if (has_log_) out.log.folder = (temp_.path() / "log").string();
    return std::make_unique<Server>(out);
  }

  // The cluster a second later: one job has ended, one was submitted.
  pb::DecideRequest next() {
    now_.set_time_s(now_.time_s() + 1);
    for (pb::Job& job : *now_.mutable_jobs()) {
      if (job.state() == pb::RUNNING) job.set_attained_s(job.attained_s() + 1);
    }
    now_.mutable_jobs()->DeleteSubrange(now_.jobs_size() - 1, 1);
    add_waiting(now_, "new-" + std::to_string(steps_++), 4).set_submit_s(now_.time_s());
    return now_;
  }

  static pb::DecideRequest large_cluster() {
    pb::DecideRequest out = busy_cluster(16, 16);
    out.set_cluster("lab");
    return out;
  }

  void expect_policy(Client& client, const pb::DecideRequest& request) {
    const pb::DecideResponse answer = client.decide(request, kLong);
    EXPECT_EQ(answer.source(), pb::POLICY) << answer.DebugString();
    EXPECT_EQ(answer.reason(), pb::NONE) << answer.detail();
  }

  TempFolder temp_;
  bool has_log_ = false;
  pb::DecideRequest now_ = large_cluster();
  int steps_ = 0;
};

TEST_F(ClientDeltas, TheServerSeesTheSameSnapshots) {
  has_log_ = true;
  std::vector<pb::DecideRequest> sent;
  {
    const auto server = serve();
    Client client({.to = {.servers = {address()}}});
    size_t bytes = 0;
    for (int i = 0; i < 30; ++i) {
      sent.push_back(next());
      bytes += sent.back().ByteSizeLong();
      expect_policy(client, sent.back());
    }
    const ClientCounts counts = client.counts();
    EXPECT_EQ(counts.snapshots, 1u);
    EXPECT_EQ(counts.deltas, 29u);
    EXPECT_EQ(counts.resyncs, 0u);
    EXPECT_LT(counts.bytes * 5, bytes);
    server->shut_down_gracefully();
  }
  LogReader log((temp_.path() / "log").string());
  size_t i = 0;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision()) continue;
    pb::DecideRequest seen = record.decision().request();
    seen.clear_state_version();
    // What the server's limits on preemptions added.
    seen.clear_max_preempted_gpus();
    ASSERT_LT(i, sent.size());
    for (int j = 0; j < seen.jobs_size(); ++j) seen.mutable_jobs(j)->clear_pinned();
    EXPECT_EQ(seen.DebugString(), sent[i++].DebugString());
  }
  EXPECT_EQ(i, sent.size());
}

TEST_F(ClientDeltas, AServerThatRestartedGetsTheWholeSnapshot) {
  auto server = serve();
  Client client({.to = {.servers = {address()}}});
  expect_policy(client, next());
  expect_policy(client, next());
  server.reset();
  server = serve();
  expect_policy(client, next());
  EXPECT_EQ(client.counts().resyncs, 1u);
  EXPECT_EQ(client.counts().snapshots, 2u);
  expect_policy(client, next());
  EXPECT_EQ(client.counts().deltas, 3u);
}

TEST_F(ClientDeltas, AnotherServerGetsTheWholeSnapshot) {
  auto first = serve("a");
  const auto second = serve("b");
  Client client({.to = {.servers = {address("a"), address("b")}}});
  expect_policy(client, next());
  first.reset();
  EXPECT_EQ(client.decide(next(), kLong).model(), "b");
  EXPECT_EQ(client.counts().resyncs, 0u);
  const uint64_t deltas = client.counts().deltas;
  EXPECT_EQ(client.decide(next(), kLong).model(), "b");
  EXPECT_EQ(client.counts().deltas, deltas + 1);
}

// A server has the state of the client that asked last, which the versions tell apart.
TEST_F(ClientDeltas, TwoClientsOfOneClusterDoNotMixTheirStates) {
  const auto server = serve();
  Client one({.to = {.servers = {address()}}}), two({.to = {.servers = {address()}}});
  pb::DecideRequest other = cluster_of(2);
  other.set_cluster("lab");
  other.set_time_s(now_.time_s());
  add_waiting(other, "only-here", 4);
  expect_policy(one, next());
  EXPECT_EQ(lines_of(two.decide(other, kLong)), "START only-here n0x4\n");
  expect_policy(one, next());
  EXPECT_EQ(lines_of(two.decide(other, kLong)), "START only-here n0x4\n");
  EXPECT_EQ(one.counts().resyncs, 1u);
  EXPECT_EQ(two.counts().resyncs, 1u);
}

TEST_F(ClientDeltas, AServerThatForgotTheStateGetsTheWholeSnapshot) {
  ServerOptions options;
  options.listen = address();
  options.policy = "greedy";
  options.engine.budget_ms = 20'000;
  options.engine.max_states = 1;
  const Server server(options);
  Client client({.to = {.servers = {address()}}});
  expect_policy(client, next());
  pb::DecideRequest other = full_cluster();
  other.set_cluster("hall");
  client.decide(other, kLong);
  expect_policy(client, next());
  EXPECT_EQ(client.counts().resyncs, 1u);
}

TEST_F(ClientDeltas, SnapshotsAreSentWholeIfThatIsAskedFor) {
  const auto server = serve();
  Client client({.to = {.servers = {address()}}, .deltas = false});
  expect_policy(client, next());
  expect_policy(client, next());
  EXPECT_EQ(client.counts().snapshots, 2u);
  Client with({.to = {.servers = {address()}}});
  now_.clear_cluster();
  for (int i = 0; i < 2; ++i) expect_policy(with, next());
  EXPECT_EQ(with.counts().snapshots, 2u) << "the cluster has no name";
  now_.set_cluster("lab");
  now_.set_request_id("an-id");
  for (int i = 0; i < 2; ++i) expect_policy(with, now_);
  EXPECT_EQ(with.counts().snapshots, 4u) << "the same request gets the same answer";
}

TEST_F(ClientDeltas, WhatNoDeltaCanExpressIsSentWhole) {
  const auto server = serve();
  Client client({.to = {.servers = {address()}}});
  now_.mutable_costs()->set_save_s(5);
  expect_policy(client, next());
  now_.clear_costs();
  expect_policy(client, next());
  EXPECT_EQ(client.counts().snapshots, 2u);
  expect_policy(client, next());
  EXPECT_EQ(client.counts().deltas, 1u);
  EXPECT_EQ(client.counts().resyncs, 0u);
}

}  // namespace
}  // namespace yard::testing
