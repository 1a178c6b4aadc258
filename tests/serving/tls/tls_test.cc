// TLS on every port: which certificates are refused, how they are replaced under open connections,
// and callers which never finish their handshake.
#include <gtest/gtest.h>
#include <httplib.h>
#include <openssl/ssl.h>
#include <signal.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "serving/net/grpc_port.h"
#include "serving/net/http_server.h"
#include "serving/net/server.h"
#include "serving/snapshot/json.h"
#include "tests/serving/child.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/peer.h"
#include "tests/serving/tls/secure_calls.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

using std::chrono::milliseconds;

class Tls : public ::testing::Test {
 protected:
  void serve_as(const IssuedCertificate& issued) const {
    write_secret(temp_.path() / "cert.pem", issued.cert);
    write_secret(temp_.path() / "key.pem", issued.key);
  }

  std::string path(const char* name) const { return (temp_.path() / name).string(); }

  // A server with all ports and mutual TLS.
  ServerOptions options() const {
    serve_as(servers_.issue());
    ServerOptions out;
    out.listen = out.http = out.probes = out.admin = "127.0.0.1:0";
    out.policy = "las";
    out.engine.budget_ms = 10'000;
    out.grace_s = 0;
    out.credentials.tls = {.cert = path("cert.pem"),
                           .key = path("key.pem"),
                           .ca = write_secret(temp_.path() / "clients.pem", clients_.pem())};
    return out;
  }

  Caller right() const { return {.ca = servers_.pem(), .own = clients_.issue()}; }

  static void expect_served(const Server& server, const Caller& by) {
    const grpc::Status decided = decide(server.address(), by);
    EXPECT_TRUE(decided.ok()) << decided.error_message();
    EXPECT_TRUE(admin_status(server.admin_address(), by).ok());
    EXPECT_EQ(http_status(server.http_address(), "/v1/decide", by), 200);
    EXPECT_EQ(http_status(server.probes_address(), "/livez", by), 200);
  }

  static void expect_refused(const Server& server, const Caller& by, const char* why) {
    constexpr auto kUnavailable = grpc::StatusCode::UNAVAILABLE;
    EXPECT_EQ(decide(server.address(), by).error_code(), kUnavailable) << why;
    EXPECT_EQ(admin_reload(server.admin_address(), by).error_code(), kUnavailable) << why;
    EXPECT_EQ(http_status(server.http_address(), "/v1/decide", by), 0) << why;
    EXPECT_EQ(http_status(server.probes_address(), "/livez", by), 0) << why;
  }

  TempFolder temp_;
  Authority servers_, clients_;
};

TEST_F(Tls, EveryPortChecksBothCertificates) {
  const Server server(options());
  const Authority foreign;
  expect_served(server, right());
  expect_refused(server, {}, "plain text");
  expect_refused(server, {.ca = servers_.pem()}, "no client certificate");
  expect_refused(server, {.ca = servers_.pem(), .own = foreign.issue()}, "another authority");
  expect_refused(server, {.ca = servers_.pem(), .own = clients_.issue({.valid_s = -60})},
                 "expired");
  expect_refused(server, {.ca = foreign.pem(), .own = clients_.issue()},
                 "the caller does not trust the server");
  expect_served(server, right());
}

TEST_F(Tls, CallersCheckTheHost) {
  const ServerOptions given = options();
  serve_as(servers_.issue({.hosts = "DNS:elsewhere"}));
  const Server server(given);
  expect_refused(server, right(), "another host");
  Caller knowing = right();
  knowing.trusted_as = "elsewhere";
  EXPECT_TRUE(decide(server.address(), knowing).ok());
}

TEST_F(Tls, WithoutAClientCaNoCallerNeedsACertificate) {
  ServerOptions given = options();
  given.credentials.tls.ca.clear();
  const Server server(given);
  expect_served(server, {.ca = servers_.pem()});
  expect_refused(server, {}, "plain text");
}

TEST_F(Tls, ProbesMayAskForLess) {
  ServerOptions given = options();
  const Caller without = {.ca = servers_.pem()};
  given.credentials.probes_tls = ProbesTls::kServer;
  {
    const Server server(given);
    EXPECT_EQ(http_status(server.probes_address(), "/readyz", without), 200);
    EXPECT_EQ(http_status(server.http_address(), "/readyz", without), 0);
    EXPECT_EQ(http_status(server.probes_address(), "/readyz", {}), 0);
  }
  given.credentials.probes_tls = ProbesTls::kOff;
  const Server server(given);
  EXPECT_EQ(http_status(server.probes_address(), "/readyz", {}), 200);
  EXPECT_EQ(http_status(server.http_address(), "/readyz", {}), 0);
}

TEST_F(Tls, UnixSocketsHaveNone) {
  ServerOptions given = options();
  given.listen = "unix:" + path("yard.sock");
  const Server server(given);
  EXPECT_TRUE(decide(given.listen, {}).ok());
  EXPECT_TRUE(admin_status(server.admin_address(), right()).ok());
}

TEST_F(Tls, CertificatesAreReplacedUnderOpenConnections) {
  Server server(options());
  const Caller old = right();
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address(), old));
  grpc::ClientContext context;
  const auto stream = stub->DecideStream(&context);
  pb::DecideResponse answer;
  const auto ask_stream = [&] {
    return stream->Write(full_cluster()) && stream->Read(&answer) && answer.source() == pb::POLICY;
  };
  ASSERT_TRUE(ask_stream());
  const std::string ca = write_secret(temp_.path() / "servers.pem", servers_.pem());
  httplib::Client http("https://" + server.http_address(),
                       write_secret(temp_.path() / "own.pem", old.own.cert),
                       write_secret(temp_.path() / "own.key", old.own.key));
  http.set_ca_cert_path(ca.c_str());
  http.set_keep_alive(true);
  ASSERT_EQ(http.Get("/readyz")->status, 200);

  const Authority new_servers, new_clients;
  serve_as(new_servers.issue({.valid_s = 1000}));
  write_secret(temp_.path() / "clients.pem", new_clients.pem());
  server.reload();
  const Caller fresh = {.ca = new_servers.pem(), .own = new_clients.issue()};
  expect_served(server, fresh);
  expect_refused(server, old, "it trusts, and has, the certificates of before");
  EXPECT_TRUE(ask_stream()) << "the connection is open still";
  ASSERT_TRUE(http.Get("/readyz"));
  const int64_t expiry = server.credentials().certificate_expires_s;
  EXPECT_LE(expiry, std::time(nullptr) + 1000);

  for (const auto& damaged : {IssuedCertificate{"", ""}, servers_.issue({.valid_s = -60}),
                              IssuedCertificate{servers_.issue().cert, servers_.issue().key}}) {
    serve_as(damaged);
    server.reload();
    expect_served(server, fresh);
    EXPECT_TRUE(ask_stream());
  }
  EXPECT_NE(server.credentials().trouble, "");
  const std::string metrics = http_body(server.probes_address(), "/metrics", fresh);
  for (const std::string& line :
       {"yardmaster_certificate_expiry_timestamp_seconds " + std::to_string(expiry),
        std::string("yardmaster_certificate_reloads_total{result=\"loaded\"} 1"),
        std::string("yardmaster_certificate_reloads_total{result=\"refused\"} 3")}) {
    EXPECT_NE(metrics.find(line + "\n"), std::string::npos) << line << "\n" << metrics;
  }

  // The server notices by itself that the files are whole again.
  serve_as(servers_.issue());
  const Caller now = {.ca = servers_.pem(), .own = new_clients.issue()};
  while (!decide(server.address(), now).ok()) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(server.credentials().trouble, "");
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(Tls, ThePortTestsItself) {
  const ServerOptions given = options();
  pb::PolicyService::Service service;
  grpc::EnableDefaultHealthCheckService(true);
  GrpcPort port({.option = "test",
                 .address = "127.0.0.1:0",
                 .certificates = std::make_shared<const Certificates>(given.credentials.tls)},
                service);
  EXPECT_TRUE(port.answers(std::chrono::seconds(20)));
}

// As a process, whose ports are full of callers that send nothing, or a part of a handshake.
TEST_F(Tls, SilentHandshakesDelayNeitherOthersNorTheEnd) {
  const ServerOptions given = options();
  Child server(temp_.path(), {"serve",
                              "--policy",
                              "las",
                              "--listen",
                              "127.0.0.1:0",
                              "--http",
                              "127.0.0.1:0",
                              "--probes",
                              "127.0.0.1:0",
                              "--admin",
                              "127.0.0.1:0",
                              "--grace",
                              "0",
                              "--json",
                              "--budget-ms",
                              "10000",
                              "--tls-cert",
                              given.credentials.tls.cert,
                              "--tls-key",
                              given.credentials.tls.key,
                              "--tls-client-ca",
                              given.credentials.tls.ca});
  const nlohmann::json at = server.addresses();
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9);  // and no more
  const auto crowd = [&] {
    std::vector<Peer> out;
    for (const char* port : {"grpc", "http", "probes", "admin"}) {
      for (int i = 0; i < 12; ++i) {
        out.emplace_back(at.at(port).get<std::string>());
        if (i % 2 == 0) out.back().send(hello);
      }
    }
    return out;
  };
  const auto expect_answers = [&] {
    EXPECT_TRUE(decide(at.at("grpc"), right()).ok());
    EXPECT_TRUE(admin_status(at.at("admin"), right()).ok());
    EXPECT_EQ(http_status(at.at("http"), "/v1/decide", right()), 200);
    EXPECT_EQ(http_status(at.at("probes"), "/livez", right()), 200);
  };
  const std::vector<Peer> first = crowd();
  expect_answers();
  // All are cut off in time; one that is not keeps the test here until it is ended.
  for (const Peer& peer : first) {
    while (peer.is_open()) std::this_thread::sleep_for(milliseconds(50));
  }
  for (const char* port : {"grpc", "http", "probes", "admin"}) {
    const Peer noise(at.at(port).get<std::string>());
    noise.send("GET / HTTP/1.1\r\n\r\n");
    noise.send(std::string(100'000, '\xff'));
  }
  expect_answers();
  const std::vector<Peer> second = crowd();
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

// A caller which finishes its handshake, and then sends what it likes.
class TlsPeer {
 public:
  explicit TlsPeer(const std::string& address)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        bio_(BIO_new_ssl_connect(context_.get()), BIO_free_all) {
    BIO_set_conn_hostname(bio_.get(), address.c_str());
    EXPECT_EQ(BIO_do_handshake(bio_.get()), 1);
  }

  bool send(const std::string& text) {
    return BIO_write(bio_.get(), text.data(), static_cast<int>(text.size())) > 0;
  }

  // Reads until the other side closes.
  std::string read() {
    std::string out;
    char buffer[4096];
    for (int n; (n = BIO_read(bio_.get(), buffer, sizeof buffer)) > 0;) {
      out.append(buffer, static_cast<size_t>(n));
    }
    return out;
  }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<BIO, decltype(&BIO_free_all)> bio_;
};

TEST_F(Tls, HttpLimitsHoldBehindTheHandshake) {
  std::signal(SIGPIPE, SIG_IGN);
  const ServerOptions given = options();
  HttpServer::Options http = {.option = "test", .address = "127.0.0.1:0"};
  http.certificates = std::make_shared<const Certificates>(given.credentials.tls);
  http.limits.max_body_bytes = 1000;
  const auto answer = [](HttpRequest&&, HttpServer::Reply&& reply) { reply({}); };
  {
    HttpServer::Options hurried = http;
    hurried.limits.first_byte = hurried.limits.head = hurried.limits.body = milliseconds(100);
    HttpServer server(hurried, answer);
    for (const char* text : {"", "GET /x", "POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"}) {
      TlsPeer slow(server.address());
      if (*text != 0) slow.send(text);
      EXPECT_EQ(slow.read(), "") << "cut off: " << text;
    }
  }
  HttpServer server(http, answer);
  TlsPeer large(server.address());
  large.send("POST /x HTTP/1.1\r\nContent-Length: 300000\r\n\r\n");
  large.send(std::string(300'000, ' '));
  EXPECT_TRUE(large.read().starts_with("HTTP/1.1 413")) << "the answer arrives";
  TlsPeer last(server.address());
  last.send("GET /x HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(last.read().starts_with("HTTP/1.1 200"));
  std::vector<std::unique_ptr<TlsPeer>> open;
  for (int i = 0; i < 3; ++i) open.push_back(std::make_unique<TlsPeer>(server.address()));
  server.stop(milliseconds(100));
}

TEST_F(Tls, CommandsCallAServer) {
  const ServerOptions given = options();
  std::ofstream(temp_.path() / "snapshot.json") << to_json(full_cluster());
  const std::string tokens = write_secret(temp_.path() / "tokens", "decide-token-0123456789\n");
  Child server(temp_.path(), {"serve",
                              "--policy",
                              "las",
                              "--listen",
                              "127.0.0.1:0",
                              "--admin",
                              "127.0.0.1:0",
                              "--grace",
                              "0",
                              "--json",
                              "--budget-ms",
                              "10000",
                              "--tls-cert",
                              given.credentials.tls.cert,
                              "--tls-key",
                              given.credentials.tls.key,
                              "--tls-client-ca",
                              given.credentials.tls.ca,
                              "--token-file",
                              tokens});
  const nlohmann::json at = server.addresses();
  const IssuedCertificate own = clients_.issue();
  const std::vector<std::string> connection = {
      "--tls-ca",     write_secret(temp_.path() / "servers.pem", servers_.pem()),
      "--tls-cert",   write_secret(temp_.path() / "own.pem", own.cert),
      "--tls-key",    write_secret(temp_.path() / "own.key", own.key),
      "--token-file", tokens,
      "--json"};
  const auto run = [&](std::vector<std::string> command) {
    command.insert(command.end(), connection.begin(), connection.end());
    Child child(temp_.path(), command);
    EXPECT_EQ(child.wait(), 0) << child.err();
    return nlohmann::json::parse(child.out());
  };
  const auto decided = run({"decide", "--server", at.at("grpc"), "--snapshot",
                            path("snapshot.json"), "--deadline-ms", "20000"});
  EXPECT_EQ(decided.at("source"), "POLICY") << decided;
  EXPECT_EQ(run({"status", "--server", at.at("admin")}).at("servers")[0].at("model"), "las");
  EXPECT_EQ(run({"reload", "--server", at.at("admin")}).at("servers")[0].at("serving"), true);

  Child plain(temp_.path(), {"status", "--server", at.at("admin")});
  EXPECT_EQ(plain.wait(), 1);
  Child exposed(temp_.path(), {"serve", "--policy", "las", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(exposed.wait(), 2);
  EXPECT_NE(exposed.err().find("--listen: expected a loopback address"), std::string::npos)
      << exposed.err();

  serve_as(servers_.issue({.valid_s = -60}));
  server.signal(SIGHUP);
  while (server.err().find("stays in service") == std::string::npos) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_NE(server.err().find("expired on"), std::string::npos) << server.err();
  EXPECT_EQ(run({"status", "--server", at.at("admin")}).at("servers")[0].at("model"), "las");
}

}  // namespace
}  // namespace yard::testing
