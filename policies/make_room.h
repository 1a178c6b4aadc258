// Who has to stop so that a job finds a place: the holders that come after it in order are stopped
// one by one, the last first (only those of its own tenant, until it is within the tenant's limit),
// until the placement accepts a place. Of those stopped, the first in order first, each goes on
// that is not in the way of that place; under first-fit and best-fit, which take any place, that
// the number of GPUs can spare.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/sim/choose.h"
#include "env/sim/plan.h"
#include "policies/holders.h"

namespace yard {

struct PreemptionRule {
  Placement placement = Placement::kFirstFit;
  // A running job's key counts as key / (1 + margin): who wants its GPUs must be better by that.
  double margin = 0;
  // Where jobs of one size do not find places alike, because of what follows: the lane of each in
  // its size's classes (Ranked). Empty: 0.
  std::function<int32_t(int32_t slot)> lane_of = {};
  // The placement of a job. Empty: `placement`.
  std::function<Placement(int32_t slot)> placement_of = {};
  // Whether a waiting job may stop a holder that comes after it in order. Empty: any.
  std::function<bool(int32_t claimant, int32_t holder)> may_preempt = {};

  Placement of(int32_t slot) const { return placement_of ? placement_of(slot) : placement; }
};

class RoomMaker {
 public:
  // Requires: all outlive this.
  RoomMaker(const View& view, Holders& holders, const PreemptionRule& rule, Draft& draft)
      : view_(view), holders_(holders), rule_(rule), draft_(draft) {}

  // Does anybody who may be stopped come after this job?
  bool somebody_after(const Claim& claim);

  // Stops whom it takes and starts the job. Returns false, changing nothing, where there is no
  // place for it even so. Requires: place() finds none.
  bool start(const Claim& claim);

  // Those that the last start() stopped.
  const std::vector<Claim>& stopped() const { return stops_; }

 private:
  const Claim* holder(size_t i);
  template <class Does>
  bool walk(const Claim& claim, Does does);
  bool same_tenant(int32_t a, int32_t b) const;
  void list(const Claim& stop, const Claim& claim);
  bool list_for_limit(const Claim& claim);
  bool list_by_count(const Claim& claim);
  bool list_by_trial(const Claim& claim);
  bool fits_now(int32_t slot, const std::vector<int32_t>& nodes) const;
  void stop_all();
  void find_pieces(int32_t slot);
  void spare_by_count(const Claim& claim);
  void spare_by_trial(const Claim& claim);
  bool limit_spares(const Claim& claim, int32_t slot);

  const View& view_;
  Holders& holders_;
  const PreemptionRule& rule_;
  Draft& draft_;
  std::vector<Claim> walked_;  // holders so far, the last in order first
  std::vector<Claim> stops_;
  int32_t above_ = 0;       // how far the claim's tenant is above its limit once stops_ have left
  bool any_place_ = false;  // the claim is content with any GPUs, if there are enough
  std::vector<Piece> pieces_;  // the claim's place
};

}  // namespace yard
