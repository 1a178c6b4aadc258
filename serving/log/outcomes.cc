#include "serving/log/outcomes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace yard {
namespace {

constexpr size_t kMaxClusters = 64;  // beyond it, the least recently seen is dropped

// The largest reordering of answers. A clock further back was set back.
constexpr double kMaxReorderS = 60;

// Times have a resolution of microseconds.
constexpr double kTick = 1e-6;

bool same_cluster(const pb::DecideRequest& a, const pb::DecideRequest& b) {
  if (a.cluster() != b.cluster()) return false;
  if (a.nodes_size() > 0 && b.nodes_size() > 0 && a.nodes(0).name() == b.nodes(0).name()) {
    return true;
  }
  std::unordered_set<std::string_view> names;
  for (const pb::Node& node : a.nodes()) names.insert(node.name());
  return std::ranges::any_of(b.nodes(),
                             [&](const pb::Node& node) { return names.contains(node.name()); });
}

// Finished jobs may lack an id. They are then matched by the other fields both messages have.
using JobKey = std::tuple<std::string_view, std::string_view, uint32_t, double>;

template <class AnyJob>
JobKey job_key(const AnyJob& job) {
  return {job.user(), job.name(), job.gpus(), job.submit_s()};
}

// The finished jobs of a snapshot which ended after another snapshot. Each is returned once.
class FinishedJobs {
 public:
  FinishedJobs(const pb::DecideRequest& request, double after_s) {
    for (const pb::FinishedJob& job : request.finished()) {
      if (job.end_s() < after_s) continue;
      if (job.id().empty()) {
        by_key_[job_key(job)].push_back(&job);
      } else {
        by_id_[job.id()] = &job;
      }
    }
    for (auto& [who, jobs] : by_key_) {
      std::ranges::sort(jobs, {}, [](const pb::FinishedJob* job) { return job->run_s(); });
    }
  }

  // Returns null if no finished job matches. Among equal matches, returns the longest: call it for
  // jobs in descending order of run time.
  const pb::FinishedJob* take(const pb::Job& job) {
    if (const auto it = by_id_.find(job.id()); it != by_id_.end()) return it->second;
    const auto it = by_key_.find(job_key(job));
    if (it == by_key_.end() || it->second.empty()) return nullptr;
    const pb::FinishedJob* longest = it->second.back();
    if (longest->run_s() < job.attained_s() - kTick) return nullptr;
    it->second.pop_back();
    return longest;
  }

 private:
  std::unordered_map<std::string_view, const pb::FinishedJob*> by_id_;
  std::map<JobKey, std::vector<const pb::FinishedJob*>> by_key_;
};

pb::LoggedOutcome outcome_of(const pb::Job& job, const pb::DecideRequest& last,
                             const pb::DecideRequest& now, const pb::FinishedJob* finished) {
  pb::LoggedOutcome out;
  out.set_end(finished != nullptr ? pb::LoggedOutcome::FINISHED : pb::LoggedOutcome::GONE);
  *out.mutable_job() = job;
  out.set_seen_s(last.time_s());
  out.set_missed_s(now.time_s());
  out.set_cluster(now.cluster());
  if (finished != nullptr) {
    out.set_end_s(finished->end_s());
    out.set_run_s(finished->run_s());
    out.set_max_run_s(finished->run_s());
  } else {
    out.set_run_s(job.attained_s());
    out.set_max_run_s(job.attained_s() + now.time_s() - last.time_s());
  }
  return out;
}

}  // namespace

JobOutcomeTracker::Cluster& JobOutcomeTracker::cluster_of(const pb::DecideRequest& request) {
  const auto known = std::ranges::find_if(clusters_, [&](const Cluster& cluster) {
    return cluster.last == nullptr || same_cluster(*cluster.last, request);
  });
  if (known != clusters_.end()) {
    clusters_.splice(clusters_.begin(), clusters_, known);
  } else {
    clusters_.emplace_front();
    if (clusters_.size() > kMaxClusters) clusters_.pop_back();
  }
  return clusters_.front();
}

std::vector<pb::LoggedOutcome> JobOutcomeTracker::update(
    std::shared_ptr<const pb::DecideRequest> request, const pb::DecideResponse& response) {
  Cluster& cluster = cluster_of(*request);
  std::vector<pb::LoggedOutcome> out;
  const double ahead_s = cluster.last == nullptr ? 0 : request->time_s() - cluster.last->time_s();
  if (ahead_s >= 0 || ahead_s < -kMaxReorderS) {
    const auto last = std::exchange(cluster.last, std::move(request));
    if (last != nullptr && ahead_s >= 0) out = cluster.compare(*last);
  }
  for (const pb::Action& action : response.actions()) {
    if (action.verb() == pb::START) cluster.started_by[action.job()] = response.decision_id();
  }
  return out;
}

std::vector<pb::LoggedOutcome> JobOutcomeTracker::Cluster::compare(
    const pb::DecideRequest& before) {
  const pb::DecideRequest& now = *last;
  std::unordered_map<std::string_view, double> here;  // id -> submission
  for (const pb::Job& job : now.jobs()) here[job.id()] = job.submit_s();
  std::vector<const pb::Job*> missed;
  for (const pb::Job& job : before.jobs()) {
    const auto it = here.find(job.id());
    // A reused id is another job.
    if (it == here.end() || it->second != job.submit_s()) missed.push_back(&job);
  }
  std::ranges::stable_sort(missed, std::greater<>(), &pb::Job::attained_s);
  FinishedJobs ends(now, before.time_s());
  std::vector<pb::LoggedOutcome> out;
  for (const pb::Job* job : missed) {
    out.push_back(outcome_of(*job, before, now, ends.take(*job)));
    const auto by = started_by.find(job->id());
    if (by != started_by.end()) out.back().set_started_by(by->second);
  }
  // Also removes jobs which were started and ended between two snapshots.
  std::erase_if(started_by, [&](const auto& entry) { return !here.contains(entry.first); });
  return out;
}

}  // namespace yard
