#include "policies/order.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

PlacementRule parse_placement(const std::string& name) {
  const auto names = placement_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) throw InputError("placement", "one of: " + join(names), "'" + name + "'");
  return static_cast<PlacementRule>(it - names.begin());
}

std::vector<std::string> placement_names() {
  return {std::begin(kPlacementRuleNames), std::end(kPlacementRuleNames)};
}

void start_in_order(const View& view, RankedQueue& ranked, PlacementRule placement, Draft& draft,
                    const ExchangeOf& all_reduce_settings_of) {
  Piece* pieces = draft.scratch();
  std::vector<int32_t> hidden;  // classes without a placement
  for (;;) {
    const int32_t k = ranked.first_fitting_class(view, view.free_gpus());
    if (k == kNone) break;
    const int32_t slot = ranked.top(k);
    const int32_t n = place(view, placement, slot, pieces);
    if (n > 0) {
      const std::span<const Piece> there(pieces, static_cast<size_t>(n));
      draft.start(
          slot, pieces, n,
          all_reduce_settings_of ? all_reduce_settings_of(slot, there) : AllReduceSettings{});
      ranked.pop(k);
    } else {
      ranked.hide_class(k);
      hidden.push_back(k);
    }
  }
  for (const int32_t k : hidden) ranked.show(k);
}

void serve_in_key_order(const View& view, RankedQueue& ranked, GpuHolderIterator& holders,
                        const PreemptionRule& rule,
                        const std::function<Key(int32_t)>& key_after_preemption, Draft& draft) {
  PreemptionPlanner planner(view, holders, rule, draft);
  Piece* pieces = draft.scratch();
  std::vector<int32_t> hidden;  // classes without a placement
  const auto show_all = [&] {
    for (const int32_t k : hidden) ranked.show(k);
    hidden.clear();
  };
  const auto update = [&](int32_t slot) {
    if (holders.victim_index() != nullptr) holders.victim_index()->update(slot);
  };
  bool can_preempt = true;  // whether any holder may come after a waiting job
  for (;;) {
    const int32_t k = ranked.first_fitting_class(view, can_preempt ? INT32_MAX : view.free_gpus());
    if (k == kNone) break;
    const RankedJob job{ranked.key(ranked.top(k)), ranked.top(k)};
    const int32_t n = place(view, rule.of(job.slot), job.slot, pieces);
    if (n > 0) {
      draft.start(job.slot, pieces, n);
      update(job.slot);
      ranked.pop(k);
      continue;
    }
    const bool has_victim = can_preempt && planner.has_victim_after(job);
    can_preempt = has_victim || (can_preempt && rule.may_preempt);  // later jobs may preempt others
    if (has_victim && planner.start(job)) {
      for (const RankedJob& stop : planner.last_victims()) update(stop.slot);
      update(job.slot);
      ranked.pop(k);
      show_all();  // more may be free than the job took
      for (const RankedJob& stop : planner.last_victims()) {
        // A job with nothing to save waits again at once, without a further event.
        if (view.phase(stop.slot) != Phase::kWaiting) continue;
        ranked.push(class_in_ranked_queue(view, ranked, rule, stop.slot), stop.slot,
                    key_after_preemption(stop.slot));
      }
      continue;
    }
    ranked.hide_class(k);
    hidden.push_back(k);
  }
  show_all();
  draft.put_stops_first();
}

}  // namespace yard
