#include "policies/preemption_planner.h"

#include <algorithm>

#include "policies/freed_gpus.h"

namespace yard {

// Returns the i-th holder from the last in order, or null if there are fewer.
const RankedJob* PreemptionPlanner::holder_from_last(size_t i) {
  while (i >= visited_.size()) {
    RankedJob next = holders_.next();
    if (next.slot == kNone) return nullptr;
    if (rule_.margin != 0) next.key.value /= 1 + rule_.margin;
    visited_.push_back(next);
  }
  return &visited_[i];
}

// Calls visitor(holder) for each holder after `job`, last in order first, until it returns true.
// Skips those that the draft has already stopped. Returns whether a call returned true.
template <class Visitor>
bool PreemptionPlanner::visit_holders_after(const RankedJob& job, Visitor visitor) {
  for (size_t i = 0;; ++i) {
    const RankedJob* other = holder_from_last(i);
    if (other == nullptr || !(job.key < other->key)) return false;
    const RankedJob stop = *other;
    if (rule_.may_preempt && !rule_.may_preempt(job.slot, stop.slot)) continue;
    if (view_.holds_gpus(stop.slot) && visitor(stop)) return true;
  }
}

bool PreemptionPlanner::has_victim_after(const RankedJob& job) {
  return visit_holders_after(job, [](const RankedJob&) { return true; });
}

bool PreemptionPlanner::start(const RankedJob& job) {
  victims_.clear();
  const bool counts = !view_.shaped(job.slot) && !view_.has_gpu_shares() && !view_.spec().one_type;
  if (!list_victims_for_tenant_limit(job)) return false;
  if (!(counts ? list_victims_by_gpu_count(job) : list_victims_by_trial_placement(job)))
    return false;
  std::sort(victims_.begin(), victims_.end(),
            [](const RankedJob& a, const RankedJob& b) { return b.key < a.key; });
  any_gpus_ = !view_.shaped(job.slot) && !view_.spec().one_type &&
              rule_.of(job.slot) != PlacementRule::kConsolidate;
  if (!any_gpus_) {
    const size_t mark = draft_.mark();
    preempt_victims();
    find_job_placement(job.slot);
    draft_.undo_to(mark);
  }
  counts ? spare_victims_by_gpu_count(job) : spare_victims_by_trial_placement(job);
  preempt_victims();
  if (any_gpus_) find_job_placement(job.slot);
  const bool started = draft_.start(job.slot, pieces_.data(), static_cast<int32_t>(pieces_.size()));
  YARD_CHECK(started, "the planned placement is no longer free");
  return true;
}

void PreemptionPlanner::find_job_placement(int32_t slot) {
  Piece* found = draft_.scratch();
  pieces_.assign(found, found + place(view_, rule_.of(slot), slot, found));
}

// --- the tenant's limit

void PreemptionPlanner::add_victim(const RankedJob& stop, const RankedJob& job) {
  victims_.push_back(stop);
  if (same_tenant(stop.slot, job.slot)) over_limit_ -= view_.gpus(stop.slot);
}

// Lists holders of the job's tenant until it is within its limit. Returns false if it never is.
bool PreemptionPlanner::list_victims_for_tenant_limit(const RankedJob& job) {
  const int32_t t = view_.tenant(job.slot);
  over_limit_ = 0;
  if (t == kNone) return true;
  over_limit_ = view_.gpus_held_by_tenant(t) + view_.gpus(job.slot) - view_.spec().tenant_limit[t];
  if (over_limit_ <= 0) return true;
  return visit_holders_after(job, [&](const RankedJob& stop) {
    if (same_tenant(stop.slot, job.slot)) add_victim(stop, job);
    return over_limit_ <= 0;
  });
}

// Returns whether the limit holds without this stop. If so, the stop no longer counts.
bool PreemptionPlanner::spare_if_tenant_limit_holds(const RankedJob& job, int32_t slot) {
  if (!same_tenant(slot, job.slot)) return true;
  if (over_limit_ + view_.gpus(slot) > 0) return false;
  over_limit_ += view_.gpus(slot);
  return true;
}

// --- whole GPUs: adds up what would be free

bool PreemptionPlanner::list_victims_by_gpu_count(const RankedJob& job) {
  VictimIndex* index = holders_.victim_index();
  if (index != nullptr && index->supports_job_gpus(view_.gpus(job.slot)) && victims_.empty()) {
    std::vector<RankedJob> victims;
    if (!index->find_victims(job, view_.gpus(job.slot), rule_.margin, victims)) return false;
    for (const RankedJob& stop : victims) add_victim(stop, job);
    return true;
  }
  FreedGpus freed(view_, rule_.of(job.slot), view_.gpus(job.slot));
  const std::vector<RankedJob> of_tenant = victims_;
  for (const RankedJob& stop : of_tenant) freed.add(stop.slot);
  if (freed.enough()) return true;
  const bool found = visit_holders_after(job, [&](const RankedJob& stop) {
    if (std::ranges::find(of_tenant, stop.slot, &RankedJob::slot) != of_tenant.end()) return false;
    add_victim(stop, job);
    freed.add(stop.slot);
    return freed.enough();
  });
  if (!found) return false;
  // Drops the victims on nodes that would still be too full, which are most.
  if (of_tenant.empty() && rule_.of(job.slot) == PlacementRule::kConsolidate) {
    std::erase_if(victims_,
                  [&](const RankedJob& stop) { return !freed.helps_placement(stop.slot); });
  }
  return true;
}

// Drops each stop that neither pieces_ nor, if any GPUs will do, their number needs.
void PreemptionPlanner::spare_victims_by_gpu_count(const RankedJob& job) {
  FreedGpus freed(view_, rule_.of(job.slot), view_.gpus(job.slot));
  for (const RankedJob& stop : victims_) freed.add(stop.slot);
  for (size_t i = victims_.size(); i-- > 0;) {
    const int32_t slot = victims_[i].slot;
    if (!freed.has_room_without_victim(slot, pieces_) || !spare_if_tenant_limit_holds(job, slot))
      continue;
    freed.remove(slot);
    victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// --- shaped jobs and shared GPUs: by trial

// Returns whether the job fits: a shaped job of one task on one of these nodes, others anywhere.
bool PreemptionPlanner::fits_after_freeing(int32_t slot, const std::vector<int32_t>& nodes) const {
  if (!view_.shaped(slot) || view_.total_requested_tasks(slot) > 1) {
    return can_place(view_, rule_.of(slot), slot);
  }
  const Placer placer(view_);
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](int32_t node) { return placer.has_room_on_node(slot, node); });
}

bool PreemptionPlanner::list_victims_by_trial_placement(const RankedJob& job) {
  const size_t mark = draft_.mark();
  preempt_victims();
  bool found = !victims_.empty() && can_place(view_, rule_.of(job.slot), job.slot);
  std::vector<int32_t> nodes;
  found = found || visit_holders_after(job, [&](const RankedJob& stop) {
            nodes.clear();
            for (int32_t p = view_.first_part(stop.slot); p != kNone; p = view_.next_part(p)) {
              nodes.push_back(view_.part_node(p));
            }
            add_victim(stop, job);
            draft_.preempt(stop.slot);
            return fits_after_freeing(job.slot, nodes);
          });
  draft_.undo_to(mark);
  return found;
}

void PreemptionPlanner::spare_victims_by_trial_placement(const RankedJob& job) {
  const size_t mark = draft_.mark();
  const auto enough = [&] {
    preempt_victims();
    const bool fits =
        any_gpus_ ? can_place(view_, rule_.of(job.slot), job.slot)
                  : draft_.start(job.slot, pieces_.data(), static_cast<int32_t>(pieces_.size()));
    draft_.undo_to(mark);
    return fits;
  };
  // Most victims have no GPUs on the nodes of the placement.
  const auto near = [&](int32_t slot) {
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (std::ranges::find(pieces_, view_.part_node(p), &Piece::node) != pieces_.end())
        return true;
    }
    return false;
  };
  for (size_t i = victims_.size(); i-- > 0;) {
    const RankedJob stop = victims_[i];
    const int32_t above = over_limit_;
    if (!spare_if_tenant_limit_holds(job, stop.slot)) continue;
    victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(i));
    if ((!any_gpus_ && !near(stop.slot)) || enough()) continue;
    victims_.insert(victims_.begin() + static_cast<std::ptrdiff_t>(i), stop);
    over_limit_ = above;
  }
}

}  // namespace yard
