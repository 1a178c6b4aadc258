// Client for cluster managers. Calls a server, or the next one if that fails, and decides locally
// with the fallback heuristic if none returns a legal decision in time.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serving/net/connections.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct ClientOptions {
  ConnectionOptions to;
  std::string fallback = "las";  // decides if no server does
};

class Client {
 public:
  // Does not connect yet. Throws InputError for an invalid address, file or fallback.
  explicit Client(const ClientOptions& options);
  ~Client();

  // Returns within the deadline: a server's answer, or a local one with source CLIENT_HEURISTIC.
  // Servers are asked in their order, each for half of the time that is left and the last one for
  // all of it. One that cannot be reached or is silent comes last for some seconds. If none can be
  // reached, all are asked once more. Throws InputError if the request describes an impossible
  // cluster. Thread-safe.
  pb::DecideResponse decide(const pb::DecideRequest& request, std::chrono::milliseconds deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
