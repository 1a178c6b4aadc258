#include "serving/engine/idle_watch.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "serving/snapshot/preemption_bounds.h"

namespace yard {
namespace {

// Whether as many GPUs are free as some waiting job needs. They need not be where it can use them.
bool may_start_a_job(const pb::DecideRequest& request) {
  int64_t least = std::numeric_limits<int64_t>::max(), free = 0;
  for (const pb::Job& job : request.jobs()) {
    if (job.state() == pb::WAITING) {
      if (job.gpus() > 0) least = std::min<int64_t>(least, job.gpus());
    } else {
      free -= gpus_held(job);
    }
  }
  for (const pb::Node& node : request.nodes()) {
    free += static_cast<int64_t>(node.gpus()) - node.down_size() - node.vacating_size();
  }
  return free >= least;
}

}  // namespace

bool uses_idle_gpus(const pb::DecideRequest& request, const pb::DecideResponse& answer) {
  std::unordered_set<std::string_view> preempted;
  int64_t gpus = 0;
  for (const pb::Action& action : answer.actions()) {
    if (action.verb() == pb::PREEMPT) preempted.insert(action.job());
    for (const pb::Piece& piece : action.pieces()) gpus += piece.gpus();
  }
  for (const pb::Job& job : request.jobs()) {
    if (preempted.contains(job.id())) gpus -= gpus_held(job);
  }
  return gpus > 0;
}

double IdleWatch::update_idle_s(const std::string& key, const pb::DecideRequest& request,
                                const pb::DecideResponse& answer) {
  if (max_idle_s_ <= 0) return 0;
  const bool idles = answer.actions().empty() && may_start_a_job(request);
  const double now_s = request.time_s();
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(entries_, key, &Entry::key);
  if (!idles) {
    if (it != entries_.end()) entries_.erase(it);
    return 0;
  }
  if (it == entries_.end() || it->since_s > now_s) {  // the clock may have been set back
    if (it != entries_.end()) entries_.erase(it);
    entries_.push_front({key, now_s});
    if (entries_.size() > max_count_) entries_.pop_back();
    return 0;
  }
  entries_.splice(entries_.begin(), entries_, it);
  const double idle = now_s - it->since_s;
  return idle > max_idle_s_ ? idle : 0;
}

void IdleWatch::restart(const std::string& key, double now_s) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(entries_, key, &Entry::key);
  if (it != entries_.end()) it->since_s = now_s;
}

}  // namespace yard
