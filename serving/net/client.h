// Client for cluster managers. Asks policy servers in turn, and decides locally with the fallback
// heuristic if no server returns a legal decision in time.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "serving/net/connections.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct ClientOptions {
  ConnectionOptions to;
  std::string fallback = "las";  // heuristic that decides if no server does
};

class Client {
 public:
  // Opens no connection yet. Throws InputError for an invalid address, file or fallback.
  explicit Client(const ClientOptions& options);
  ~Client();

  // Returns a server's answer, or a local one with source CLIENT_HEURISTIC, within the deadline.
  // Each server in turn has half of the remaining time, and the last server has all of it. A server
  // that cannot be reached or is silent is asked last for some seconds. If no server can be
  // reached, all servers are asked once more. Throws InputError if the request describes an
  // impossible cluster. Thread-safe.
  pb::DecideResponse decide(const pb::DecideRequest& request, std::chrono::milliseconds deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
