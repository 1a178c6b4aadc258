#include "serving/snapshot/guard.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace yard {
namespace {

struct NodeCapacity {
  int64_t free = 0;
  std::unordered_set<uint32_t> down;
};

class Guard {
 public:
  explicit Guard(const pb::DecideRequest& request) : request_(request) {
    for (const pb::Node& node : request.nodes()) {
      NodeCapacity& room = capacity_[node.name()];
      room.down.insert(node.down().begin(), node.down().end());
      room.free = static_cast<int64_t>(node.gpus()) - static_cast<int64_t>(room.down.size());
    }
    for (const pb::Job& job : request.jobs()) {
      jobs_[job.id()] = &job;
      if (holds(job)) add(job, -1);
    }
    // Jobs which do not name their GPUs may hold some that are down.
    for (auto& [name, room] : capacity_) room.free = std::max<int64_t>(room.free, 0);
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
    for (const auto& [name, room] : capacity_) {
      if (room.free < 0) {
        return "node '" + std::string(name) + "' would lack " + std::to_string(-room.free) +
               " GPUs";
      }
    }
    return "";
  }

 private:
  static bool holds(const pb::Job& job) {
    return job.state() == pb::STARTING || job.state() == pb::RUNNING;
  }

  // Returns a job's GPUs to its nodes (+1) or takes them (-1). GPUs which are down never count.
  void add(const pb::Job& job, int sign) {
    for (const pb::Piece& piece : job.placement()) {
      NodeCapacity& room = capacity_[piece.node()];
      int64_t gpus = piece.gpus();
      for (const uint32_t gpu : piece.gpu_ids()) gpus -= room.down.contains(gpu);
      room.free += sign * gpus;
    }
  }

  bool allowed(pb::Verb verb) const {
    return verb == pb::START     ? starts_
           : verb == pb::PREEMPT ? preempts_
                                 : request_.allowed().empty();
  }

  std::string check_action(const pb::Action& action) {
    const auto job = jobs_.find(action.job());
    if (job == jobs_.end()) return "no such job";
    if (!allowed(action.verb())) return "this verb is not allowed";
    if (action.verb() == pb::PREEMPT) return check_preempt(*job->second, action);
    if (action.verb() == pb::START) return check_start(*job->second, action);
    return "no known verb";
  }

  std::string check_preempt(const pb::Job& job, const pb::Action& action) {
    if (!holds(job)) return "it holds no GPUs";
    if (job.pinned()) return "it is pinned";
    if (action.pieces_size() > 0) return "a preemption must not name GPUs";
    if (started_.contains(job.id())) return "already started by an earlier action";
    if (!preempted_.insert(job.id()).second) return "preempted twice";
    add(job, +1);
    return "";
  }

  std::string check_start(const pb::Job& job, const pb::Action& action) {
    if (holds(job) && !preempted_.contains(job.id())) return "it already holds GPUs";
    if (!started_.insert(job.id()).second) return "started twice";
    std::unordered_set<std::string_view> nodes;
    uint64_t sum = 0;
    for (const pb::Piece& piece : action.pieces()) {
      const auto room = capacity_.find(piece.node());
      if (room == capacity_.end()) return "no node '" + piece.node() + "'";
      if (!nodes.insert(piece.node()).second) return "node '" + piece.node() + "' twice";
      if (piece.gpus() == 0) return "a piece without GPUs";
      room->second.free -= piece.gpus();
      sum += piece.gpus();
    }
    if (sum != job.gpus()) {
      return std::to_string(sum) + " GPUs for a job of " + std::to_string(job.gpus());
    }
    return "";
  }

  const pb::DecideRequest& request_;
  std::unordered_map<std::string_view, NodeCapacity> capacity_;
  std::unordered_map<std::string_view, const pb::Job*> jobs_;
  std::unordered_set<std::string_view> preempted_, started_;
  bool starts_ = false, preempts_ = false;
};

}  // namespace

std::string flaw_of_decision(const pb::DecideRequest& request, const pb::DecideResponse& response) {
  return Guard(request).check(response);
}

}  // namespace yard
