// Tokens on every port: right, wrong and missing.
#include <gtest/gtest.h>
#include <httplib.h>

#include "serving/net/server.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/peer.h"
#include "tests/serving/tls/secure_calls.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

using grpc::StatusCode;

const std::string kDecides = "decide-token-0123456789", kReads = "reader-token-0123456789",
                  kWrites = "writer-token-0123456789", kScrapes = "scrape-token-0123456789";

class AccessByToken : public ::testing::Test {
 protected:
  AccessByToken() {
    ServerOptions options;
    options.listen = options.http = options.probes = options.admin = "127.0.0.1:0";
    options.policy = "las";
    options.engine.budget_ms = 10'000;
    options.grace_s = 0;
    options.credentials = {
        .token_file = write_secret(temp_.path() / "decide", kDecides),
        .admin_token_file = write_secret(temp_.path() / "write", kWrites),
        .admin_read_token_file = write_secret(temp_.path() / "read", kReads),
        .metrics_token_file = write_secret(temp_.path() / "scrape", kScrapes),
    };
    server_ = std::make_unique<Server>(options);
  }

  TempFolder temp_;
  std::unique_ptr<Server> server_;
};

const std::vector<std::string> kAll = {"",       kDecides, kReads,        kWrites,
                                       kScrapes, "none",   kDecides + "x"};

TEST_F(AccessByToken, EachTokenOpensWhatItIsFor) {
  for (const std::string& token : kAll) {
    const Caller by = {.token = token};
    EXPECT_EQ(decide(server_->address(), by).error_code(),
              token == kDecides ? StatusCode::OK : StatusCode::UNAUTHENTICATED)
        << token;
    EXPECT_EQ(http_status(server_->http_address(), "/v1/decide", by), token == kDecides ? 200 : 401)
        << token;
    EXPECT_EQ(admin_status(server_->admin_address(), by).error_code(),
              token == kReads || token == kWrites ? StatusCode::OK : StatusCode::UNAUTHENTICATED)
        << token;
    EXPECT_EQ(admin_reload(server_->admin_address(), by).error_code(),
              token == kWrites  ? StatusCode::OK
              : token == kReads ? StatusCode::PERMISSION_DENIED
                                : StatusCode::UNAUTHENTICATED)
        << token;
    for (const std::string& address : {server_->http_address(), server_->probes_address()}) {
      EXPECT_EQ(http_status(address, "/metrics", by), token == kScrapes ? 200 : 401) << token;
      EXPECT_EQ(http_status(address, "/livez", by), 200) << "probes need no token";
      EXPECT_EQ(http_status(address, "/readyz", by), 200);
    }
  }
  const std::string metrics = http_body(server_->probes_address(), "/metrics", {.token = kScrapes});
  EXPECT_NE(metrics.find("yardmaster_unauthenticated_requests_total{port=\"grpc\"} 6\n"),
            std::string::npos)
      << metrics;
}

TEST_F(AccessByToken, StreamsNeedOne) {
  const auto stub = pb::PolicyService::NewStub(channel_to(server_->address(), {}));
  for (const std::string& token : kAll) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    const auto stream = stub->DecideStream(&context);
    pb::DecideResponse answer;
    stream->Write(full_cluster());
    EXPECT_EQ(stream->Read(&answer), token == kDecides) << token;
    stream->WritesDone();
    EXPECT_EQ(stream->Finish().error_code(),
              token == kDecides ? StatusCode::OK : StatusCode::UNAUTHENTICATED);
  }
  grpc::ClientContext twice;
  twice.AddMetadata("authorization", "Bearer " + kDecides);
  twice.AddMetadata("authorization", "Bearer " + kDecides);
  pb::DecideResponse answer;
  EXPECT_EQ(stub->Decide(&twice, full_cluster(), &answer).error_code(),
            StatusCode::UNAUTHENTICATED);
}

// A caller without a token must not make the server wait for, or keep, a large body.
TEST_F(AccessByToken, RefusalDoesNotWaitForTheBody) {
  const Peer peer(server_->http_address());
  peer.send("POST /v1/decide HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n{");
  const std::string answer = peer.read("\r\n\r\n", std::chrono::milliseconds(20'000));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401")) << answer;
  EXPECT_NE(answer.find("WWW-Authenticate: Bearer\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  EXPECT_EQ(http_status(server_->http_address(), "/v1/decide", {.token = kDecides}), 200);
}

TEST_F(AccessByToken, ReplacedTokensAreNoticed) {
  write_secret(temp_.path() / "decide", kReads + "\n" + kDecides);
  server_->reload();
  EXPECT_TRUE(decide(server_->address(), {.token = kReads}).ok());
  EXPECT_TRUE(decide(server_->address(), {.token = kDecides}).ok());
  write_secret(temp_.path() / "decide", kReads);
  while (decide(server_->address(), {.token = kDecides}).ok()) {
  }
  EXPECT_EQ(decide(server_->address(), {.token = kDecides}).error_code(),
            StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(decide(server_->address(), {.token = kReads}).ok());
}

}  // namespace
}  // namespace yard::testing
