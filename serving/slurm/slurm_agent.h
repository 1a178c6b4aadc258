// The agent that schedules jobs of a live Slurm cluster. Each step lists the cluster, asks the
// policy server and sends the resulting commands. The agent trusts each listing, not its memory.
//
//   `squeue`, `sinfo` -> Listing -> make_snapshot() -> Client::decide() -> SlurmCommander ->
//   `scontrol`.
//
// If the agent fails, the leases of jobs run out, which leaves the jobs to Slurm.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "serving/net/client.h"
#include "serving/slurm/act.h"
#include "serving/slurm/agent_metrics.h"
#include "serving/slurm/config.h"
#include "serving/slurm/ended_jobs.h"
#include "serving/slurm/gains.h"
#include "serving/slurm/gap_detector.h"
#include "serving/slurm/leader_lock.h"
#include "serving/slurm/run_times.h"
#include "serving/slurm/snapshot_of.h"

namespace yard::slurm {

struct SlurmAgentOptions {
  Config config;
  bool dry_run = false;
  // Called with one JSON object for each event: a decision, action, start or failure.
  std::function<void(const nlohmann::ordered_json&)> report;
};

class SlurmAgent {
 public:
  // Throws InputError for an address, fallback or lock folder that cannot be used.
  explicit SlurmAgent(SlurmAgentOptions options);
  ~SlurmAgent();

  // Lists the cluster once and acts on it. Failures of Slurm or the server throw no exception.
  void step();
  // Releases jobs that wait for the nodes of a decision, and sends the last outcomes of jobs. Call
  // stop() when the agent ends.
  void stop();

  double seconds_since_step() const;  // thread-safe
  const AgentMetrics& metrics() const { return metrics_; }
  ClientCounts client_counts() const { return client_.counts(); }  // thread-safe
  nlohmann::ordered_json dry_run_gains() const { return gains_.summary(); }

 private:
  struct JobBackoff {
    double for_s = 0;
    BootClock::time_point until;
    std::string reason;
  };

  bool renew_leadership();
  bool read_site();
  bool list(Listing& out);
  bool list_nodes(Listing& out);
  std::string why_forbidden();
  void settle(const Listing& listing);
  void note_starts(const Listing& listing);
  void report_ended(const Listing& listing);
  void report_registered(const std::string& server, const pb::RegisterResponse& answer);
  bool may_still_start(const SlurmJob& job, double pinned_s) const;
  bool resolved(const ActionInFlight& flight, const SlurmJob* job);
  void unpin_and_report(const SlurmJob& job, const char* why);
  bool in_any_scope(const SlurmJob& job) const;
  void serve(const Listing& listing, const std::string& partition);
  void carry_out(const pb::DecideResponse& answer, ClusterSnapshot& snapshot);
  // preempt() and start() return false if no further command may be sent.
  bool preempt(const SlurmJob& job, const std::string& decision);
  bool start(const pb::Action& action, const SlurmJob& job, ClusterSnapshot& snapshot,
             const std::string& decision);
  bool renew_leases(const ClusterSnapshot& snapshot);
  void avoid(const SlurmJob& job, const std::string& reason);
  std::unordered_map<std::string, std::string> jobs_in_backoff() const;
  void report_action(const char* verb, const std::string& job, const ActionResult& result,
                     nlohmann::ordered_json more = {});
  void report_failure(const std::string& what, const std::string& why);

  const SlurmAgentOptions options_;
  const Config& config_;
  AgentMetrics metrics_;
  ExecutionGapDetector detector_;
  std::unique_ptr<LeaderLock> lock_;
  SlurmCommander actor_;
  Client client_;
  DryRunGains gains_;

  SiteConfig site_;
  bool site_read_ = false, nodes_by_scontrol_ = false;
  BootClock::time_point site_at_, until_;  // until_: when actions on the listing expire
  std::atomic<BootClock::rep> stepped_ns_;
  double now_s_ = 0;  // Unix time of the listing
  int seen_gaps_ = 0;
  int64_t term_ = 0;
  InFlightJobs in_flight_;
  RunTimes run_times_;
  EndedJobs ended_;
  std::unordered_map<std::string, JobBackoff> avoided_;
  std::unordered_set<std::string> counted_;  // jobs whose start was reported
  bool first_listing_ = true;
  std::unordered_set<std::string> failures_, last_failures_;  // failures of this and the last step
};

}  // namespace yard::slurm
