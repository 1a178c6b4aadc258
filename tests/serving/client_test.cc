// Checks the client library: it passes on a good answer of the server, and otherwise decides by
// itself in time.
#include "serving/net/client.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "env/base/core/error.h"
#include "serving/net/server.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/utf8.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

using std::chrono::milliseconds;

// A server with a fixed answer, or with none.
class FakeServer final : public pb::PolicyService::CallbackService {
 public:
  explicit FakeServer(pb::DecideResponse answer, bool silent = false)
      : answer_(std::move(answer)), silent_(silent) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::ServerUnaryReactor* Decide(grpc::CallbackServerContext* context, const pb::DecideRequest*,
                                   pb::DecideResponse* out) override {
    // Gives no answer until the caller cancels.
    class Silence final : public grpc::ServerUnaryReactor {
      void OnCancel() override { Finish(grpc::Status::CANCELLED); }
      void OnDone() override { delete this; }
    };
    if (silent_) return new Silence;
    *out = answer_;
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  const pb::DecideResponse answer_;
  const bool silent_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// A server that takes its time.
ServerOptions patient(const std::string& policy) {
  ServerOptions out;
  out.listen = "127.0.0.1:0";
  out.policy = policy;
  out.engine.budget_ms = 20'000;
  return out;
}

void expect_own(const pb::DecideResponse& answer, pb::Reason reason) {
  EXPECT_EQ(pb::Source_Name(answer.source()), "CLIENT_HEURISTIC");
  EXPECT_EQ(pb::Reason_Name(answer.reason()), pb::Reason_Name(reason)) << answer.detail();
  EXPECT_EQ(lines_of(answer), "PREEMPT long\nSTART fresh n0x8\n");
  EXPECT_EQ(answer.decided_by(), "las");
}

// A listening port that never answers. A gRPC server would not do: in this process it would share
// its threads with the client.
class SilentPort {
 public:
  SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    const bool listens = ::bind(socket_, address, size) == 0 && ::listen(socket_, 64) == 0 &&
                         ::getsockname(socket_, address, &size) == 0;
    EXPECT_TRUE(listens);
    port_ = ntohs(at.sin_port);
  }
  ~SilentPort() { ::close(socket_); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

// gRPC's thread releases a call and its channel only after the answer. If it held the last
// reference to the channel, it would destroy itself.
TEST(Client, MayBeDestroyedRightAfterAnAnswer) {
  const SilentPort silent_port;
  const pb::DecideRequest request = full_cluster();
  for (int i = 0; i < 50; ++i) {
    Client client({.to = {.servers = {silent_port.address()}}});
    expect_own(client.decide(request, milliseconds(20)), pb::DEADLINE);
  }
}

TEST(Client, ReturnsTheServersAnswer) {
  const Server server(patient("greedy"));
  Client client({.to = {.servers = {server.address()}}});
  const pb::DecideResponse answer = client.decide(full_cluster(), milliseconds(20'000));
  EXPECT_EQ(answer.source(), pb::POLICY);
  EXPECT_EQ(answer.actions_size(), 0);
}

TEST(Client, FallsBackIfTheServerIsGone) {
  std::string address;
  {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.policy = "greedy";
    const Server server(options);
    address = server.address();
    Client client({.to = {.servers = {address}}});
    EXPECT_EQ(client.decide(full_cluster(), milliseconds(20'000)).source(), pb::POLICY);
  }
  Client client({.to = {.servers = {address}}});
  expect_own(client.decide(full_cluster(), milliseconds(20'000)), pb::UNAVAILABLE);
}

TEST(Client, FallsBackIfTheServerIsSilent) {
  const FakeServer silent({}, true);
  Client client({.to = {.servers = {silent.address()}}});
  expect_own(client.decide(full_cluster(), milliseconds(50)), pb::DEADLINE);
}

TEST(Client, RejectsIllegalAnswers) {
  pb::DecideResponse wrong;
  wrong.set_source(pb::POLICY);
  pb::Action& action = *wrong.add_actions();
  action.set_job("fresh");
  action.set_verb(pb::START);
  pb::Piece& piece = *action.add_pieces();
  piece.set_node("n0");
  piece.set_gpus(8);
  const FakeServer fake_server(wrong);
  Client client({.to = {.servers = {fake_server.address()}}});
  expect_own(client.decide(full_cluster(), milliseconds(20'000)), pb::INVALID_ACTION);
}

// With a policy that hangs and 5 ms in all, each call gets a legal answer with its reason. How many
// of them the server answers in time depends on the machine and is not checked.
TEST(Client, AnswersWithinFiveMillisecondsDespiteAHangingPolicy) {
  start_hanging();
  ServerOptions options;
  options.listen = "127.0.0.1:0";
  options.policy = "test-hangs";
  auto server = std::make_unique<Server>(options);
  Client client({.to = {.servers = {server->address()}}});
  std::map<std::string, int> how;
  for (int i = 0; i < 300; ++i) {
    const pb::DecideResponse answer = client.decide(full_cluster(), milliseconds(5));
    EXPECT_EQ(flaw_of_decision(full_cluster(), answer), "");
    EXPECT_NE(answer.source(), pb::POLICY);
    EXPECT_NE(answer.reason(), pb::NONE);
    ++how[pb::Source_Name(answer.source()) + " " + pb::Reason_Name(answer.reason())];
  }
  for (const auto& [kind, count] : how) std::printf("%s: %d\n", kind.c_str(), count);
  server.reset();
  stop_hanging();
}

TEST(Client, RejectsWhatTheServerWouldReject) {
  Client client({.to = {.servers = {"127.0.0.1:1"}}});
  EXPECT_THROW(client.decide(pb::DecideRequest(), milliseconds(1000)), InputError);
  EXPECT_THROW(Client({.to = {.servers = {"nowhere"}}}), InputError);
  EXPECT_THROW(Client({.to = {.servers = {"127.0.0.1:1"}}, .fallback = "srtf"}), InputError);
}

TEST(Client, ReportsAFailedFallback) {
  Client client({.to = {.servers = {"127.0.0.1:1"}}, .fallback = "test-throws"});
  const pb::DecideResponse answer = client.decide(full_cluster(), milliseconds(5000));
  EXPECT_EQ(answer.source(), pb::CLIENT_HEURISTIC);
  EXPECT_EQ(answer.actions_size(), 0);
  EXPECT_NE(answer.detail().find("out of ideas"), std::string::npos);
}

TEST(Client, NamesNeedNotBeUtf8) {
  const Server server(patient("las"));
  Client client({.to = {.servers = {server.address()}}});
  pb::DecideRequest request = full_cluster();
  const std::string latin = "caf\xe9", node = "n\xff";
  request.mutable_nodes(0)->set_name(node);
  request.mutable_jobs(0)->mutable_placement(0)->set_node(node);
  request.mutable_jobs(1)->set_id(latin);
  request.mutable_jobs(1)->set_user("J\xf6rg");
  const pb::DecideResponse answer = client.decide(request, milliseconds(20'000));
  EXPECT_EQ(answer.source(), pb::POLICY) << answer.detail();
  EXPECT_EQ(lines_of(answer), "PREEMPT long\nSTART " + latin + " " + node + "x8\n");
}

TEST(Utf8, EscapesWhatIsNone) {
  EXPECT_EQ(escaped_as_utf8("caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"),
            "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80");
  for (const auto& [bytes, text] : std::map<std::string, std::string>{
           {"\xff", "\\xff"},
           {"a\xe9", "a\\xe9"},
           {"\xc3\x28", "\\xc3("},
           {"\xc0\xaf", "\\xc0\\xaf"},                       // longer than needed
           {"\xed\xa0\x80", "\\xed\\xa0\\x80"},              // half a surrogate pair
           {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}}) {  // beyond U+10FFFF
    EXPECT_EQ(escaped_as_utf8(bytes), text);
  }
}

}  // namespace
}  // namespace yard::testing
