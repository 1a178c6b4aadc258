// Schedulers that are an order and a placement. A policy gives the key of a job; these two decide
// who runs: `start_in_order` lets run what runs, `run_first_in_order` preempts for those who come
// first.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "env/sim/choose.h"
#include "env/sim/plan.h"
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

// Starts waiting jobs in order of their keys, skipping what does not fit.
void start_in_order(const View& view, Ranked& ranked, Placement placement, Draft& draft);

struct Claim {
  Key key;
  int32_t slot;
  double waiting_value = 0;  // the key's value once it waits again
};

struct PreemptionRule {
  Placement placement = Placement::kFirstFit;
  // A running job's key counts as key / (1 + margin): who wants its GPUs must be better by that.
  double margin = 0;
};

// Gives the GPUs to the jobs that come first in the order of their keys, skipping what does not
// fit; what runs and is not among them is preempted. `held` are the jobs that hold GPUs now; sorted
// here.
//
// Where enough GPUs are free but not where the job could use them (`consolidate` refuses to spread
// it, others have shares of them), a job of whole GPUs takes the node on which the fewest GPUs of
// later jobs have to leave, if there is one; otherwise it waits, nobody is stopped for it, and the
// next in order may go ahead.
void run_first_in_order(const View& view, Ranked& ranked, std::span<Claim> held,
                        const PreemptionRule& rule, Draft& draft);

// The same for a policy that keeps its ranking at `memory`. `waiting_key` must not change while a
// job waits; `held_key` is asked anew at every decision.
template <class WaitingKey, class HeldKey>
void decide_in_order(const View& view, std::byte* memory, const PreemptionRule& rule,
                     WaitingKey waiting_key, HeldKey held_key, Draft& draft) {
  Carver carver(memory);
  Ranked ranked(view, carver);
  take_in_changed(view, ranked, waiting_key);
  std::vector<Claim> held;
  held.reserve(static_cast<size_t>(view.num_held()));
  for (int32_t i = 0; i < view.num_held(); ++i) {
    const int32_t slot = view.held(i);
    held.push_back({{held_key(slot), view.serial(slot)}, slot, waiting_key(slot)});
  }
  run_first_in_order(view, ranked, held, rule, draft);
}

}  // namespace yard
