// The policy server: its ports, with one engine and one model store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "serving/engine/engine.h"
#include "serving/kubernetes/extender.h"
#include "serving/log/decision_log.h"
#include "serving/net/credentials.h"

namespace yard {

// Addresses are HOST:PORT, where port 0 is a free one, PORT on loopback, or unix:PATH.
struct ServerOptions {
  std::string listen = "127.0.0.1:50051";
  std::string http;    // empty: none
  std::string probes;  // the endpoints of `http` without decisions; empty: none
  std::string admin;   // empty: none
  std::string policy;  // spec as for open_policy(); empty: heuristic only
  std::string name;    // of the model; empty: the folder's or policy's own
  EngineOptions engine = {};
  kubernetes::ExtenderOptions extender = {};
  DecisionLogOptions log = {};
  CredentialOptions credentials = {};
  int max_message_mib = 16;
  int max_connections = 1024;  // to `listen`; further ones are closed
  double grace_s = 1;          // time after drain() in which requests are still accepted
};

class Server {
 public:
  // Serves when it returns. Throws InputError if an address is in use or needs TLS, the policy does
  // not exist, the log's folder is not writable, or certificates or tokens cannot be used.
  explicit Server(const ServerOptions& options);
  ~Server();  // without a grace period

  std::string address() const;  // with the port in use
  std::string http_address() const;
  std::string probes_address() const;
  std::string admin_address() const;
  ModelStore::Status model() const;
  std::optional<DecisionLog::Counts> log() const;  // none: no log is written

  Credentials::Status credentials() const;

  // Checks the files of the model and the credentials now; changes are also noticed within 2 s.
  void reload();
  // Not ready; grace period; pending requests have less than a second to end; closes the ports.
  void drain();
  // Why the server cannot go on: it no longer answers on its own port. Empty: it can.
  std::string failure() const;
  bool has_stuck_policy() const;  // some policy still runs although its request was answered

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
