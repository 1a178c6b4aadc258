// Schedulers that are an order and a placement. A policy gives the key of a job; these two decide
// who runs: `start_in_order` lets run what runs, `run_first_in_order` preempts for those who come
// first.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "env/sim/choose.h"
#include "env/sim/plan.h"
#include "policies/held_order.h"
#include "policies/holders.h"
#include "policies/make_room.h"
#include "policies/ranked.h"

namespace yard {

Placement parse_placement(const std::string& name);  // throws InputError
std::vector<std::string> placement_names();

// Puts the jobs that began to wait since the last decision into `ranked`.
template <class KeyOf>
void take_in_changed(const View& view, Ranked& ranked, KeyOf key_of) {
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed(i);
    if (view.phase(slot) != Phase::kWaiting) continue;
    ranked.push(view.size_class(slot), slot, {key_of(slot), view.serial(slot)});
  }
}

// Puts all who wait into an order that knows nobody, for keys that move while jobs wait.
template <class KeyOf>
void rank_waiting(const View& view, Ranked& ranked, KeyOf key_of) {
  ranked.clear();
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    ranked.push(view.size_class(slot), slot, {key_of(slot), view.serial(slot)});
  }
}

// Starts waiting jobs in order of their keys, skipping what does not fit. `exchange_of` says how a
// job exchanges gradients on its place. Empty: in its own way.
using ExchangeOf = std::function<Exchange(int32_t slot, std::span<const Piece> pieces)>;
void start_in_order(const View& view, Ranked& ranked, Placement placement, Draft& draft,
                    const ExchangeOf& exchange_of = {});

// The first in order get GPUs: the waiting jobs, in the order of their keys, take what is free, or
// else the GPUs of holders that come after them (make_room.h). A job that finds no place even so
// stops none, and the next in order may go ahead, but not those that ask for the same.
// `stopped_key` gives the key of a stopped job that waits again at once.
void run_by_keys(const View& view, Ranked& ranked, Holders& holders, const PreemptionRule& rule,
                 const std::function<Key(int32_t)>& stopped_key, Draft& draft);

// The class of `ranked` in which a job waits.
inline int32_t class_in(const View& view, const Ranked& ranked, const PreemptionRule& rule,
                        int32_t slot) {
  return ranked.class_of(view.size_class(slot), rule.lane_of ? rule.lane_of(slot) : 0);
}

// The same, equal values in the order of submission.
template <class WaitingKey>
void run_first_in_order(const View& view, Ranked& ranked, Holders& holders,
                        const PreemptionRule& rule, WaitingKey waiting_key, Draft& draft) {
  const auto stopped_key = [&](int32_t slot) { return Key{waiting_key(slot), view.serial(slot)}; };
  run_by_keys(view, ranked, holders, rule, stopped_key, draft);
}

inline size_t ordered_bytes(const View& view, const PreemptionRule& rule) {
  return Ranked::bytes(view) + HeldOrder::bytes(view.capacity()) +
         RoomIndex::bytes(view, rule.placement);
}

// For a policy that keeps ordered_bytes() at `memory`: waiting_key(slot) must not change while a
// job waits; held_line(slot) must hold until the job is among the changed.
template <class WaitingKey, class HeldLine>
void decide_in_order(const View& view, std::byte* memory, const PreemptionRule& rule,
                     WaitingKey waiting_key, HeldLine held_line, Draft& draft) {
  Carver carver(memory);
  Ranked ranked(view, carver);
  HeldOrder held(view.capacity(), carver);
  RoomIndex rooms(view, rule.placement, held, carver);
  const auto follow = [&](int32_t slot) {
    if (view.holds(slot) && view.preemptible(slot)) {
      held.put(slot, held_line(slot), view.serial(slot));
    } else {
      held.remove(slot);
    }
    rooms.follow(slot);
  };
  take_in_changed(view, ranked, waiting_key);
  for (int32_t i = 0; i < view.num_changed(); ++i) follow(view.changed(i));
  OrderedHolders holders(held, rooms, view.now_us());
  run_first_in_order(view, ranked, holders, rule, waiting_key, draft);
  for (const Edit& edit : draft.plan().edits) follow(edit.job.slot);
  rooms.refresh();
}

}  // namespace yard
