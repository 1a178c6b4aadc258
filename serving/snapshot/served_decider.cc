#include "serving/snapshot/served_decider.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "serving/snapshot/delta.h"
#include "serving/snapshot/run_policy.h"

namespace yard {
namespace {

// No memory has to grow: that would rebuild it.
ClusterMemoryCapacity room_for(const std::vector<Job>& jobs) {
  const auto all = static_cast<int32_t>(jobs.size());
  JobNames names;
  for (const Job& job : jobs) {
    names.user_of(job);
    names.name_of(job);
  }
  return {.slots = all, .users = names.num_users(), .names = names.num_names()};
}

void check_carried(const ClusterSpec& cluster, const std::vector<Job>& jobs,
                   const SimModel& model) {
  const auto reject = [](const std::string& what) {
    throw InputError("--served", "what a snapshot carries", what);
  };
  if (model.rated) reject("speeds that depend on models or neighbours");
  if (model.faults) reject("faults");
  if (model.jobs.curves.first_point != nullptr) reject("training curves");
  for (const Job& job : jobs) {
    const auto is_share = [](const RoleGroup& group) { return group.task.gpu_milli > 0; };
    if (std::ranges::any_of(job.groups, is_share)) reject("shares of GPUs");
    const auto has_several_stages = [](const RoleGroup& group) { return !group.after.empty(); };
    if (std::ranges::any_of(job.groups, has_several_stages)) reject("jobs of several stages");
    if (job.save_us >= 0 || job.restore_us >= 0) reject("jobs with their own costs of a stop");
    if (job.gpus == 0) reject("jobs without GPUs");
  }
  if (cluster.one_type) reject("a cluster whose jobs run on GPUs of one type each");
  if (model.allows.preempt != model.allows.move) reject("preemption without moves");
  if (std::ranges::any_of(cluster.nodes, [](const Node& node) { return node.gpus == 0; })) {
    reject("nodes without GPUs");
  }
}

}  // namespace

ServedDecider::ServedDecider(const Policy& policy, const ClusterSpec& cluster,
                             const std::vector<Job>& jobs, const SimModel& model)
    : policy_(policy), cluster_(cluster), jobs_(jobs), memory_(room_for(jobs)) {
  check_carried(cluster, jobs, model);
  for (size_t m = 0; m < cluster.nodes.size(); ++m) {
    nodes_.emplace(cluster.nodes[m].name, static_cast<int32_t>(m));
  }
}

void ServedDecider::note_ended(const View& view) {
  ended_.clear();
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i);
    if (!view.finished(slot)) continue;
    ended_.push_back(
        {view.serial(slot), view.now_us(), view.attained_us(slot), view.work_done_us(slot)});
  }
}

void ServedDecider::decide(const View& view, Draft& draft) {
  note_ended(view);
  auto next = std::make_shared<pb::DecideRequest>(
      to_request(cluster_, jobs_, *draft.fixed_, *draft.state_, ended_));
  next->set_state_version(++version_);
  if (state_ != nullptr) {
    if (const auto delta = delta_between(*state_, *next)) next = apply_delta(*state_, *delta);
  }
  state_ = next;
  const Snapshot snapshot(*state_);
  const PolicyResult result = run_policy(policy_, snapshot, *state_, Tracing::kNone, &memory_);
  if (result.reason != pb::NONE) {
    throw RunError("--served: no answer of the policy at " + shortest_text(state_->time_s()) +
                   " s: " + pb::Reason_Name(result.reason) + ", " + result.detail);
  }
  apply(view, result.response, draft);
}

void ServedDecider::apply(const View& view, const pb::DecideResponse& response,
                          Draft& draft) const {
  std::unordered_map<std::string_view, int32_t> slot_of;
  for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
    const Phase phase = view.phase(slot);
    if (phase == Phase::kFree || phase == Phase::kDone) continue;
    slot_of[jobs_[static_cast<size_t>(view.serial(slot))].id] = slot;
  }
  for (const pb::Action& action : response.actions()) {
    const int32_t slot = slot_of.at(action.job());
    if (action.verb() == pb::PREEMPT) {
      draft.preempt(slot);
      continue;
    }
    std::vector<Piece> pieces;
    for (const pb::Piece& piece : action.pieces()) {
      Piece& out = pieces.emplace_back();
      out.node = nodes_.at(piece.node());
      out.gpus = static_cast<int32_t>(piece.gpus());
      out.group = static_cast<int32_t>(piece.group());
      // Without groups, the tasks of a job that is bound to GPU types are its GPUs.
      out.tasks = static_cast<int32_t>(piece.has_tasks()   ? piece.tasks()
                                       : view.shaped(slot) ? piece.gpus()
                                                           : 0);
    }
    draft.start(slot, pieces);
  }
  draft.put_stops_first();
  if (response.has_wake_after_s()) {
    draft.wake_at(view.now_us() + std::llround(response.wake_after_s() * 1e6));
  }
}

}  // namespace yard
