// The policy server: gRPC, HTTP and admin ports over one engine and one model store.
//
//   Server server({.listen = "127.0.0.1:0", .policy = "checkpoint:checkpoints/pilot"});
//   ... server.address() ...
//   server.drain();
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "serving/decision_log.h"
#include "serving/engine.h"

namespace yard {

struct ServerOptions {
  std::string listen = "127.0.0.1:50051";  // port 0: one that is free
  std::string http;                        // empty: none
  std::string admin;                       // empty: none
  std::string policy;                      // as open_policy() knows it; empty: heuristic only
  std::string name;                        // of the model; empty: the folder's or policy's own
  EngineOptions engine = {};
  DecisionLogOptions log = {};
  int max_message_mib = 16;
  double grace_s = 1;  // how long requests are still taken after drain() said no
};

class Server {
 public:
  // Serves when it returns. Throws InputError: an address that is not free, no such policy, a log's
  // folder that cannot be written.
  explicit Server(const ServerOptions& options);
  ~Server();  // without grace

  std::string address() const;  // HOST:PORT, with the port that was chosen for port 0
  std::string http_address() const;
  std::string admin_address() const;
  ModelStore::Status model() const;
  std::optional<DecisionLog::Counts> log() const;  // none: no log is written

  void reload();  // looks at the model's files now; changes are also noticed within a second
  void drain();   // not ready; then grace; then what is under way is finished and the ports close
  bool hangs() const;  // a policy still decides though nobody waits for it

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
