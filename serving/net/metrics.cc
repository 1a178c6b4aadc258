#include "serving/net/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "env/base/core/version.h"
#include "serving/log/drift_reports.h"
#include "serving/net/process_metrics.h"

namespace yard {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

const Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                              0.01,   0.025,   0.05,   0.1,   0.25,   1};

// Milliseconds of a decision's stages, without those which it did not have.
std::vector<std::pair<const char*, double>> stages_of(const pb::DecideResponse& response) {
  const pb::Timings& t = response.timings();
  std::vector<std::pair<const char*, double>> out = {{"queue", t.queue_ms()}};
  if (t.read_ms() > 0) out.emplace_back("read", t.read_ms());
  if (t.policy_ms() > 0) {
    out.emplace_back("policy", t.policy_ms());
    out.emplace_back("guard", t.guard_ms());
  }
  if (t.heuristic_ms() > 0) out.emplace_back("heuristic", t.heuristic_ms());
  // Of an answer by the policy alone, the rest of the time went by in the queue for its threads.
  if (response.source() == pb::POLICY && t.heuristic_ms() == 0) {
    double rest_ms = t.total_ms();
    for (const auto& [stage, ms] : out) rest_ms -= ms;
    out.emplace_back("wait", std::max(rest_ms, 0.0));
  }
  return out;
}

// Sets a counter to a count kept elsewhere.
void catch_up(Counter& counter, uint64_t count) {
  counter.Increment(static_cast<double>(count) - counter.Value());
}

}  // namespace

struct Metrics::Families {
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }

  prometheus::Registry registry;
  Family<Counter>& decisions =
      counter("yardmaster_decisions_total", "Decisions by model, source and reason.");
  Family<Histogram>& duration = prometheus::BuildHistogram()
                                    .Name("yardmaster_decision_duration_seconds")
                                    .Help("Seconds from request to response inside the server.")
                                    .Register(registry);
  Family<Histogram>& stages =
      prometheus::BuildHistogram()
          .Name("yardmaster_decision_stage_seconds")
          .Help(
              "Seconds of a decision by stage: queue (unread), read, wait (for a thread of the "
              "policy), policy, guard, heuristic.")
          .Register(registry);
  Family<Gauge>& queue_length =
      gauge("yardmaster_queue_length", "Work that no thread has begun yet, by queue.");
  Family<Gauge>& queue_limit =
      gauge("yardmaster_queue_limit", "Length at which a queue takes no more, by queue.");
  Counter& refused = counter("yardmaster_refused_requests_total",
                             "Requests refused because of an invalid snapshot.")
                         .Add({});
  Family<Counter>& denied = counter("yardmaster_unauthenticated_requests_total",
                                    "Requests refused for want of a valid token, by port.");
  Family<Gauge>& expiry = gauge("yardmaster_certificate_expiry_timestamp_seconds",
                                "Unix time at which the certificate in service expires.");
  Family<Counter>& certificates = counter("yardmaster_certificate_reloads_total",
                                          "Changes of the certificate's files, by result.");
  Family<Counter>& tokens =
      counter("yardmaster_token_reloads_total", "Changes of files of tokens, by result.");
  Family<Counter>& quarantined =
      counter("yardmaster_quarantined_records_total",
              "Records of snapshots that were set aside because they make no sense, by kind.");
  Family<Gauge>& connections = gauge("yardmaster_connections", "Open connections, by port.");
  Counter& turned_away =
      counter(
          "yardmaster_connections_turned_away_total",
          "Connections to the gRPC port that were closed at the limit or for want of descriptors.")
          .Add({});
  Gauge& pending =
      gauge("yardmaster_decisions_in_progress", "Requests without a response yet.").Add({});
  Gauge& stuck = gauge("yardmaster_hanging_policies",
                       "Policies still running after their request was answered.")
                     .Add({});
  Gauge& memories = gauge("yardmaster_policy_memories",
                          "Clusters and models of which the server remembers something.")
                        .Add({});
  Gauge& memory_bytes =
      gauge("yardmaster_policy_memory_bytes", "Size of all these memories in bytes.").Add({});
  Counter& rebuilt = counter("yardmaster_policy_memory_rebuilt_total",
                             "Answers of a policy which began without a memory.")
                         .Add({});
  Gauge& ready = gauge("yardmaster_ready", "1: accepting requests, 0: draining.").Add({});
  Family<Gauge>& serving =
      gauge("yardmaster_model_serving",
            "1: this model decides, 0: the fallback heuristic decides instead.");
  Family<Gauge>& breaker =
      gauge("yardmaster_breaker_state",
            "0: the model decides, 1: it failed too often, 2: it is on trial.");
  Counter& times_breakers_opened =
      counter("yardmaster_breaker_opened_total", "How often a model had failed too often.").Add({});
  Counter& repeated = counter("yardmaster_repeated_requests_total",
                              "Requests answered as an equal one with the same id was before.")
                          .Add({});
  Counter& state_copies =
      counter("yardmaster_state_copies_total", "Deltas for which a state had to be copied.")
          .Add({});
  Family<Counter>& reported =
      counter("yardmaster_reported_outcomes_total", "Ends of jobs that managers reported, by end.");
  Family<Gauge>& mode =
      gauge("yardmaster_model_mode", "1 for the mode of each model: on, off, shadow or canary.");
  Family<Counter>& shadows =
      counter("yardmaster_shadow_decisions_total",
              "Decisions of versions on trial beside the version that answers, by result.");
  Family<Gauge>& info = gauge("yardmaster_model_info", "Digest of the served model.");
  Family<Counter>& loads =
      counter("yardmaster_model_loads_total", "Model versions checked, by result.");
  Family<Counter>& log_records =
      counter("yardmaster_decision_log_records_total", "Records written to the decision log.");
  Family<Counter>& log_dropped = counter("yardmaster_decision_log_dropped_total",
                                         "Records missing from the decision log, by reason.");
  Family<Gauge>& log_bytes =
      gauge("yardmaster_decision_log_bytes", "Total size of the decision log's files in bytes.");
  Family<Gauge>& log_writing = gauge("yardmaster_decision_log_writing",
                                     "1: the last record was written, 0: writing it failed.");
  Family<Gauge>& drift_ratio =
      gauge("yardmaster_drift_ratio",
            "Mean job completion time under the winner of the last drift check, divided by that "
            "under the policy served then; 1: the served policy won.");
  Family<Gauge>& drift_time =
      gauge("yardmaster_drift_check_timestamp_seconds", "Unix time of the last drift check.");
  ProcessMetrics process{registry};
  Family<Counter>& extender_requests =
      counter("yardmaster_extender_requests_total",
              "Requests of kube-scheduler to the scheduler extender, by verb and HTTP status.");
  Family<Histogram>& extender_duration =
      prometheus::BuildHistogram()
          .Name("yardmaster_extender_duration_seconds")
          .Help("Seconds from the request of kube-scheduler to the answer, by verb.")
          .Register(registry);
  Counter& extender_unknown =
      counter("yardmaster_extender_unknown_nodes_total",
              "Nodes offered by kube-scheduler whose number of GPUs is unknown to the extender.")
          .Add({});
  Gauge& extender_waiting = gauge("yardmaster_extender_waiting_groups",
                                  "Groups of pods held back because the cluster lacks room.")
                                .Add({});
  Counter& extender_unsized =
      counter("yardmaster_extender_unsized_groups_total",
              "Requests for pods of a group whose size no label gives: they start one by one.")
          .Add({});
  Counter& extender_expired =
      counter("yardmaster_extender_expired_reservations_total",
              "Reservations for a group of pods that ended before all its pods had come.")
          .Add({});
  std::mutex text_mutex;
  Gauge* last_info = nullptr;
  std::string last_digest;
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->gauge("yardmaster_build_info", "Release and commit of this server.")
      .Add({{"version", std::string(release_version())}, {"commit", std::string(source_commit())}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::count_decision(const pb::DecideResponse& response, bool is_known) {
  const std::string model = is_known ? response.model() : "unknown";
  const std::string& source = pb::Source_Name(response.source());
  families_->decisions
      .Add({{"model", model}, {"source", source}, {"reason", pb::Reason_Name(response.reason())}})
      .Increment();
  families_->duration.Add({{"source", source}}, kSeconds)
      .Observe(response.timings().total_ms() * 1e-3);
  for (const auto& [stage, ms] : stages_of(response)) {
    families_->stages.Add({{"stage", stage}}, kSeconds).Observe(ms * 1e-3);
  }
  if (response.rebuilt() && response.source() == pb::POLICY) families_->rebuilt.Increment();
  for (const pb::Quarantined& one : response.quarantined()) {
    families_->quarantined.Add({{"record", pb::Quarantined::Record_Name(one.record())}})
        .Increment();
  }
}

void Metrics::count_reported_outcome(const pb::Outcome& outcome) {
  families_->reported.Add({{"end", pb::Outcome::End_Name(outcome.end())}}).Increment();
}

void Metrics::count_refused_request() { families_->refused.Increment(); }

void Metrics::count_denied_request(const std::string& port) {
  families_->denied.Add({{"port", port}}).Increment();
}

void Metrics::count_extender_answer(const std::string& verb, int code, double seconds) {
  families_->extender_requests.Add({{"verb", verb}, {"code", std::to_string(code)}}).Increment();
  families_->extender_duration.Add({{"verb", verb}}, kSeconds).Observe(seconds);
}

std::string Metrics::text(const Gauges& now) {
  Families& f = *families_;
  const std::lock_guard lock(f.text_mutex);
  f.pending.Set(now.pending);
  f.stuck.Set(now.stuck);
  for (const Engine::QueueStatus& queue : now.queues) {
    f.queue_length.Add({{"queue", queue.name}}).Set(queue.waiting);
    f.queue_limit.Add({{"queue", queue.name}}).Set(queue.limit);
  }
  f.process.update();
  f.memories.Set(static_cast<double>(now.memories));
  f.memory_bytes.Set(static_cast<double>(now.memory_bytes));
  f.ready.Set(now.ready ? 1 : 0);
  catch_up(f.extender_unknown, now.extender.unknown_nodes);
  catch_up(f.extender_unsized, now.extender.unsized_groups);
  catch_up(f.extender_expired, now.extender.expired_reservations);
  f.extender_waiting.Set(now.extender.waiting_groups);
  catch_up(f.times_breakers_opened, now.times_breakers_opened);
  f.connections.Add({{"port", "grpc"}}).Set(now.grpc_connections);
  f.connections.Add({{"port", "http"}}).Set(now.http_connections);
  catch_up(f.turned_away, now.turned_away);
  const auto reloads = [](Family<Counter>& of, const ReloadCounts& counts) {
    catch_up(of.Add({{"result", "loaded"}}), counts.loaded);
    catch_up(of.Add({{"result", "refused"}}), counts.refused);
  };
  if (now.credentials.certificate_expires_s != 0) {
    f.expiry.Add({}).Set(static_cast<double>(now.credentials.certificate_expires_s));
    reloads(f.certificates, now.credentials.certificates);
  }
  reloads(f.tokens, now.credentials.tokens);
  const ModelStore::ModelVersion& current = now.models.current;
  if (!current.name.empty()) {
    f.serving.Add({{"model", current.name}}).Set(current.model != nullptr ? 1 : 0);
    const auto loads = [&](const char* result) -> Counter& {
      return f.loads.Add({{"model", current.name}, {"result", result}});
    };
    f.breaker.Add({{"model", current.name}}).Set(now.breaker);
    catch_up(loads("loaded"), now.models.loads);
    catch_up(loads("refused"), now.models.refusals);
    if (f.last_info == nullptr || f.last_digest != current.digest) {
      if (f.last_info != nullptr) f.info.Remove(f.last_info);
      f.last_digest = current.digest;
      f.last_info = &f.info.Add({{"model", current.name}, {"digest", current.digest}});
      f.last_info->Set(1);
    }
  }
  catch_up(f.repeated, now.repeated);
  catch_up(f.state_copies, now.state_copies);
  for (const pb::ModelStatus& one : now.versions) {
    if (one.name().empty()) continue;
    for (const pb::Mode mode : {pb::MODE_ON, pb::MODE_OFF, pb::MODE_SHADOW, pb::MODE_CANARY}) {
      f.mode.Add({{"model", one.name()}, {"mode", mode_name(mode)}}).Set(mode == one.mode());
    }
    const auto shadow = [&](const char* result, uint64_t count) {
      // A new candidate begins at zero, which Prometheus takes for a restart of the server.
      Counter& of = f.shadows.Add({{"model", one.name()}, {"result", result}});
      if (static_cast<double>(count) >= of.Value()) return catch_up(of, count);
      f.shadows.Remove(&of);
      catch_up(f.shadows.Add({{"model", one.name()}, {"result", result}}), count);
    };
    shadow("same", one.shadow_same());
    shadow("different", one.shadow_different());
    shadow("failed", one.shadow_failed());
    shadow("dropped", one.shadow_dropped());
  }
  if (now.drift) {
    f.drift_ratio.Add({}).Set(winner_jct_ratio(*now.drift));
    f.drift_time.Add({}).Set(now.drift->unix_s());
  }
  if (now.log) {
    catch_up(f.log_records.Add({{"kind", "decision"}}), now.log->decisions);
    catch_up(f.log_records.Add({{"kind", "outcome"}}), now.log->outcomes);
    catch_up(f.log_records.Add({{"kind", "report"}}), now.log->reported);
    catch_up(f.log_dropped.Add({{"reason", "late"}}), now.log->late);
    catch_up(f.log_dropped.Add({{"reason", "disk"}}), now.log->refused);
    catch_up(f.log_dropped.Add({{"reason", "too_large"}}), now.log->too_large);
    f.log_bytes.Add({}).Set(static_cast<double>(now.log->bytes));
    f.log_writing.Add({}).Set(now.log->trouble.empty() ? 1 : 0);
  }
  return prometheus::TextSerializer().Serialize(f.registry.Collect());
}

}  // namespace yard
