// Chooses the victims that make room for a waiting job. Holders after the job in order are
// stopped one by one, last first, until the placement rule accepts a placement. (Until the job's
// tenant is within its limit, only holders of that tenant are stopped.) Then each victim, first in
// order first, runs on if the placement does not need its GPUs. First-fit and best-fit accept any
// GPUs, so only their number decides.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/view/plan.h"
#include "policies/holders.h"

namespace yard {

struct PreemptionRule {
  PlacementRule placement = PlacementRule::kFirstFit;
  // A holder's key counts as key / (1 + margin), so a waiting job must be better by the margin.
  double margin = 0;
  // Returns the lane of a job in RankedQueue, if the functions below treat jobs of equal size
  // differently. Empty: 0.
  std::function<int32_t(int32_t slot)> placement_lane_of = {};
  // The placement rule of a job. Empty: `placement`.
  std::function<PlacementRule(int32_t slot)> placement_of = {};
  // Whether a waiting job may preempt a holder that comes after it in order. Empty: always.
  std::function<bool(int32_t waiting, int32_t holder)> may_preempt = {};

  PlacementRule of(int32_t slot) const { return placement_of ? placement_of(slot) : placement; }
};

class PreemptionPlanner {
 public:
  // Requires: all arguments outlive this object.
  PreemptionPlanner(const View& view, GpuHolderIterator& holders, const PreemptionRule& rule,
                    Draft& draft)
      : view_(view), holders_(holders), rule_(rule), draft_(draft) {}

  // Returns whether any holder that may be preempted comes after this job.
  bool has_victim_after(const RankedJob& job);

  // Preempts the victims and starts the job. Returns false and changes nothing if even all allowed
  // preemptions leave no placement for the job. Requires: place() finds no placement for the job.
  bool start(const RankedJob& job);

  // Returns the victims of the last start().
  const std::vector<RankedJob>& last_victims() const { return victims_; }

 private:
  const RankedJob* holder_from_last(size_t i);
  template <class Visitor>
  bool visit_holders_after(const RankedJob& job, Visitor visitor);
  bool same_tenant(int32_t a, int32_t b) const {
    return view_.tenant(a) != kNone && view_.tenant(a) == view_.tenant(b);
  }
  void add_victim(const RankedJob& stop, const RankedJob& job);
  bool list_victims_for_tenant_limit(const RankedJob& job);
  bool list_victims_by_gpu_count(const RankedJob& job);
  bool list_victims_by_trial_placement(const RankedJob& job);
  bool fits_after_freeing(int32_t slot, const std::vector<int32_t>& nodes) const;
  void preempt_victims() {
    for (const RankedJob& stop : victims_) draft_.preempt(stop.slot);
  }
  void find_job_placement(int32_t slot);
  void spare_victims_by_gpu_count(const RankedJob& job);
  void spare_victims_by_trial_placement(const RankedJob& job);
  bool spare_if_tenant_limit_holds(const RankedJob& job, int32_t slot);

  const View& view_;
  GpuHolderIterator& holders_;
  const PreemptionRule& rule_;
  Draft& draft_;
  std::vector<RankedJob> visited_;  // holders visited so far, last in order first
  std::vector<RankedJob> victims_;
  int32_t over_limit_ = 0;     // GPUs of the job's tenant above its limit once victims_ have left
  bool any_gpus_ = false;      // whether any GPUs suit the job, if there are enough
  std::vector<Piece> pieces_;  // the job's placement
};

}  // namespace yard
