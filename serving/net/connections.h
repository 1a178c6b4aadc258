// Connections to one or several servers, with what these ask of their callers.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serving/net/certificates.h"
#include "serving/net/tokens.h"

namespace yard {

struct ConnectionOptions {
  std::vector<std::string> servers;  // HOST:PORT or unix:PATH, in the order of preference
  bool tls = false;                  // with the system's CAs, unless `files` names one
  TlsFiles files = {};               // a CA makes it TLS; certificate and key are the client's own
  std::string tls_server_name = {};  // in the servers' certificates; empty: their host
  std::string token_file = {};       // the first token is sent; empty: none
  bool insecure = false;             // a token may cross the network in plain text
};

class Connections {
 public:
  // Does not connect yet. Throws InputError for an invalid address or file, and for a token that
  // would cross the network in plain text.
  explicit Connections(const ConnectionOptions& options);

  const std::vector<std::string>& servers() const { return options_.servers; }
  const std::shared_ptr<grpc::Channel>& channel(size_t server) const { return channels_[server]; }

  // Adds the token to a call. Rereads its file, if that has changed, about once a second.
  void authorize(grpc::ClientContext& context);

 private:
  std::string token();

  const ConnectionOptions options_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::mutex mutex_;
  std::string token_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace yard
