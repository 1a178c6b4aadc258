// The client library with several servers, TLS and tokens: which server answers if others fail.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "serving/net/client.h"
#include "serving/net/server.h"
#include "serving/snapshot/json.h"
#include "tests/serving/child.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/peer.h"
#include "tests/serving/tls/secure_calls.h"

namespace yard::testing {
namespace {

using std::chrono::milliseconds;

const std::string kToken = "decide-token-0123456789", kOther = "other-token-0123456789";

ServerOptions patient() {
  ServerOptions out;
  out.listen = "127.0.0.1:0";
  out.policy = "las";
  out.engine.budget_ms = 20'000;
  out.grace_s = 0;
  return out;
}

class ClientServers : public ::testing::Test {
 protected:
  // A server as a process. Its name is that of the model in its answers.
  Child serve(const std::string& name, const std::string& listen = "127.0.0.1:0") const {
    return {temp_.path(),
            {"serve", "--policy", "las", "--name", name, "--listen", listen, "--grace", "0",
             "--budget-ms", "20000", "--json"}};
  }

  // The model that answered, or "" if the client did.
  static std::string answered(Client& client, milliseconds deadline) {
    const pb::DecideResponse answer = client.decide(full_cluster(), deadline);
    EXPECT_EQ(lines_of(answer), "PREEMPT long\nSTART fresh n0x8\n") << answer.DebugString();
    return answer.source() == pb::CLIENT_HEURISTIC ? "" : answer.model();
  }

  TempFolder temp_;
};

TEST_F(ClientServers, TheNextServerAnswersIfTheFirstIsGone) {
  Child first = serve("first"), second = serve("second");
  const std::string first_at = first.addresses().at("grpc");
  Client client({.to = {.servers = {first_at, second.addresses().at("grpc")}}});
  EXPECT_EQ(answered(client, milliseconds(20'000)), "first");
  first.signal(SIGKILL);
  first.wait();
  EXPECT_EQ(answered(client, milliseconds(20'000)), "second");
  EXPECT_EQ(answered(client, milliseconds(20'000)), "second");
  // The first is asked again some seconds after it came back.
  Child again = serve("first", first_at);
  again.addresses();
  while (answered(client, milliseconds(20'000)) != "first") {
  }
  second.signal(SIGKILL);
  EXPECT_EQ(answered(client, milliseconds(20'000)), "first");
}

// It has half of the deadline, so the other has time as well. Later calls begin with the other.
TEST_F(ClientServers, TheNextServerAnswersIfTheFirstIsSilent) {
  Child first = serve("first"), second = serve("second");
  Client client({.to = {.servers = {first.addresses().at("grpc"), second.addresses().at("grpc")}}});
  EXPECT_EQ(answered(client, milliseconds(20'000)), "first");
  first.signal(SIGSTOP);
  EXPECT_EQ(answered(client, milliseconds(4'000)), "second");
  first.signal(SIGCONT);
}

TEST_F(ClientServers, AServerThatRestartsIsAskedAgain) {
  Child server = serve("one");
  const std::string at = server.addresses().at("grpc");
  Client client({.to = {.servers = {at}}});
  EXPECT_EQ(answered(client, milliseconds(20'000)), "one");
  server.signal(SIGTERM);
  server.wait();
  Child again = serve("one", at);
  again.addresses();
  EXPECT_EQ(answered(client, milliseconds(20'000)), "one") << "at the second attempt";
}

TEST_F(ClientServers, ItDecidesItselfIfAllAreGone) {
  Client client({.to = {.servers = {"127.0.0.1:1", "127.0.0.1:2"}}});
  const pb::DecideResponse answer = client.decide(full_cluster(), milliseconds(20'000));
  EXPECT_EQ(answer.source(), pb::CLIENT_HEURISTIC);
  EXPECT_EQ(answer.reason(), pb::UNAVAILABLE);
  EXPECT_NE(answer.detail().find("127.0.0.1:1: "), std::string::npos) << answer.detail();
  EXPECT_NE(answer.detail().find("127.0.0.1:2: "), std::string::npos) << answer.detail();
}

TEST_F(ClientServers, AServerThatRefusesTheTokenIsPassedOver) {
  ServerOptions options = patient();
  options.credentials.token_file = write_secret(temp_.path() / "other", kOther);
  options.name = "other";
  const Server other(options);
  options.credentials.token_file = write_secret(temp_.path() / "token", kToken);
  options.name = "right";
  const Server right(options);
  const std::string file = write_secret(temp_.path() / "mine", kToken + "\n" + kOther);
  ConnectionOptions to = {.servers = {other.address(), right.address()}, .token_file = file};
  Client client({.to = to});
  EXPECT_EQ(answered(client, milliseconds(20'000)), "right");
  to.servers.pop_back();
  Client refused({.to = to});
  const pb::DecideResponse answer = refused.decide(full_cluster(), milliseconds(20'000));
  EXPECT_EQ(answer.source(), pb::CLIENT_HEURISTIC);
  EXPECT_NE(answer.detail().find("a valid token is needed"), std::string::npos);
  // The file is read again.
  write_secret(file, kOther);
  while (answered(refused, milliseconds(20'000)) != "other") {
  }
}

TEST_F(ClientServers, TlsWithCertificatesThatChange) {
  const Authority servers, clients;
  const IssuedCertificate issued = servers.issue();
  ServerOptions options = patient();
  options.name = "tls";
  options.credentials.tls = {.cert = write_secret(temp_.path() / "cert", issued.cert),
                             .key = write_secret(temp_.path() / "key", issued.key),
                             .ca = write_secret(temp_.path() / "clients", clients.pem())};
  const Server server(options);
  const IssuedCertificate own = clients.issue();
  const ConnectionOptions to = {
      .servers = {server.address()},
      .files = {.cert = write_secret(temp_.path() / "own-cert", own.cert),
                .key = write_secret(temp_.path() / "own-key", own.key),
                .ca = write_secret(temp_.path() / "servers", servers.pem())}};
  {
    Client client({.to = to});
    EXPECT_EQ(answered(client, milliseconds(20'000)), "tls");
  }
  {
    ConnectionOptions without = to;
    without.files.cert = without.files.key = "";
    Client client({.to = without});
    EXPECT_EQ(answered(client, milliseconds(20'000)), "") << "no client certificate";
  }
  {
    ConnectionOptions plain = {.servers = to.servers};
    Client client({.to = plain});
    EXPECT_EQ(answered(client, milliseconds(20'000)), "") << "plain text";
  }
  {
    ConnectionOptions elsewhere = to;
    elsewhere.tls_server_name = "elsewhere";
    Client client({.to = elsewhere});
    EXPECT_EQ(answered(client, milliseconds(20'000)), "") << "another name";
  }
  {
    ConnectionOptions system = {.servers = to.servers, .tls = true};
    Client client({.to = system});
    EXPECT_EQ(answered(client, milliseconds(20'000)), "") << "the system's CAs";
  }
  Client client({.to = to});
  EXPECT_EQ(answered(client, milliseconds(20'000)), "tls");
  write_secret(temp_.path() / "own-key", clients.issue().key);
  EXPECT_THROW(Client({.to = to}), InputError) << "another key";
  EXPECT_EQ(answered(client, milliseconds(20'000)), "tls") << "the connection is open";
}

TEST_F(ClientServers, TokensNeedTlsToOtherMachines) {
  const std::string file = write_secret(temp_.path() / "token", kToken);
  ConnectionOptions to = {.servers = {"127.0.0.1:1", "192.0.2.1:1"}, .token_file = file};
  try {
    const Client client({.to = to});
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'192.0.2.1:1' without TLS"), std::string::npos)
        << error.what();
  }
  to.insecure = true;
  EXPECT_NO_THROW(Client({.to = to}));
  to.insecure = false;
  to.tls = true;
  EXPECT_NO_THROW(Client({.to = to}));
  to.servers.pop_back();
  to.tls = false;
  EXPECT_NO_THROW(Client({.to = to}));
  EXPECT_THROW(Client({.to = {}}), InputError);
}

}  // namespace
}  // namespace yard::testing
