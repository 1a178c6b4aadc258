#include "serving/snapshot/starvation.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace yard {
namespace {

bool lists(const google::protobuf::RepeatedPtrField<std::string>& names, const std::string& name) {
  return std::ranges::count(names, name) > 0;
}

bool may_use(const pb::Job& job, const pb::Node& node) {
  return (job.gpu_types().empty() || lists(job.gpu_types(), node.gpu_type())) &&
         (job.required_nodes().empty() || lists(job.required_nodes(), node.name())) &&
         !lists(job.excluded_nodes(), node.name()) &&
         (node.tenant().empty() || node.tenant() == job.tenant()) &&
         (node.partitions().empty() || lists(node.partitions(), job.partition()));
}

bool waits_for_something_else(const pb::Job& job, const pb::DecideRequest& request) {
  return !job.after().empty() ||
         std::ranges::any_of(request.tenants(), [&](const pb::Tenant& tenant) {
           return tenant.name() == job.tenant() && tenant.has_limit_gpus();
         });
}

bool has_room_if_empty(const pb::Job& job, const pb::DecideRequest& request) {
  int64_t gpus = 0;
  for (const pb::Node& node : request.nodes()) {
    if (may_use(job, node)) gpus += static_cast<int64_t>(node.gpus()) - node.down_size();
  }
  return gpus >= job.gpus();
}

bool may_start_alone(const pb::Job& job, const pb::DecideRequest& request) {
  return !waits_for_something_else(job, request) && has_room_if_empty(job, request);
}

// Indices of the waiting jobs that were not set aside.
std::vector<int32_t> waiting(const Snapshot& snapshot) {
  std::vector<int32_t> out;
  for (const LiveJob& one : snapshot.live_jobs()) {
    const int32_t entry = snapshot.request_index(one.job);
    if (entry != kNone && snapshot.waits(entry)) out.push_back(entry);
  }
  return out;
}

}  // namespace

PolicyResult run_without_blocked_jobs(const Policy& heuristic, const Snapshot& snapshot,
                                      const pb::DecideRequest& request) {
  const pb::DecideRequest others = without_blocked_jobs(snapshot, request);
  PolicyResult out = run_policy(heuristic, Snapshot(others, snapshot.bounds()), others);
  list_quarantined(snapshot, out.response);
  return out;
}

double wait_s(const pb::Job& job, double now_s) {
  return now_s - (job.has_since_s() ? job.since_s() : job.submit_s());
}

const pb::Job* starved_job(const Snapshot& snapshot, const pb::DecideRequest& request,
                           double max_wait_s) {
  if (max_wait_s <= 0) return nullptr;
  const double now_s = request.time_s();
  const pb::Job* longest = nullptr;
  for (const int32_t entry : waiting(snapshot)) {
    const pb::Job& job = request.jobs(entry);
    if (wait_s(job, now_s) <= max_wait_s) continue;
    if (longest != nullptr && wait_s(job, now_s) <= wait_s(*longest, now_s)) continue;
    if (may_start_alone(job, request)) longest = &job;
  }
  return longest;
}

pb::DecideRequest without_blocked_jobs(const Snapshot& snapshot, const pb::DecideRequest& request) {
  std::unordered_set<int32_t> kept;
  for (const int32_t entry : waiting(snapshot)) {
    if (may_start_alone(request.jobs(entry), request)) kept.insert(entry);
  }
  pb::DecideRequest out = request;
  out.clear_jobs();
  for (int32_t entry = 0; entry < request.jobs_size(); ++entry) {
    if (request.jobs(entry).state() != pb::WAITING || kept.contains(entry)) {
      *out.add_jobs() = request.jobs(entry);
    }
  }
  return out;
}

}  // namespace yard
