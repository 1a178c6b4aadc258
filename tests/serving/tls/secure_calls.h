// Calls of a server's ports with certificates and tokens, each on a connection of its own.
#pragma once

#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <string>

#include "tests/serving/tls/authority.h"

namespace yard::testing {

struct Caller {
  std::string ca = {};          // PEM of those it trusts; empty: it calls in plain text
  IssuedCertificate own = {};   // empty: none
  std::string token = {};       // empty: none
  std::string trusted_as = {};  // the server's name; empty: its address
};

std::shared_ptr<grpc::Channel> channel_to(const std::string& address, const Caller& by);

// Returns the status of a call with an answer of any kind.
grpc::Status decide(const std::string& address, const Caller& by);
grpc::Status admin_status(const std::string& address, const Caller& by);
grpc::Status admin_reload(const std::string& address, const Caller& by);

// Returns the HTTP status of a GET, or of a POST of a snapshot to /v1/decide; 0: no answer.
int http_status(const std::string& address, const std::string& path, const Caller& by);
std::string http_body(const std::string& address, const std::string& path, const Caller& by);

}  // namespace yard::testing
