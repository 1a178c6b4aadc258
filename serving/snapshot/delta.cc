#include "serving/snapshot/delta.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "env/base/core/error.h"
#include "serving/snapshot/quarantine.h"

namespace yard {
namespace {

const std::string& name_of(const pb::Node& node) { return node.name(); }
const std::string& id_of(const pb::Job& job) { return job.id(); }

// Lets running jobs run on for a time.
class RunOn {
 public:
  RunOn(const pb::DecideRequest& cluster, double seconds) : seconds_(std::max(seconds, 0.0)) {
    std::unordered_map<std::string_view, double> speeds;
    for (const pb::GpuType& type : cluster.gpu_types()) speeds[type.name()] = type.speed();
    for (const pb::Node& node : cluster.nodes()) {
      const auto speed = speeds.find(node.gpu_type());
      if (speed != speeds.end() && speed->second != 1) speed_of_[node.name()] = speed->second;
    }
  }

  void operator()(pb::Job& job) const {
    if (job.state() != pb::RUNNING) return;
    job.set_attained_s(job.attained_s() + seconds_);
    if (job.has_worked_s()) job.set_worked_s(job.worked_s() + seconds_ * rate_of(job));
  }
  void operator()(pb::Node&) const {}

 private:
  // As fast as its slowest GPU, and with the share of its first group's tasks that it has.
  double rate_of(const pb::Job& job) const {
    double slowest = 0, tasks = 0;
    for (const pb::Piece& piece : job.placement()) {
      if (piece.group() == 0) tasks += piece.tasks();
      if (piece.gpus() == 0) continue;
      const auto it = speed_of_.find(piece.node());
      const double speed = it == speed_of_.end() ? 1 : it->second;
      if (slowest == 0 || speed < slowest) slowest = speed;
    }
    const double asked = job.groups_size() == 0 ? 0 : job.groups(0).count();
    return (slowest == 0 ? 1 : slowest) * (asked > 0 && tasks > 0 ? tasks / asked : 1);
  }

  double seconds_;
  std::unordered_map<std::string_view, double> speed_of_;  // of nodes, where it is not 1
};

// Appends `before` to `out`, without those removed and with those replaced by `changes`, then the
// new ones. `key_of` returns a name or id; records without one are never the same.
template <class Records, class KeyOf>
void merge(const char* what, const Records& before, const Records& changes,
           const google::protobuf::RepeatedPtrField<std::string>& removed, KeyOf key_of,
           const RunOn& run_on, Records& out) {
  const std::unordered_set<std::string_view> gone(removed.begin(), removed.end());
  std::unordered_map<std::string_view, const typename Records::value_type*> changed;
  changed.reserve(static_cast<size_t>(changes.size()));
  for (const auto& one : changes) {
    const std::string& key = key_of(one);
    if (key.empty() || changed.emplace(key, &one).second) continue;
    throw InputError(std::string(what) + " '" + shortened(key) + "'", "each once in a delta",
                     "a duplicate");
  }
  out.Reserve(before.size() + changes.size());
  std::unordered_set<std::string_view> replaced;
  for (const auto& one : before) {
    const std::string& key = key_of(one);
    if (gone.contains(key)) continue;
    const auto it = changed.find(key);
    if (it != changed.end()) replaced.insert(key);
    *out.Add() = it == changed.end() ? one : *it->second;
    if (it == changed.end()) run_on(*out.rbegin());
  }
  for (const auto& one : changes) {
    if (!replaced.contains(key_of(one))) *out.Add() = one;
  }
}

}  // namespace

std::shared_ptr<pb::DecideRequest> apply_delta(const pb::DecideRequest& base,
                                               const pb::DecideRequest& delta) {
  auto out = std::make_shared<pb::DecideRequest>();
  out->set_request_id(delta.request_id());
  out->set_model(delta.model());
  out->set_time_s(delta.time_s());
  out->set_cluster(delta.cluster());
  out->set_budget_ms(delta.budget_ms());
  *out->mutable_allowed() = delta.allowed();
  out->set_state_version(delta.state_version());
  if (delta.has_age_s()) out->set_age_s(delta.age_s());
  if (delta.has_epoch()) out->set_epoch(delta.epoch());
  if (delta.has_max_preempted_gpus()) out->set_max_preempted_gpus(delta.max_preempted_gpus());
  if (delta.has_max_starts()) out->set_max_starts(delta.max_starts());
  *out->mutable_gpu_types() = delta.gpu_types_size() > 0 ? delta.gpu_types() : base.gpu_types();
  *out->mutable_tenants() = delta.tenants_size() > 0 ? delta.tenants() : base.tenants();
  if (delta.has_costs() || base.has_costs()) {
    *out->mutable_costs() = delta.has_costs() ? delta.costs() : base.costs();
  }
  const RunOn run_on(base, delta.time_s() - base.time_s());
  merge("nodes", base.nodes(), delta.nodes(), delta.removed_nodes(), name_of, run_on,
        *out->mutable_nodes());
  merge("jobs", base.jobs(), delta.jobs(), delta.removed_jobs(), id_of, run_on,
        *out->mutable_jobs());
  const int kept = std::clamp(kMaxKeptFinished - delta.finished_size(), 0, base.finished_size());
  for (int i = base.finished_size() - kept; i < base.finished_size(); ++i) {
    *out->add_finished() = base.finished(i);
  }
  out->mutable_finished()->MergeFrom(delta.finished());
  return out;
}

namespace {

constexpr double kSameSeconds = 5e-7;  // times are read as whole microseconds

void round_alike(const pb::Job& exact, pb::Job& job) {
  if (std::abs(job.attained_s() - exact.attained_s()) < kSameSeconds) {
    job.set_attained_s(exact.attained_s());
  }
  if (job.has_worked_s() && exact.has_worked_s() &&
      std::abs(job.worked_s() - exact.worked_s()) < kSameSeconds) {
    job.set_worked_s(exact.worked_s());
  }
}
void round_alike(const pb::Node&, pb::Node&) {}

// Adds what is not as `before` says to `changes`, and what is gone to `removed`.
template <class Records, class KeyOf>
void compare(const Records& before, const Records& after, KeyOf key_of, const RunOn& run_on,
             Records& changes, google::protobuf::RepeatedPtrField<std::string>& removed) {
  std::unordered_map<std::string_view, const typename Records::value_type*> known;
  for (const auto& one : before) known.emplace(key_of(one), &one);
  for (const auto& one : after) {
    const auto it = known.find(key_of(one));
    if (it == known.end()) {
      *changes.Add() = one;
      continue;
    }
    auto expected = *it->second;
    known.erase(it);
    run_on(expected);
    round_alike(one, expected);
    if (expected.SerializeAsString() != one.SerializeAsString()) *changes.Add() = one;
  }
  for (const auto& one : before) {
    if (known.contains(key_of(one))) *removed.Add() = key_of(one);
  }
}

}  // namespace

pb::DecideRequest delta_between(const pb::DecideRequest& before, const pb::DecideRequest& after) {
  pb::DecideRequest out;
  out.set_request_id(after.request_id());
  out.set_model(after.model());
  out.set_time_s(after.time_s());
  out.set_cluster(after.cluster());
  out.set_budget_ms(after.budget_ms());
  *out.mutable_allowed() = after.allowed();
  if (after.has_age_s()) out.set_age_s(after.age_s());
  if (after.has_epoch()) out.set_epoch(after.epoch());
  if (after.has_max_preempted_gpus()) out.set_max_preempted_gpus(after.max_preempted_gpus());
  if (after.has_max_starts()) out.set_max_starts(after.max_starts());
  out.set_state_version(after.state_version());
  out.set_base_version(before.state_version());
  const RunOn run_on(before, after.time_s() - before.time_s());
  compare(before.nodes(), after.nodes(), name_of, run_on, *out.mutable_nodes(),
          *out.mutable_removed_nodes());
  compare(before.jobs(), after.jobs(), id_of, run_on, *out.mutable_jobs(),
          *out.mutable_removed_jobs());
  *out.mutable_gpu_types() = after.gpu_types();
  *out.mutable_tenants() = after.tenants();
  if (after.has_costs()) *out.mutable_costs() = after.costs();
  *out.mutable_finished() = after.finished();
  return out;
}

}  // namespace yard
