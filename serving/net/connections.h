// Connections to one or several policy servers, with TLS and tokens if the servers need them.
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
  bool tls = false;                  // use TLS, with the system's CAs unless `files.ca` is set
  TlsFiles files = {};  // CA of the servers, which implies TLS; client's certificate, key
  std::string tls_server_name = {};  // name in the servers' certificates; empty: the host's
  std::string token_file = {};       // file whose first token is sent; empty: no token
  bool insecure = false;             // whether a token may cross the network in plain text
};

class Connections {
 public:
  // Opens no connection yet. Throws InputError for an invalid address or file, and for a token that
  // would cross the network in plain text.
  explicit Connections(const ConnectionOptions& options);

  const std::vector<std::string>& servers() const { return options_.servers; }
  const std::shared_ptr<grpc::Channel>& channel(size_t server) const { return channels_[server]; }

  // Adds the token to a call. A changed token file is read again within about a second.
  void add_token(grpc::ClientContext& context);

 private:
  std::string token();

  const ConnectionOptions options_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::mutex mutex_;
  std::string token_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace yard
