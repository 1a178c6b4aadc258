// Client for cluster managers. Calls a server, and decides locally with the fallback heuristic if
// the server is unavailable, late or returns an illegal decision.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

struct ClientOptions {
  std::string server;            // HOST:PORT
  std::string fallback = "las";  // decides if the server does not
};

class Client {
 public:
  // Does not connect yet. Throws InputError for an invalid address or fallback.
  explicit Client(const ClientOptions& options);
  ~Client();

  // Returns within the deadline: the server's answer, or a local one with source CLIENT_HEURISTIC.
  // Throws InputError if the request describes an impossible cluster. Thread-safe.
  pb::DecideResponse decide(const pb::DecideRequest& request, std::chrono::milliseconds deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
