// A server's Prometheus metrics. Names follow its rules: base units, `_total` for counters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "serving/engine/model_store.h"
#include "serving/kubernetes/extender.h"
#include "serving/log/decision_log.h"
#include "serving/net/credentials.h"
#include "serving/snapshot/messages.h"

namespace yard {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // All functions are thread-safe. `known`: the served model's name. Others count as "unknown",
  // since clients may send anything.
  void decided(const pb::DecideResponse& response, const std::string& known);
  void refused_request();
  void denied_request(const std::string& port);  // no valid token
  // An answer to kube-scheduler. `verb`: of /k8s/VERB; `code`: of HTTP.
  void extended(const std::string& verb, int code, double seconds);

  struct Gauges {
    int pending = 0;
    int stuck = 0;
    bool ready = false;
    int grpc_connections = 0;
    int http_connections = 0;
    uint64_t turned_away = 0;  // connections to the gRPC port
    size_t memories = 0;       // of policies
    size_t memory_bytes = 0;   // of all of them
    int breaker = 0;           // of the model: Breaker::State
    uint64_t breakers_opened = 0;
    Credentials::Status credentials;
    ModelStore::Status models;
    std::optional<DecisionLog::Counts> log;  // absent without a log
    kubernetes::Extender::Counts extender;
  };
  // Returns the text of /metrics.
  std::string text(const Gauges& now);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace yard
