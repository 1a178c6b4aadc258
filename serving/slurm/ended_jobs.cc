#include "serving/slurm/ended_jobs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "serving/slurm/gate.h"

namespace yard::slurm {
namespace {

pb::Outcome::End end_of(const std::string& state) {
  static const std::map<std::string, pb::Outcome::End> kEnds = {
      {"COMPLETED", pb::Outcome::COMPLETED},    {"CANCELLED", pb::Outcome::CANCELLED},
      {"FAILED", pb::Outcome::FAILED},          {"OUT_OF_MEMORY", pb::Outcome::FAILED},
      {"LAUNCH_FAILED", pb::Outcome::FAILED},   {"RECONFIG_FAIL", pb::Outcome::FAILED},
      {"TIMEOUT", pb::Outcome::TIME_LIMIT},     {"DEADLINE", pb::Outcome::TIME_LIMIT},
      {"NODE_FAIL", pb::Outcome::NODE_FAILURE}, {"BOOT_FAIL", pb::Outcome::NODE_FAILURE},
      {"PREEMPTED", pb::Outcome::PREEMPTED}};
  const auto found = kEnds.find(state);
  return found == kEnds.end() ? pb::Outcome::END_UNSPECIFIED : found->second;
}

}  // namespace

std::vector<const SlurmJob*> EndedJobs::update(const Listing& listing) {
  std::vector<const SlurmJob*> out;
  std::unordered_set<std::string> now;
  for (const SlurmJob& job : listing.ended) {
    // An id may be used again by a later job.
    const std::string run = job.run() + "/" + std::to_string(job.end_s);
    if (now.insert(run).second && !seen_.contains(run)) out.push_back(&job);
  }
  seen_ = std::move(now);
  return out;
}

std::optional<pb::Outcome> outcome_of(const SlurmJob& job, std::optional<double> before_s) {
  pb::Outcome out;
  out.set_job(job.id);
  out.set_restart(static_cast<uint32_t>(job.restarts));
  out.set_end(end_of(job.state));
  if (out.end() == pb::Outcome::END_UNSPECIFIED || job.end_s <= 0) return std::nullopt;
  const bool ran = !job.node_list.empty() && job.start_s > 0 && job.start_s <= job.end_s;
  if (ran) out.set_start_s(job.start_s);
  out.set_end_s(job.end_s);
  if (before_s) out.set_run_s(*before_s + (ran ? job.end_s - job.start_s : 0));
  out.set_decision_id(decision_of(job));
  return out;
}

}  // namespace yard::slurm
