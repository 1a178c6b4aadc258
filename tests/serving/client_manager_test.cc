// The client library registers the manager of a cluster and reports how jobs ended.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "serving/engine/registrations.h"
#include "serving/log/log_reader.h"
#include "serving/net/client.h"
#include "serving/net/outcome_queue.h"
#include "serving/net/server.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

constexpr std::chrono::seconds kPatience{20};

class ClientManager : public ::testing::Test {
 protected:
  std::unique_ptr<Server> serve() const {
    ServerOptions out;
    out.listen = address();
    out.policy = "las";
    out.engine.budget_ms = 20'000;
    out.grace_s = 0;
    out.log.folder = (temp_.path() / "log").string();
    return std::make_unique<Server>(out);
  }
  std::string address() const { return "unix:" + (temp_.path() / "socket").string(); }

  ClientOptions options() {
    return {.to = {.servers = {address()}},
            .on_registered = [this](const std::string&, const pb::RegisterResponse& answer) {
              epochs_.push_back(answer.epoch());
            }};
  }

  static pb::RegisterRequest manager(std::optional<uint64_t> term = {}) {
    pb::RegisterRequest out;
    out.set_cluster("lab");
    out.add_verbs(pb::START);
    if (term) out.set_term(*term);
    return out;
  }

  static pb::DecideRequest request() {
    pb::DecideRequest out = full_cluster();
    out.set_cluster("lab");
    return out;
  }

  std::vector<pb::ReportedOutcome> logged() const {
    std::vector<pb::ReportedOutcome> out;
    LogReader log((temp_.path() / "log").string());
    for (const pb::LogRecord& record : log) {
      if (record.has_reported()) out.push_back(record.reported());
    }
    return out;
  }

  TempFolder temp_;
  std::vector<uint64_t> epochs_;
};

pb::Outcome completed(const std::string& job) {
  pb::Outcome out;
  out.set_job(job);
  out.set_end(pb::Outcome::COMPLETED);
  out.set_run_s(5);
  return out;
}

TEST_F(ClientManager, PlansUseOnlyWhatTheManagerCanCarryOut) {
  const auto server = serve();
  Client client(options());
  EXPECT_EQ(client.decide(request(), kPatience).actions_size(), 2) << "it may preempt";
  client.set_manager(manager());
  for (int i = 0; i < 3; ++i) {
    const pb::DecideResponse answer = client.decide(request(), kPatience);
    EXPECT_EQ(answer.source(), pb::POLICY) << answer.detail();
    EXPECT_EQ(answer.actions_size(), 0);
    client.set_manager(manager());  // as before: nothing to tell
  }
  EXPECT_EQ(epochs_.size(), 1u);
  pb::RegisterRequest preempts = manager();
  preempts.add_verbs(pb::PREEMPT);
  client.set_manager(preempts);
  EXPECT_EQ(client.decide(request(), kPatience).actions_size(), 2);
  EXPECT_EQ(epochs_.size(), 2u);
}

TEST_F(ClientManager, RegistersAgainWithAServerThatRestarted) {
  auto server = serve();
  Client client(options());
  client.set_manager(manager(3));
  EXPECT_EQ(client.decide(request(), kPatience).source(), pb::POLICY);
  server.reset();
  server = serve();
  const pb::DecideResponse answer = client.decide(request(), kPatience);
  EXPECT_EQ(answer.source(), pb::POLICY) << answer.detail();
  EXPECT_EQ(answer.actions_size(), 0);
  ASSERT_EQ(epochs_.size(), 2u);
  EXPECT_GT(epochs_[1], epochs_[0]);
}

TEST_F(ClientManager, AManagerOfAHigherTermDeposesTheOther) {
  const auto server = serve();
  Client first(options()), second(options());
  first.set_manager(manager(1));
  EXPECT_EQ(first.decide(request(), kPatience).source(), pb::POLICY);
  second.set_manager(manager(2));
  EXPECT_EQ(second.decide(request(), kPatience).source(), pb::POLICY);
  for (int i = 0; i < 2; ++i) EXPECT_THROW(first.decide(request(), kPatience), Deposed);
  EXPECT_EQ(second.decide(request(), kPatience).source(), pb::POLICY);
  first.set_manager(manager(3));
  EXPECT_EQ(first.decide(request(), kPatience).source(), pb::POLICY);
  EXPECT_THROW(second.decide(request(), kPatience), Deposed);
}

TEST(Registrations, ASilentManagersTermExpires) {
  Registrations all(10, 100);
  const auto now = Registrations::Clock::now();
  pb::RegisterRequest request;
  request.set_cluster("lab");
  request.set_term(7);
  pb::DecideRequest decide;
  decide.set_cluster("lab");
  decide.set_epoch(all.add(request, now));
  all.restrict_to_capabilities(decide, now + std::chrono::minutes(8));
  request.set_term(1);
  EXPECT_THROW(all.add(request, now + std::chrono::minutes(17)), StaleRegistration);
  EXPECT_GT(all.add(request, now + std::chrono::minutes(19)), decide.epoch());
}

TEST(Registrations, AManagerWithoutATermDoesNotEndTheTermOfAnother) {
  Registrations all(10, 100);
  const auto now = Registrations::Clock::now();
  pb::RegisterRequest request;
  request.set_cluster("lab");
  request.set_term(7);
  all.add(request, now);
  request.clear_term();
  all.add(request, now + std::chrono::minutes(1));
  request.set_term(6);
  EXPECT_THROW(all.add(request, now + std::chrono::minutes(2)), StaleRegistration);
}

TEST_F(ClientManager, OutcomesWaitForAServer) {
  Client client(options());
  client.report("lab", completed("a"));
  pb::Outcome odd = completed("odd");
  odd.set_run_s(-1);
  client.report("lab", odd);
  client.report("hall", completed("caf\xe9"));
  EXPECT_FALSE(client.send_outcomes(std::chrono::milliseconds(300))) << "there is no server";
  EXPECT_EQ(client.counts().outcomes_waiting, 3u);
  {
    const auto server = serve();
    while (!client.send_outcomes(std::chrono::milliseconds(100))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    server->shut_down_gracefully();
  }
  const ClientCounts counts = client.counts();
  EXPECT_EQ(counts.outcomes_accepted, 2u);
  EXPECT_EQ(counts.outcomes_refused, 1u);
  EXPECT_EQ(counts.outcomes_waiting, 0u);
  const auto reported = logged();
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_EQ(reported[0].cluster(), "lab");
  EXPECT_EQ(reported[0].outcome().job(), "a");
  EXPECT_EQ(reported[1].cluster(), "hall");
  EXPECT_EQ(reported[1].outcome().job(), "caf\\xe9");
}

TEST_F(ClientManager, MayBeDestroyedWithOutcomesUnderWay) {
  for (int i = 0; i < 20; ++i) {
    Client client({.to = {.servers = {"192.0.2.1:1"}}});
    client.report("lab", completed("a"));
    EXPECT_FALSE(client.send_outcomes(std::chrono::milliseconds(1)));
  }
}

TEST(OutcomeQueue, IsBoundedAndSendsAgain) {
  OutcomeQueue queue(4);
  for (const char* job : {"a", "b", "c"}) queue.add("lab", completed(job));
  queue.add("hall", completed("d"));
  const auto batch = queue.begin_batch();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->cluster(), "lab");
  EXPECT_EQ(batch->outcomes_size(), 3);
  EXPECT_FALSE(queue.begin_batch().has_value()) << "one batch at a time";
  queue.add("lab", completed("e"));
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_EQ(queue.dropped(), 1u) << "d: what is under way stays";
  queue.end_batch(false);
  for (const char* job : {"f", "g"}) queue.add("lab", completed(job));
  const auto again = queue.begin_batch();
  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(again->outcomes_size(), 4);
  EXPECT_EQ(again->outcomes(0).job(), "c");
  EXPECT_EQ(again->outcomes(3).job(), "g");
  queue.end_batch(true);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.dropped(), 3u);
}

}  // namespace
}  // namespace yard::testing
