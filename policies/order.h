// Policies that consist of an order and a placement rule: the policy only provides the key of a
// job. start_in_order() never preempts. start_or_preempt_in_order() preempts jobs that come later
// in order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "policies/policy.h"
#include "policies/preemption_planner.h"

namespace yard {

PlacementRule parse_placement(const std::string& name);  // throws InputError
std::vector<std::string> placement_names();

struct PlacementConfig {
  std::string placement = "first-fit";
  void fields(FieldList& f) { f("placement", placement, placement_names(), "placement rule"); }
};

// A policy whose settings name a placement rule.
template <class Config, InformationLevel kUsedLevel = InformationLevel::kBlind>
class PlacementRulePolicy : public ConfiguredPolicy<Config, kUsedLevel> {
 public:
  explicit PlacementRulePolicy(const Settings& settings)
      : ConfiguredPolicy<Config, kUsedLevel>(settings),
        placement_(parse_placement(this->config_.placement)) {}

 protected:
  PlacementRule placement_;
};

// Refills `ranked` with all waiting jobs, for keys that change while jobs wait.
template <class KeyOf>
void rank_all_waiting(const View& view, RankedQueue& ranked, KeyOf key_of) {
  ranked.clear();
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    ranked.push(view.request_class(slot), slot, {key_of(slot), view.serial(slot)});
  }
}

// Adds to `ranked` the jobs that began to wait since the last decision, or all waiting jobs if
// `ranked` was just created. For keys that do not change while a job waits.
template <class KeyOf>
void push_newly_waiting(const View& view, RankedQueue& ranked, KeyOf key_of) {
  if (ranked.was_just_created()) return rank_all_waiting(view, ranked, key_of);
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i);
    if (view.phase(slot) != Phase::kWaiting) continue;
    ranked.push(view.request_class(slot), slot, {key_of(slot), view.serial(slot)});
  }
}

// Starts waiting jobs in order of their keys and skips jobs that do not fit.
// `all_reduce_settings_of` returns the all-reduce and link priority of a job on its placement.
// Without a function, a job uses the all-reduce that it asks for.
using ExchangeOf = std::function<AllReduceSettings(int32_t slot, std::span<const Piece> pieces)>;
void start_in_order(const View& view, RankedQueue& ranked, PlacementRule placement, Draft& draft,
                    const ExchangeOf& all_reduce_settings_of = {});

// Serves waiting jobs in order of their keys. A job takes free GPUs, or preempts holders that come
// after it (preemption_planner.h). Skips jobs for which neither makes room, and later jobs with an
// identical request. `key_after_preemption` returns the key of a victim that waits again at once.
void serve_in_key_order(const View& view, RankedQueue& ranked, GpuHolderIterator& holders,
                        const PreemptionRule& rule,
                        const std::function<Key(int32_t)>& key_after_preemption, Draft& draft);

// Returns the class of `ranked` in which a job waits.
inline int32_t class_in_ranked_queue(const View& view, const RankedQueue& ranked,
                                     const PreemptionRule& rule, int32_t slot) {
  return ranked.class_of(view.request_class(slot),
                         rule.placement_lane_of ? rule.placement_lane_of(slot) : 0);
}

// Calls serve_in_key_order(); jobs of equal value go in order of submission.
template <class WaitingKey>
void start_or_preempt_in_order(const View& view, RankedQueue& ranked, GpuHolderIterator& holders,
                               const PreemptionRule& rule, WaitingKey waiting_key, Draft& draft) {
  const auto key_after_preemption = [&](int32_t slot) {
    return Key{waiting_key(slot), view.serial(slot)};
  };
  serve_in_key_order(view, ranked, holders, rule, key_after_preemption, draft);
}

}  // namespace yard
