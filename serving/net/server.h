// The policy server, with its ports, one engine and one model store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serving/engine/engine.h"
#include "serving/kubernetes/extender.h"
#include "serving/log/decision_log.h"
#include "serving/net/credentials.h"

namespace yard {

// Addresses are HOST:PORT, PORT on loopback, or unix:PATH. Port 0 means any free port.
struct ServerOptions {
  std::string listen = "127.0.0.1:50051";
  std::string http;    // empty: none
  std::string probes;  // address of the HTTP endpoints without decisions; empty: none
  std::string admin;   // empty: none
  std::string policy;  // policy as for open_policy(); empty: only the fallback decides
  std::string name;    // name of the model; empty: the name of its folder or policy
  std::vector<ModelCatalog::ModelOptions> more_models = {};  // models requested by their names
  // File that keeps modes, candidates and promotions over a restart; empty: they are not kept.
  std::string models_file = {};
  EngineOptions engine = {};
  kubernetes::ExtenderOptions extender = {};
  DecisionLogOptions log = {};
  CredentialOptions credentials = {};
  int max_message_mib = 16;
  int max_connections = 1024;  // connections to `listen`; further connections are closed
  double grace_s = 1;          // seconds after shut_down_gracefully() in which requests are still accepted
  // Called with the answer to a request whose caller records its trace, before the answer is sent,
  // from any thread. It must not block. Null: nothing is called.
  std::function<void(const pb::DecideResponse& answer, const std::string& traceparent)> on_traced;
};

class Server {
 public:
  // Returns when the server serves. Throws InputError if an address is in use or needs TLS, the
  // folder of the log is not writable, or the policy, certificates or tokens cannot be used.
  explicit Server(const ServerOptions& options);
  ~Server();  // stops the server without a grace period

  std::string address() const;  // address of `listen` with the port in use
  std::string http_address() const;
  std::string probes_address() const;
  std::string admin_address() const;
  ModelStore::Status model() const;
  // Returns what the file of models kept but could not be restored, and why.
  const std::vector<std::string>& restore_errors() const;
  std::optional<DecisionLog::Counts> log() const;  // absent if no log is written

  Credentials::Status credentials() const;

  // Checks the files of the model and the credentials now, instead of within 2 seconds.
  void reload();
  // Ends readiness, waits `grace_s`, gives pending requests under a second, and closes the ports.
  void shut_down_gracefully();
  // Returns why /livez does not answer with status 200; empty: it does.
  std::string why_not_alive() const;
  // Returns why the server must end: its port no longer answers. Empty: the server can go on.
  std::string why_must_end() const;
  bool has_stuck_policy() const;  // whether a policy still runs after its request was answered

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
