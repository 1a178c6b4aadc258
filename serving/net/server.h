// The policy server: gRPC, HTTP and admin ports with one engine and one model store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "serving/engine/engine.h"
#include "serving/log/decision_log.h"

namespace yard {

struct ServerOptions {
  std::string listen = "127.0.0.1:50051";  // port 0: a free one
  std::string http;                        // empty: none
  std::string admin;                       // empty: none
  std::string policy;                      // spec as for open_policy(); empty: heuristic only
  std::string name;                        // of the model; empty: the folder's or policy's own
  EngineOptions engine = {};
  DecisionLogOptions log = {};
  int max_message_mib = 16;
  double grace_s = 1;  // time after drain() in which requests are still accepted
};

class Server {
 public:
  // Serves when it returns. Throws InputError if an address is in use, the policy does not exist or
  // the log's folder is not writable.
  explicit Server(const ServerOptions& options);
  ~Server();  // without a grace period

  std::string address() const;  // HOST:PORT, with the actual port in place of 0
  std::string http_address() const;
  std::string admin_address() const;
  ModelStore::Status model() const;
  std::optional<DecisionLog::Counts> log() const;  // none: no log is written

  void reload();  // checks the model's files now; changes are also noticed within a second
  void drain();   // not ready; grace period; finishes pending requests and closes the ports
  bool has_stuck_policy() const;  // some policy still runs although its request was answered

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
