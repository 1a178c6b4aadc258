// Policies that consist of an order and a placement rule: the policy only provides the key of a
// job. `start_in_order` never preempts. `run_first_in_order` preempts jobs that come later in
// order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/view/plan.h"
#include "policies/held_order.h"
#include "policies/holders.h"
#include "policies/preemption_planner.h"
#include "policies/ranked_queue.h"

namespace yard {

PlacementRule parse_placement(const std::string& name);  // throws InputError
std::vector<std::string> placement_names();

// Adds the jobs that began to wait since the last decision to `ranked`.
template <class KeyOf>
void push_waiting(const View& view, RankedQueue& ranked, KeyOf key_of) {
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed(i);
    if (view.phase(slot) != Phase::kWaiting) continue;
    ranked.push(view.size_class(slot), slot, {key_of(slot), view.serial(slot)});
  }
}

// Refills `ranked` with all waiting jobs, for keys that change while jobs wait.
template <class KeyOf>
void rank_waiting(const View& view, RankedQueue& ranked, KeyOf key_of) {
  ranked.clear();
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    ranked.push(view.size_class(slot), slot, {key_of(slot), view.serial(slot)});
  }
}

// Starts waiting jobs in order of their keys and skips those that do not fit. `exchange_of` returns
// the exchange of a job on its placement. Empty: the job's own.
using ExchangeOf = std::function<Exchange(int32_t slot, std::span<const Piece> pieces)>;
void start_in_order(const View& view, RankedQueue& ranked, PlacementRule placement, Draft& draft,
                    const ExchangeOf& exchange_of = {});

// Serves waiting jobs in order of their keys. A job takes free GPUs, or preempts holders that come
// after it (preemption_planner.h). If preemption cannot make room, nothing is preempted. Later jobs
// may still start, except those with an identical request. `stopped_key` returns the key of a
// victim that waits again at once.
void run_by_keys(const View& view, RankedQueue& ranked, Holders& holders,
                 const PreemptionRule& rule, const std::function<Key(int32_t)>& stopped_key,
                 Draft& draft);

// Returns the class of `ranked` in which a job waits.
inline int32_t class_in(const View& view, const RankedQueue& ranked, const PreemptionRule& rule,
                        int32_t slot) {
  return ranked.class_of(view.size_class(slot), rule.lane_of ? rule.lane_of(slot) : 0);
}

// Calls run_by_keys(); jobs of equal value go in order of submission.
template <class WaitingKey>
void run_first_in_order(const View& view, RankedQueue& ranked, Holders& holders,
                        const PreemptionRule& rule, WaitingKey waiting_key, Draft& draft) {
  const auto stopped_key = [&](int32_t slot) { return Key{waiting_key(slot), view.serial(slot)}; };
  run_by_keys(view, ranked, holders, rule, stopped_key, draft);
}

inline size_t ordered_bytes(const View& view, const PreemptionRule& rule) {
  return RankedQueue::bytes(view) + HeldOrder::bytes(view.capacity()) +
         VictimIndex::bytes(view, rule.placement);
}

// Makes a decision of a policy that keeps ordered_bytes() at `memory`. waiting_key(slot) must not
// change while a job waits. held_line(slot) must hold until the job is among the changed.
template <class WaitingKey, class HeldLine>
void decide_in_order(const View& view, std::byte* memory, const PreemptionRule& rule,
                     WaitingKey waiting_key, HeldLine held_line, Draft& draft) {
  BumpAllocator bump(memory);
  RankedQueue ranked(view, bump);
  HeldOrder held(view.capacity(), bump);
  VictimIndex victim_index(view, rule.placement, held, bump);
  const auto update = [&](int32_t slot) {
    if (view.holds(slot) && view.preemptible(slot)) {
      held.put(slot, held_line(slot), view.serial(slot));
    } else {
      held.remove(slot);
    }
    victim_index.update(slot);
  };
  push_waiting(view, ranked, waiting_key);
  for (int32_t i = 0; i < view.num_changed(); ++i) update(view.changed(i));
  OrderedHolders holders(held, victim_index, view.now_us());
  run_first_in_order(view, ranked, holders, rule, waiting_key, draft);
  for (const Edit& edit : draft.plan().edits) update(edit.job.slot);
  victim_index.refresh();
}

}  // namespace yard
