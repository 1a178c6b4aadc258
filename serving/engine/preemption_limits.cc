#include "serving/engine/preemption_limits.h"

#include <algorithm>
#include <cmath>

#include "serving/engine/state_store.h"

namespace yard {
namespace {

constexpr double kHour = 3600;
constexpr size_t kMostRemembered = 1 << 16;  // preemptions in a cluster

bool holds_gpus(const pb::Job& job) {
  return job.state() == pb::STARTING || job.state() == pb::RUNNING;
}

// How long the present run has lasted. Without the time of its start, all of the job's run time
// counts.
double run_s(const pb::Job& job, double now_s) {
  if (job.state() == pb::STARTING) return 0;
  return job.has_since_s() ? now_s - job.since_s() : job.attained_s();
}

}  // namespace

PreemptionLimits::JobRun PreemptionLimits::run_of(const pb::Job& job) {
  return {uint64_t{job.preemptions()} + job.starts() + job.restart(), job.since_s()};
}

PreemptionLimits::Cluster& PreemptionLimits::cluster_of(const pb::DecideRequest& request,
                                                        const std::string& sender) {
  const std::string name = cluster_key(request, sender);
  const auto it = std::ranges::find(clusters_, name, &Cluster::name);
  if (it != clusters_.end()) {
    clusters_.splice(clusters_.begin(), clusters_, it);
  } else {
    clusters_.push_front({.name = name, .last = {}, .jobs = {}});
    if (clusters_.size() > max_clusters_) clusters_.pop_back();
  }
  forget_old_preemptions(clusters_.front(), request.time_s());
  return clusters_.front();
}

void PreemptionLimits::forget_old_preemptions(Cluster& cluster, double now_s) const {
  // Requests may come out of order. If the clock was set back, what is known is of another time.
  const auto is_over = [&](const Preemption& one) { return std::abs(now_s - one.at_s) >= kHour; };
  while (!cluster.last.empty() &&
         (is_over(cluster.last.front()) || cluster.last.size() > kMostRemembered)) {
    const auto job = cluster.jobs.find(cluster.last.front().job);
    if (--job->second.count == 0) cluster.jobs.erase(job);
    cluster.last.pop_front();
  }
}

PreemptionBounds PreemptionLimits::bounds_of(const pb::DecideRequest& request,
                                             const std::string& sender) {
  const double now_s = request.time_s();
  PreemptionBounds out;
  const std::lock_guard lock(mutex_);
  Cluster& cluster = cluster_of(request, sender);
  if (options_.gpu_share < 1) {
    double gpus = 0;
    int64_t used = 0;
    for (const pb::Node& node : request.nodes()) gpus += node.gpus();
    for (const Preemption& one : cluster.last) {
      if (one.at_s > now_s - options_.interval_s) used += one.gpus;
    }
    const double left = options_.gpu_share * gpus - static_cast<double>(used);
    out.max_gpus = std::max<int64_t>(0, std::llround(std::floor(left)));
    if (used == 0 && options_.gpu_share > 0) out.max_gpus = std::max<int64_t>(1, out.max_gpus);
  }
  for (const pb::Job& job : request.jobs()) {
    int count = 0;
    if (const auto it = cluster.jobs.find(job.id()); it != cluster.jobs.end()) {
      JobPreemptions& known = it->second;
      known.is_carried_out |= !holds_gpus(job) || known.run != run_of(job);
      if (!known.is_carried_out) {
        out.preempting.insert(job.id());
        continue;
      }
      count = known.count;
    }
    if (!holds_gpus(job)) continue;
    const bool is_new = run_s(job, now_s) < options_.min_run_s;
    if (is_new || count >= options_.per_job) out.pinned.insert(job.id());
  }
  return out;
}

void PreemptionLimits::count(const pb::DecideRequest& request, const std::string& sender,
                             const pb::DecideResponse& response) {
  const auto preempts = [](const pb::Action& action) { return action.verb() == pb::PREEMPT; };
  if (std::ranges::none_of(response.actions(), preempts)) return;
  std::unordered_map<std::string_view, const pb::Job*> jobs;
  for (const pb::Job& job : request.jobs()) jobs.emplace(job.id(), &job);
  const std::lock_guard lock(mutex_);
  Cluster& cluster = cluster_of(request, sender);
  for (const pb::Action& action : response.actions()) {
    if (!preempts(action)) continue;
    const pb::Job& job = *jobs.at(action.job());
    JobPreemptions& known = cluster.jobs[job.id()];
    if (known.count > 0 && !known.is_carried_out) continue;
    known = {.count = known.count + 1, .is_carried_out = false, .run = run_of(job)};
    cluster.last.push_back({request.time_s(), gpus_held(job), job.id()});
  }
}

}  // namespace yard
