#include "serving/net/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

#include "env/base/core/version.h"

namespace yard {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

const Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                              0.01,   0.025,   0.05,   0.1,   0.25,   1};

// Sets a counter to a count kept elsewhere.
void catch_up(Counter& counter, uint64_t count) {
  counter.Increment(static_cast<double>(count) - counter.Value());
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  Family<Counter>& decisions =
      prometheus::BuildCounter()
          .Name("yardmaster_decisions_total")
          .Help("Decisions by model, source and reason for not using the policy.")
          .Register(registry);
  Family<Histogram>& duration = prometheus::BuildHistogram()
                                    .Name("yardmaster_decision_duration_seconds")
                                    .Help("Seconds from request to response inside the server.")
                                    .Register(registry);
  Counter& refused = prometheus::BuildCounter()
                         .Name("yardmaster_refused_requests_total")
                         .Help("Requests refused because of an invalid snapshot.")
                         .Register(registry)
                         .Add({});
  Gauge& pending = prometheus::BuildGauge()
                       .Name("yardmaster_decisions_in_progress")
                       .Help("Requests without a response yet.")
                       .Register(registry)
                       .Add({});
  Gauge& stuck = prometheus::BuildGauge()
                     .Name("yardmaster_hanging_policies")
                     .Help("Policies still running after their request was answered.")
                     .Register(registry)
                     .Add({});
  Gauge& ready = prometheus::BuildGauge()
                     .Name("yardmaster_ready")
                     .Help("1: accepting requests, 0: draining.")
                     .Register(registry)
                     .Add({});
  Family<Gauge>& serving =
      prometheus::BuildGauge()
          .Name("yardmaster_model_serving")
          .Help("1: this model decides, 0: the fallback heuristic decides instead.")
          .Register(registry);
  Family<Gauge>& info = prometheus::BuildGauge()
                            .Name("yardmaster_model_info")
                            .Help("Digest of the served model.")
                            .Register(registry);
  Family<Counter>& loads = prometheus::BuildCounter()
                               .Name("yardmaster_model_loads_total")
                               .Help("Model versions checked, by result.")
                               .Register(registry);
  Family<Counter>& log_records = prometheus::BuildCounter()
                                     .Name("yardmaster_decision_log_records_total")
                                     .Help("Records written to the decision log.")
                                     .Register(registry);
  Family<Counter>& log_dropped = prometheus::BuildCounter()
                                     .Name("yardmaster_decision_log_dropped_total")
                                     .Help("Records missing from the decision log, by reason.")
                                     .Register(registry);
  Family<Gauge>& log_bytes = prometheus::BuildGauge()
                                 .Name("yardmaster_decision_log_bytes")
                                 .Help("Total size of the decision log's files in bytes.")
                                 .Register(registry);
  Family<Gauge>& log_writing = prometheus::BuildGauge()
                                   .Name("yardmaster_decision_log_writing")
                                   .Help("1: the last record was written, 0: writing it failed.")
                                   .Register(registry);
  std::mutex text_mutex;
  Gauge* last_info = nullptr;
  std::string last_digest;
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  prometheus::BuildGauge()
      .Name("yardmaster_build_info")
      .Help("Release and commit of this server.")
      .Register(families_->registry)
      .Add({{"version", std::string(release())}, {"commit", std::string(commit())}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::decided(const pb::DecideResponse& response, const std::string& known) {
  const std::string model = response.model() == known ? known : "unknown";
  const std::string& source = pb::Source_Name(response.source());
  families_->decisions
      .Add({{"model", model}, {"source", source}, {"reason", pb::Reason_Name(response.reason())}})
      .Increment();
  families_->duration.Add({{"source", source}}, kSeconds)
      .Observe(response.timings().total_ms() * 1e-3);
}

void Metrics::refused_request() { families_->refused.Increment(); }

std::string Metrics::text(const Gauges& now) {
  Families& f = *families_;
  const std::lock_guard lock(f.text_mutex);
  f.pending.Set(now.pending);
  f.stuck.Set(now.stuck);
  f.ready.Set(now.ready ? 1 : 0);
  const ModelStore::Current& current = now.models.current;
  if (!current.name.empty()) {
    f.serving.Add({{"model", current.name}}).Set(current.model != nullptr ? 1 : 0);
    const auto loads = [&](const char* result) -> Counter& {
      return f.loads.Add({{"model", current.name}, {"result", result}});
    };
    catch_up(loads("loaded"), now.models.loads);
    catch_up(loads("refused"), now.models.refusals);
    if (f.last_info == nullptr || f.last_digest != current.digest) {
      if (f.last_info != nullptr) f.info.Remove(f.last_info);
      f.last_digest = current.digest;
      f.last_info = &f.info.Add({{"model", current.name}, {"digest", current.digest}});
      f.last_info->Set(1);
    }
  }
  if (now.log) {
    catch_up(f.log_records.Add({{"kind", "decision"}}), now.log->decisions);
    catch_up(f.log_records.Add({{"kind", "outcome"}}), now.log->outcomes);
    catch_up(f.log_dropped.Add({{"reason", "late"}}), now.log->late);
    catch_up(f.log_dropped.Add({{"reason", "disk"}}), now.log->refused);
    catch_up(f.log_dropped.Add({{"reason", "too_large"}}), now.log->too_large);
    f.log_bytes.Add({}).Set(static_cast<double>(now.log->bytes));
    f.log_writing.Add({}).Set(now.log->trouble.empty() ? 1 : 0);
  }
  return prometheus::TextSerializer().Serialize(f.registry.Collect());
}

}  // namespace yard
