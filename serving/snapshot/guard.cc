#include "serving/snapshot/guard.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace yard {
namespace {

struct NodeCapacity {
  int64_t free = 0;
  absl::flat_hash_set<uint32_t> down;
  const pb::Node* node = nullptr;
  // Left; INT64_MAX: no limit. What runs may have taken more than there is.
  int64_t cpu_milli = INT64_MAX, mem_mib = INT64_MAX;
  int64_t cpu_milli_before = INT64_MAX, mem_mib_before = INT64_MAX;
};

struct TenantCapacity {
  int64_t left = INT64_MAX, left_before = INT64_MAX;  // GPUs; INT64_MAX: no limit
  bool lends = true;
};

// Takes what tasks need, or returns it with a negative count.
void take(int64_t& left, int64_t need, int64_t tasks) {
  if (left != INT64_MAX) left -= need * tasks;
}

class Guard {
 public:
  Guard(const pb::DecideRequest& request, const PreemptionBounds& bounds,
        const Quarantine& set_aside)
      : request_(request), bounds_(bounds), set_aside_(set_aside) {
    for (const pb::Tenant& tenant : request.tenants()) {
      TenantCapacity& of = tenants_[tenant.name()];
      if (tenant.limit_gpus() > 0) of.left = tenant.limit_gpus();
      const bool borrows = !tenant.has_may_borrow() || tenant.may_borrow();
      if (!borrows) of.left = std::min<int64_t>(of.left, tenant.quota_gpus());
      of.lends = !tenant.has_may_lend() || tenant.may_lend();
    }
    capacity_.reserve(static_cast<size_t>(request.nodes_size()));
    for (const pb::Node& node : request.nodes()) {
      NodeCapacity& room = capacity_[node.name()];
      room.node = &node;
      if (node.cpus() > 0) {
        const double overload = node.has_cpu_overload() ? node.cpu_overload() : 1;
        room.cpu_milli = std::llround(1000 * node.cpus() * overload);
      }
      if (node.mem_gib() > 0) room.mem_mib = std::llround(1024 * node.mem_gib());
      room.down.insert(node.down().begin(), node.down().end());
      room.free = static_cast<int64_t>(node.gpus()) - static_cast<int64_t>(room.down.size());
    }
    jobs_.reserve(static_cast<size_t>(request.jobs_size()));
    for (const pb::Job& job : request.jobs()) {
      jobs_[job.id()] = &job;
      if (holds(job)) give_back(job, -1);
    }
    // Jobs which do not name their GPUs may hold some that are down.
    for (auto& [name, room] : capacity_) {
      room.free = std::max<int64_t>(room.free, 0);
      room.cpu_milli_before = room.cpu_milli;
      room.mem_mib_before = room.mem_mib;
    }
    for (auto& [name, tenant] : tenants_) tenant.left_before = tenant.left;
    starts_ = preempts_ = request.allowed().empty();
    for (const int verb : request.allowed()) {
      starts_ |= verb == pb::START;
      preempts_ |= verb == pb::PREEMPT;
    }
  }

  std::string check(const pb::DecideResponse& response) {
    if (response.has_wake_after_s() &&
        !(response.wake_after_s() >= 0 && std::isfinite(response.wake_after_s()))) {
      return "wake_after_s is negative or not finite";
    }
    for (const pb::Action& action : response.actions()) {
      if (std::string why = check_action(action); !why.empty()) {
        return pb::Verb_Name(action.verb()) + " of job '" + action.job() + "': " + why;
      }
    }
    if (request_.has_max_starts() && started_.size() > request_.max_starts()) {
      return "it starts " + std::to_string(started_.size()) + " jobs, of at most " +
             std::to_string(request_.max_starts());
    }
    const int64_t most = bounds_.max_preempted_gpus(request_);
    if (preempted_gpus_ > most && (preempted_jobs_ > 1 || most == 0)) {
      return "it preempts jobs with " + std::to_string(preempted_gpus_) + " GPUs, of at most " +
             std::to_string(most);
    }
    // In the order of the request, so that the same answer has the same flaw.
    for (const pb::Node& node : request_.nodes()) {
      const NodeCapacity& room = capacity_.at(node.name());
      if (room.free < 0) {
        return "node '" + node.name() + "' would lack " + std::to_string(-room.free) + " GPUs";
      }
      if (room.cpu_milli < 0 && room.cpu_milli < room.cpu_milli_before) {
        return "node '" + node.name() + "' would lack cores";
      }
      if (room.mem_mib < 0 && room.mem_mib < room.mem_mib_before) {
        return "node '" + node.name() + "' would lack memory";
      }
    }
    for (const pb::Tenant& entry : request_.tenants()) {
      const TenantCapacity& tenant = tenants_.at(entry.name());
      if (tenant.left < 0 && tenant.left < tenant.left_before) {
        return "tenant '" + entry.name() + "' would exceed its limit";
      }
    }
    return "";
  }

 private:
  static bool holds(const pb::Job& job) {
    return job.state() == pb::STARTING || job.state() == pb::RUNNING;
  }

  // Returns a job's GPUs, cores and memory to its nodes (+1) or takes them (-1). GPUs which are
  // down never count.
  void give_back(const pb::Job& job, int sign) {
    for (const pb::Piece& piece : job.placement()) {
      const auto at = capacity_.find(piece.node());
      if (at == capacity_.end()) continue;
      NodeCapacity& room = at->second;
      int64_t gpus = piece.gpus();
      for (const uint32_t gpu : piece.gpu_ids()) gpus -= room.down.contains(gpu);
      room.free += sign * gpus;
      take_for_tasks(job, piece, room, -sign);
    }
    if (const auto of = tenants_.find(job.tenant()); of != tenants_.end()) {
      take(of->second.left, job.gpus(), -sign);
    }
  }

  static void take_for_tasks(const pb::Job& job, const pb::Piece& piece, NodeCapacity& room,
                             int times) {
    if (piece.group() >= static_cast<uint32_t>(job.groups_size())) return;
    const pb::Resources& need = job.groups(static_cast<int>(piece.group())).task();
    const int64_t tasks = times * tasks_of(need, piece);
    take(room.cpu_milli, need.cpu_milli(), tasks);
    take(room.mem_mib, static_cast<int64_t>(need.mem_mib()), tasks);
  }

  static int64_t tasks_of(const pb::Resources& need, const pb::Piece& piece) {
    return piece.has_tasks() || need.gpus() == 0 ? piece.tasks() : piece.gpus() / need.gpus();
  }

  bool allowed(pb::Verb verb) const {
    return verb == pb::START     ? starts_
           : verb == pb::PREEMPT ? preempts_
                                 : request_.allowed().empty();
  }

  std::string check_action(const pb::Action& action) {
    const auto job = jobs_.find(action.job());
    if (job == jobs_.end()) return "no such job";
    if (set_aside_.has_job(action.job())) return "its record was set aside";
    if (!allowed(action.verb())) return "this verb is not allowed";
    if (action.verb() == pb::PREEMPT) return check_preempt(*job->second, action);
    if (action.verb() == pb::START) return check_start(*job->second, action);
    return "no known verb";
  }

  std::string check_preempt(const pb::Job& job, const pb::Action& action) {
    if (!holds(job)) return "it holds no GPUs";
    if (bounds_.is_pinned(job)) return "it is pinned";
    if (action.pieces_size() > 0) return "a preemption must not name GPUs";
    if (started_.contains(job.id())) return "already started by an earlier action";
    if (!preempted_.insert(job.id()).second) return "preempted twice";
    if (!bounds_.preempts(job)) {
      ++preempted_jobs_;
      for (const pb::Piece& piece : job.placement()) preempted_gpus_ += piece.gpus();
    }
    give_back(job, +1);
    return "";
  }

  std::string check_start(const pb::Job& job, const pb::Action& action) {
    if (holds(job) && !preempted_.contains(job.id())) return "it already holds GPUs";
    if (!started_.insert(job.id()).second) return "started twice";
    for (const std::string& before : job.after()) {
      if (jobs_.contains(before)) return "it waits for job '" + before + "'";
    }
    std::set<std::pair<std::string_view, uint32_t>> nodes;  // with the group
    std::vector<int64_t> tasks(static_cast<size_t>(job.groups_size()), 0);
    uint64_t sum = 0;
    for (const pb::Piece& piece : action.pieces()) {
      const auto room = capacity_.find(piece.node());
      if (room == capacity_.end()) return "no node '" + piece.node() + "'";
      if (!nodes.insert({piece.node(), piece.group()}).second) {
        return "node '" + piece.node() + "' twice";
      }
      if (std::string why = check_piece(job, piece, room->second); !why.empty()) return why;
      room->second.free -= piece.gpus();
      sum += piece.gpus();
      if (tasks.empty()) continue;
      tasks[piece.group()] += tasks_of(job.groups(static_cast<int>(piece.group())).task(), piece);
      take_for_tasks(job, piece, room->second, 1);
    }
    if (tasks.empty() && sum != job.gpus()) {
      return std::to_string(sum) + " GPUs for a job of " + std::to_string(job.gpus());
    }
    for (int g = 0; g < job.groups_size(); ++g) {
      const pb::TaskGroup& group = job.groups(g);
      const int64_t least = group.has_min_count() ? group.min_count() : group.count();
      const int64_t most = group.has_max_count() ? group.max_count() : group.count();
      const int64_t placed = tasks[static_cast<size_t>(g)];
      if (placed >= least && placed <= most) continue;
      return std::to_string(placed) + " tasks of its group " + std::to_string(g) +
             ", which needs " + std::to_string(least) + " to " + std::to_string(most);
    }
    if (const auto of = tenants_.find(job.tenant()); of != tenants_.end()) {
      take(of->second.left, job.gpus(), 1);
    }
    return "";
  }

  // Whether one piece of a start suits its node.
  std::string check_piece(const pb::Job& job, const pb::Piece& piece, const NodeCapacity& room) {
    const auto groups = static_cast<uint32_t>(job.groups_size());
    if (piece.group() >= std::max(groups, 1U)) return "no group " + std::to_string(piece.group());
    const bool cpus_only =
        groups > 0 && job.groups(static_cast<int>(piece.group())).task().gpus() == 0;
    if (piece.gpus() == 0 && !(cpus_only && piece.tasks() > 0)) return "a piece without GPUs";
    if (groups > 0 && piece.has_tasks()) {
      const pb::Resources& need = job.groups(static_cast<int>(piece.group())).task();
      if (uint64_t{piece.tasks()} * need.gpus() != piece.gpus()) {
        return std::to_string(piece.gpus()) + " GPUs for " + std::to_string(piece.tasks()) +
               " tasks of " + std::to_string(need.gpus());
      }
    }
    const pb::Node& node = *room.node;
    const auto& types = job.gpu_types();
    if (piece.gpus() > 0 && !types.empty() &&
        std::ranges::find(types, node.gpu_type()) == types.end()) {
      return "GPUs of type '" + node.gpu_type() + "', on which it cannot run";
    }
    const auto owner = tenants_.find(node.tenant());
    if (owner != tenants_.end() && !owner->second.lends && node.tenant() != job.tenant()) {
      return "node '" + node.name() + "' is reserved for '" + node.tenant() + "'";
    }
    return "";
  }

  const pb::DecideRequest& request_;
  const PreemptionBounds& bounds_;
  const Quarantine& set_aside_;
  absl::flat_hash_map<std::string_view, NodeCapacity> capacity_;
  absl::flat_hash_map<std::string_view, const pb::Job*> jobs_;
  absl::flat_hash_map<std::string_view, TenantCapacity> tenants_;
  absl::flat_hash_set<std::string_view> preempted_, started_;
  int64_t preempted_gpus_ = 0, preempted_jobs_ = 0;  // but for those of an earlier answer
  bool starts_ = false, preempts_ = false;
};

}  // namespace

std::string flaw_of_decision(const pb::DecideRequest& request, const pb::DecideResponse& response,
                             const PreemptionBounds& bounds, const Quarantine& set_aside) {
  return Guard(request, bounds, set_aside).check(response);
}

}  // namespace yard
