// Prometheus metrics of a policy server, with names as usual: base units, `_total` for counters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serving/engine/engine.h"
#include "serving/engine/model_catalog.h"
#include "serving/kubernetes/extender.h"
#include "serving/log/decision_log.h"
#include "serving/net/credentials.h"
#include "serving/snapshot/messages.h"
#include "yardmaster/v1/admin.pb.h"

namespace yard {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // Counts a decision. `is_known`: the server has the response's model. Other models count as
  // "unknown", since clients may send any name. All functions of Metrics are thread-safe.
  void count_decision(const pb::DecideResponse& response, bool is_known);
  void count_reported_outcome(const pb::Outcome& outcome);
  void count_refused_request();
  void count_denied_request(const std::string& port);  // on `port`, without a valid token
  // Counts an answer to kube-scheduler. `verb`: of the path /k8s/VERB; `code`: HTTP status.
  void count_extender_answer(const std::string& verb, int code, double seconds);

  struct Gauges {
    int pending = 0;
    std::array<Engine::QueueStatus, 3> queues = {};
    int stuck = 0;
    bool ready = false;
    int grpc_connections = 0;
    int http_connections = 0;
    uint64_t turned_away = 0;  // connections closed at the gRPC port
    size_t memories = 0;       // memories of policies
    size_t memory_bytes = 0;   // size of the policies' memories
    int breaker = 0;           // Breaker::State of the model's breaker
    uint64_t times_breakers_opened = 0;
    uint64_t repeated = 0;      // requests that got the answer to an earlier equal one
    uint64_t state_copies = 0;  // deltas for which a state was copied
    Credentials::Status credentials;
    ModelStore::Status models;
    std::vector<pb::ModelStatus> versions;   // state of each model
    std::optional<DecisionLog::Counts> log;  // absent if no log is written
    std::optional<pb::DriftReport> drift;    // absent: `yardmaster drift` wrote no report
    kubernetes::Extender::Counts extender;   // counts of the scheduler extender
  };
  // Returns the text of the endpoint /metrics.
  std::string text(const Gauges& now);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace yard
