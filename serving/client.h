// The other end, for cluster managers: asks a server, and decides by itself with the same heuristic
// where the server is gone, late, or wants what is not allowed.
//
//   Client client({.server = "127.0.0.1:50051"});
//   pb::DecideResponse answer = client.decide(request, std::chrono::milliseconds(50));
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serving/messages.h"

namespace yard {

struct ClientOptions {
  std::string server;            // HOST:PORT
  std::string fallback = "las";  // decides where the server does not
};

class Client {
 public:
  // Does not connect yet. Throws InputError for an address or a fallback that cannot be.
  explicit Client(const ClientOptions& options);
  ~Client();

  // Returns within the deadline, whatever becomes of the server: its answer, or one of our own with
  // source CLIENT_HEURISTIC. Throws InputError where the request describes no possible cluster.
  // Thread-safe.
  pb::DecideResponse decide(const pb::DecideRequest& request, std::chrono::milliseconds deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
