// The Python client of docs/examples, and other calls of grpcio, against the server.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "serving/net/server.h"
#include "serving/snapshot/json.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/authority.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

// A Python with grpcio: $YARD_GRPC_PYTHON, else that of the system, to which Debian's belongs.
std::string python() {
  const char* named = std::getenv("YARD_GRPC_PYTHON");
  return named != nullptr && *named != 0 ? named : "/usr/bin/python3";
}

bool has_grpcio() {
  return std::system((python() + " -c 'import grpc, google.protobuf' >/dev/null 2>&1").c_str()) ==
         0;
}

class PythonClient : public ::testing::Test {
 protected:
  PythonClient() {
    const IssuedCertificate issued = authority_.issue(), own = authority_.issue();
    write("cert", issued.cert);
    write("key", issued.key);
    write("ca", authority_.pem());
    write("own-cert", own.cert);
    write("own-key", own.key);
    write("token", "decide-token-0123456789\n");
    write("snapshot", to_json(full_cluster()));
  }

  std::string path(const std::string& name) const { return (temp_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    write_secret(temp_.path() / name, text);
  }

  ServerOptions options(const std::string& policy) const {
    ServerOptions out;
    out.listen = "127.0.0.1:0";
    out.policy = policy;
    out.engine.budget_ms = 20'000;
    out.grace_s = 0;
    out.credentials.tls = {.cert = path("cert"), .key = path("key"), .ca = path("ca")};
    out.credentials.token_file = path("token");
    return out;
  }

  // Returns what a script prints. Fails the test, with its errors, if it does.
  std::string run(const std::string& script, const std::string& arguments) const {
    const std::string command =
        python() + " " + script + " " + arguments + " > " + path("out") + " 2> " + path("err");
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(path("err"));
    return read_file(path("out"));
  }

  TempFolder temp_;
  Authority authority_;
};

TEST_F(PythonClient, CallsOfGrpcio) {
  YARD_NEEDS(grpcio, has_grpcio(), "no Python with the package grpcio (YARD_GRPC_PYTHON)");
  start_hanging();
  const Server server(options("las"));
  ServerOptions hangs = options("test-hangs");
  hangs.engine.budget_ms = 500;
  auto hanging = std::make_unique<Server>(hangs);
  write("at.json", nlohmann::json{{"grpc", server.address()},
                                  {"hanging", hanging->address()},
                                  {"ca", path("ca")},
                                  {"cert", path("own-cert")},
                                  {"key", path("own-key")},
                                  {"token_file", path("token")},
                                  {"snapshot", path("snapshot")}}
                       .dump());
  EXPECT_EQ(run("tests/serving/grpcio_calls.py", "docs/examples " + path("at.json")), "done\n");
  hanging.reset();
  stop_hanging();
}

TEST_F(PythonClient, TheExamplePrintsActions) {
  YARD_NEEDS(grpcio, has_grpcio(), "no Python with the package grpcio (YARD_GRPC_PYTHON)");
  const std::string common = " --snapshot " + path("snapshot") + " --tls-ca " + path("ca") +
                             " --tls-cert " + path("own-cert") + " --tls-key " + path("own-key") +
                             " --token-file " + path("token") + " --deadline-ms 20000";
  std::string address;
  {
    const Server server(options("las"));
    address = server.address();
    EXPECT_EQ(run("docs/examples/client.py", "--server " + address + common),
              "source POLICY, reason NONE\nPREEMPT long\nSTART fresh n0x8\n");
  }
  EXPECT_EQ(run("docs/examples/client.py", "--server " + address + common), "no action\n");
}

}  // namespace
}  // namespace yard::testing
