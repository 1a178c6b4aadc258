// Client for cluster managers. Asks policy servers in turn, and decides locally with the fallback
// heuristic if no server returns a legal decision in time. Sends what changed instead of whole
// snapshots, registers the manager, and reports how jobs ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "env/base/core/error.h"
#include "serving/net/connections.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct ClientOptions {
  ConnectionOptions to;
  std::string fallback = "las";  // heuristic that decides if no server does
  // Whether to send only what changed since the last snapshot of the cluster which a server has
  // confirmed; false: whole snapshots only. Requests without a cluster, and requests with a
  // request_id or state_version of their own, are always sent as they are.
  bool deltas = true;
  size_t max_outcomes = 10'000;  // outcomes that wait for a server; the oldest are dropped first
  // Called after each registration, by the thread that calls decide(). Null: nothing is called.
  std::function<void(const std::string& server, const pb::RegisterResponse& answer)> on_registered =
      nullptr;
};

// A manager with a higher term has registered for the cluster: this one must no longer act.
class Deposed : public RunError {
 public:
  using RunError::RunError;
};

struct ClientCounts {
  uint64_t snapshots = 0;  // whole snapshots sent
  uint64_t deltas = 0;     // deltas sent
  uint64_t resyncs = 0;    // deltas whose base the server lacked, so that a snapshot followed
  uint64_t bytes = 0;      // bytes of snapshots and deltas
  uint64_t outcomes_accepted = 0;
  uint64_t outcomes_refused = 0;  // outcomes that make no sense to the server
  uint64_t outcomes_dropped = 0;  // outcomes that found no room in the queue
  uint64_t outcomes_waiting = 0;
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
  // impossible cluster, and Deposed if the cluster has a manager of a higher term. Thread-safe.
  pb::DecideResponse decide(const pb::DecideRequest& request, std::chrono::milliseconds deadline);

  // Says what the manager of `manager.cluster()` can carry out. decide() registers the manager with
  // each server before the first request for the cluster, and again if the server has restarted.
  // A manager whose registrations have a term is deposed by one with a higher term. Thread-safe.
  void set_manager(pb::RegisterRequest manager);

  // Queues how a job of the cluster ended, for send_outcomes(). Never blocks. Thread-safe.
  void report(const std::string& cluster, pb::Outcome outcome);
  // Sends queued outcomes, and waits for at most `wait`. Returns whether no outcome waits any more.
  // Outcomes that no server has received stay queued for later calls; a server may receive some of
  // them twice. Thread-safe.
  bool send_outcomes(std::chrono::milliseconds wait);

  ClientCounts counts() const;  // thread-safe

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
