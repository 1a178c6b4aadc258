#include "serving/slurm/agent_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <set>

namespace yard::slurm {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

struct AgentMetrics::Families {
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }

  prometheus::Registry registry;
  Family<Counter>& actions =
      counter("yardmaster_slurm_actions_total", "Commands to Slurm by action and outcome.");
  Family<Counter>& decisions =
      counter("yardmaster_slurm_decisions_total", "Decisions received, by source and reason.");
  Family<Counter>& commands =
      counter("yardmaster_slurm_commands_total", "Slurm commands run, by name and result.");
  Family<Histogram>& durations = prometheus::BuildHistogram()
                                     .Name("yardmaster_slurm_command_duration_seconds")
                                     .Help("Seconds that Slurm commands took, by name.")
                                     .Register(registry);
  Family<Counter>& starts =
      counter("yardmaster_slurm_starts_total",
              "Starts of jobs with a lease, by the agent or by Slurm itself.");
  Counter& gaps = counter("yardmaster_slurm_clock_gaps_total",
                          "Times at which the agent found that it had not run for over a second.")
                      .Add({});
  Counter& failed_listings =
      counter("yardmaster_slurm_failed_listings_total", "Looks at the cluster that failed.")
          .Add({});
  Gauge& leader = gauge("yardmaster_slurm_leader", "1 if this agent leads, else 0.").Add({});
  Family<Gauge>& waiting = gauge("yardmaster_slurm_waiting_jobs", "Waiting jobs decided on.");
  Family<Gauge>& held =
      gauge("yardmaster_slurm_held_gpus", "GPUs that decisions may not use: others hold them.");
  Family<Gauge>& left =
      gauge("yardmaster_slurm_left_jobs", "Jobs in scope that are left to Slurm, by reason.");
  Family<Counter>& requests = counter("yardmaster_slurm_requests_total",
                                      "Snapshots and deltas sent to policy servers, by kind.");
  Counter& snapshots = requests.Add({{"kind", "snapshot"}});
  Counter& deltas = requests.Add({{"kind", "delta"}});
  Counter& bytes = counter("yardmaster_slurm_request_bytes_total",
                           "Bytes of the snapshots and deltas sent to policy servers.")
                       .Add({});
  Family<Counter>& outcomes =
      counter("yardmaster_slurm_outcomes_total", "Reported ends of jobs, by result.");
  Counter& accepted = outcomes.Add({{"result", "accepted"}});
  Counter& refused = outcomes.Add({{"result", "refused"}});
  Counter& dropped = outcomes.Add({{"result", "dropped"}});
  Gauge& unsent = gauge("yardmaster_slurm_unsent_outcomes",
                        "Ends of jobs that no policy server has received yet.")
                      .Add({});
  std::mutex mutex;
  std::set<std::pair<std::string, std::string>> reasons;  // by partition
};

AgentMetrics::AgentMetrics() : families_(std::make_unique<Families>()) {}
AgentMetrics::~AgentMetrics() = default;

void AgentMetrics::count_action(const std::string& action, const std::string& outcome) {
  families_->actions.Add({{"action", action}, {"outcome", outcome}}).Increment();
}

void AgentMetrics::count_decision(const std::string& source, const std::string& reason) {
  families_->decisions.Add({{"source", source}, {"reason", reason}}).Increment();
}

void AgentMetrics::ran(const std::string& command, const std::string& result, double elapsed_s) {
  static const Histogram::BucketBoundaries kSeconds = {0.01, 0.025, 0.05, 0.1, 0.25,
                                                       0.5,  1,     2.5,  5};
  families_->commands.Add({{"command", command}, {"result", result}}).Increment();
  families_->durations.Add({{"command", command}}, kSeconds).Observe(elapsed_s);
}

void AgentMetrics::count_start(const std::string& by) {
  families_->starts.Add({{"by", by}}).Increment();
}
void AgentMetrics::gap() { families_->gaps.Increment(); }
void AgentMetrics::count_failed_listing() { families_->failed_listings.Increment(); }
void AgentMetrics::set_leader(bool leads) { families_->leader.Set(leads ? 1 : 0); }

void AgentMetrics::set_client_counts(const ClientCounts& counts) {
  const auto set = [](Counter& counter, uint64_t value) {
    counter.Increment(static_cast<double>(value) - counter.Value());
  };
  set(families_->snapshots, counts.snapshots);
  set(families_->deltas, counts.deltas);
  set(families_->bytes, counts.bytes);
  set(families_->accepted, counts.outcomes_accepted);
  set(families_->refused, counts.outcomes_refused);
  set(families_->dropped, counts.outcomes_dropped);
  families_->unsent.Set(static_cast<double>(counts.outcomes_waiting));
}

void AgentMetrics::set_queue(const std::string& partition, int waiting, int held_gpus,
                             const std::map<std::string, int>& left) {
  families_->waiting.Add({{"partition", partition}}).Set(waiting);
  families_->held.Add({{"partition", partition}}).Set(held_gpus);
  const std::lock_guard lock(families_->mutex);
  for (const auto& [reason, count] : left) families_->reasons.insert({partition, reason});
  for (const auto& [of, reason] : families_->reasons) {
    if (of != partition) continue;
    const auto now = left.find(reason);
    families_->left.Add({{"partition", partition}, {"reason", reason}})
        .Set(now == left.end() ? 0 : now->second);
  }
}

std::string AgentMetrics::text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace yard::slurm
