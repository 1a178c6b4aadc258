#include "serving/slurm/govern.h"

#include <algorithm>

#include "serving/slurm/gate.h"

namespace yard::slurm {

JobShape shape_of(const SlurmJob& job, int node_gpus, std::string& reason) {
  if (job.per_node.has_value() == job.per_job.has_value()) {
    reason = job.per_node ? "gres" : "no_gpu";
    return {};
  }
  const GpuRequest& request = job.per_node ? *job.per_node : *job.per_job;
  JobShape shape{1, request.gpus, request.type};
  if (job.per_node) {
    shape.count = job.nodes;
    // Two of its nodes could otherwise be one for the policy.
    if (job.nodes > 1 && 2 * request.gpus <= node_gpus) reason = "small_share_of_several_nodes";
  } else if (request.gpus <= node_gpus) {
    if (job.nodes > 1) reason = "uneven";
  } else if (node_gpus < 1 || request.gpus % node_gpus != 0) {
    reason = "uneven";
  } else {
    // Whole nodes. Slurm itself raises the number of nodes to the fewest which have the GPUs.
    shape.count = request.gpus / node_gpus;
    shape.gpus = node_gpus;
    if (job.nodes > 1 && job.nodes != shape.count) reason = "uneven";
  }
  return reason.empty() ? shape : JobShape();
}

bool in_scope(const SlurmJob& job, const ScopeInputs& options) {
  // A list of partitions is in the scope of each, to be counted.
  const std::string partitions = "," + job.partition + ",";
  if (partitions.find("," + options.partition + ",") == std::string::npos) return false;
  const auto& accounts = options.config.accounts;
  return accounts.empty() || std::ranges::find(accounts, job.account) != accounts.end();
}

std::string why_left_to_slurm(const SlurmJob& job, int node_gpus, const ScopeInputs& options) {
  if (!job.not_understood.empty()) return job.not_understood;
  if (options.needs_lease && !has_lease(job)) return "no_lease";
  std::string reason;
  shape_of(job, node_gpus, reason);
  if (!reason.empty()) return reason;
  if (job.waits()) {
    if (job.reason.starts_with("JobHeld")) return "held";
    if (!job.required_nodes.empty() && !has_pin(job)) return "node_list";
    if (!has_lease(job) && job.eligible_s > options.now_s) return "begin_time";
    if (options.now_s - job.submit_s > options.config.release_after_s) return "waited_too_long";
    return "";
  }
  if (job.runs()) return job.held ? "" : "gres";
  if (job.completing) return "completing";
  return "state";  // suspended, configuring, and what later versions add
}

bool may_preempt(const SlurmJob& job, const Config& config, const SiteConfig& site) {
  return config.preempt && job.may_requeue &&
         (site.requeues.contains(job.partition) || site.qos_requeues.contains(job.qos));
}

}  // namespace yard::slurm
