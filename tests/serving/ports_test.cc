// The ports of a running server against callers that are slow, silent, huge or too many.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "serving/net/http_server.h"
#include "serving/snapshot/json.h"
#include "tests/serving/child.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/peer.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

using std::chrono::milliseconds;

// Returns the status of a GET on a fresh connection; 0: no answer in 5 s.
int get(const std::string& address, const std::string& path) {
  const Peer peer(address);
  peer.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = peer.read("\r\n\r\n", milliseconds(5'000));
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

grpc::StatusCode decide(const std::string& address, milliseconds deadline) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto stub = pb::PolicyService::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), own));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  pb::DecideResponse answer;
  return stub->Decide(&context, full_cluster(), &answer).error_code();
}

class Ports : public ::testing::Test {
 protected:
  // Starts a server with all its ports, and at most `descriptors` descriptors; 0: as many as here.
  Child serve(int descriptors = 0) const {
    return {temp_.path(),
            {"serve", "--policy", "las", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--probes", "127.0.0.1:0", "--grace", "0", "--json", "--max-message-mib", "4"},
            [descriptors] {
              const auto most = static_cast<rlim_t>(descriptors);
              const rlimit limit = {most, most};
              if (descriptors > 0) setrlimit(RLIMIT_NOFILE, &limit);
            }};
  }

  TempFolder temp_;
};

TEST_F(Ports, SurviveMoreConnectionsThanDescriptors) {
  Child server = serve(128);
  const nlohmann::json at = server.addresses();
  const std::string grpc_at = at.at("grpc"), http_at = at.at("http"), probes_at = at.at("probes");
  ASSERT_EQ(decide(grpc_at, milliseconds(10'000)), grpc::StatusCode::OK);
  {
    std::vector<Peer> silent;
    for (int i = 0; i < 160; ++i) silent.emplace_back(grpc_at);
    for (int i = 0; i < 80; ++i) silent.emplace_back(http_at);
    EXPECT_EQ(get(probes_at, "/livez"), 200);
    EXPECT_EQ(get(http_at, "/livez"), 200) << "the connection that waits longest makes room";
    EXPECT_NE(decide(grpc_at, milliseconds(300)), grpc::StatusCode::OK);
  }
  // It recovers by itself; a port that is dead keeps the test here until it is ended.
  while (decide(grpc_at, milliseconds(1'000)) != grpc::StatusCode::OK) {
  }
  EXPECT_EQ(get(probes_at, "/metrics"), 200);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(Ports, SlowCallersDelayNeitherProbesNorTheEnd) {
  Child server = serve();
  const nlohmann::json at = server.addresses();
  const std::string http_at = at.at("http");
  std::vector<Peer> slow;
  for (int i = 0; i < 24; ++i) {
    slow.emplace_back(http_at);
    slow.back().send(i % 2 == 0 ? "GET /metr"
                                : "POST /v1/decide HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{");
  }
  EXPECT_EQ(get(http_at, "/livez"), 200);
  EXPECT_EQ(get(http_at, "/metrics"), 200);
  for (const Peer& peer : slow) EXPECT_TRUE(peer.is_open()) << "answered before they were cut";
  // A stream which waits for its next request.
  const auto stub = pb::PolicyService::NewStub(
      grpc::CreateChannel(at.at("grpc"), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->DecideStream(&context);
  pb::DecideResponse answer;
  ASSERT_TRUE(stream->Write(full_cluster()));
  ASSERT_TRUE(stream->Read(&answer));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
  EXPECT_FALSE(stream->Read(&answer));
  stream->Finish();
}

// With limits of an hour, what ends the server is not that they pass.
TEST(HttpServer, EndsBesideSlowCallers) {
  HttpLimits limits;
  limits.first_byte = limits.idle = limits.head = limits.body = limits.write =
      std::chrono::hours(1);
  HttpServer server({.option = "test", .address = "127.0.0.1:0", .limits = limits},
                    [](HttpRequest&&, HttpServer::Reply&& reply) { reply({}); });
  std::vector<Peer> slow;
  for (const char* text : {"", "GET /x", "POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"}) {
    slow.emplace_back(server.address());
    slow.back().send(text);
  }
  EXPECT_EQ(get(server.address(), "/x"), 200);
  for (const Peer& peer : slow) EXPECT_TRUE(peer.is_open());
  server.stop(milliseconds(100));
}

TEST_F(Ports, HugeRequestsAreCutOff) {
  Child server = serve();
  const std::string at = server.addresses().at("http");
  {
    const Peer peer(at);
    peer.send("POST /v1/decide HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
    for (int sent = 0; sent < 4'096 && peer.send(chunk); ++sent) {
    }
    EXPECT_TRUE(peer.read("\r\n", milliseconds(5'000)).starts_with("HTTP/1.1 413"));
  }
  {
    const Peer peer(at);
    peer.send("GET /livez HTTP/1.1\r\n");
    const std::string line = "X-Filler: " + std::string(1'000, 'x') + "\r\n";
    for (int sent = 0; sent < 10'000 && peer.send(line); ++sent) {
    }
    EXPECT_TRUE(peer.read("\r\n", milliseconds(5'000)).starts_with("HTTP/1.1 431"));
  }
  {
    const Peer peer(at);
    peer.send("\x16\x03\x01 this is no HTTP\r\n\r\n");
    EXPECT_TRUE(peer.read("\r\n", milliseconds(5'000)).starts_with("HTTP/1.1 400"));
  }
  EXPECT_EQ(get(at, "/livez"), 200);
}

// As curl does with a body above 1 KiB.
TEST_F(Ports, BodiesAreAskedForIfTheCallerWaits) {
  Child server = serve();
  const Peer peer(server.addresses().at("http"));
  pb::DecideRequest request = full_cluster();
  request.mutable_jobs(0)->set_name(std::string(20'000, 'n'));
  const std::string body = to_json(request);
  for (int turn = 0; turn < 20; ++turn) {  // on one connection
    peer.send("POST /v1/decide HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
    ASSERT_TRUE(peer.read("\r\n\r\n", milliseconds(5'000)).starts_with("HTTP/1.1 100"));
    peer.send(body);
    const std::string answer = peer.read("\n}\n", milliseconds(5'000));
    ASSERT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  }
}

TEST_F(Ports, MethodsAndUnknownPaths) {
  Child server = serve();
  const nlohmann::json at = server.addresses();
  EXPECT_EQ(get(at.at("http"), "/nothing"), 404);
  EXPECT_EQ(get(at.at("http"), "/v1/decide"), 405);
  EXPECT_EQ(get(at.at("probes"), "/v1/decide"), 404) << "decisions are not for that port";
  EXPECT_EQ(get(at.at("probes"), "/readyz?verbose"), 200);
  const Peer peer(at.at("probes"));
  peer.send("DELETE /livez HTTP/1.1\r\n\r\n");
  EXPECT_NE(peer.read("\r\n\r\n", milliseconds(5'000)).find("Allow: GET, HEAD"), std::string::npos);
}

TEST_F(Ports, UnixSocketsServeAndAreTakenOver) {
  const std::string path = "unix:" + (temp_.path() / "yard.sock").string();
  const auto start = [&] {
    return Child(temp_.path(),
                 {"serve", "--policy", "las", "--listen", path, "--grace", "0", "--json"});
  };
  Child first = start();
  EXPECT_EQ(first.addresses().at("grpc"), path);
  EXPECT_EQ(decide(path, milliseconds(10'000)), grpc::StatusCode::OK);
  {
    Child second = start();
    EXPECT_EQ(second.wait(), 2);
    EXPECT_NE(second.err().find("in use"), std::string::npos) << second.err();
  }
  first.signal(SIGKILL);
  first.wait();
  Child third = start();  // the file of the killed server is no obstacle
  EXPECT_EQ(third.addresses().at("grpc"), path);
  EXPECT_EQ(decide(path, milliseconds(10'000)), grpc::StatusCode::OK);
  third.signal(SIGTERM);
  EXPECT_EQ(third.wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "yard.sock"));
}

}  // namespace
}  // namespace yard::testing
