// A plan is a list of edits to the present allocation. A draft is a plan under construction: edits
// change the state at once, so that a policy sees the effect, and a journal can undo the edits.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "env/sim/view/view.h"

namespace yard {

enum class Verb : uint8_t { kStart, kPreempt, kEnd };

struct Edit {
  Verb verb;
  JobRef job;
  int32_t first_piece = 0;  // into Plan::pieces
  int32_t num_pieces = 0;
  AllReduceSettings exchange = {};  // of a start
  friend bool operator==(const Edit&, const Edit&) = default;
};

struct Plan {
  std::vector<Edit> edits;
  std::vector<Piece> pieces;
  int64_t wake_us = kNever;  // latest time of the next decision

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Returns why the plan cannot be executed, or "". Every job in the plan must be live and in the
// right phase, with one end or at most one preemption and one start. The final allocation must fit
// every node.
std::string flaw_of_decision(const SimModel& fixed, const SimState& state, const Plan& plan);

// Executes preemptions and ends before starts, so that two jobs may swap nodes. Requires:
// flaw_of_decision() is "".
void execute(const SimModel& fixed, SimState& state, const Plan& plan);

class Draft {
 public:
  // Requires: `fixed` and `state` outlive the draft.
  Draft(const SimModel& fixed, SimState& state)
      : fixed_(&fixed), state_(&state), begun_(static_cast<size_t>(state.head->slots), 0) {}

  // Clears the draft for another decision, but keeps its allocated memory.
  void reset();

  // start(), preempt() and end() return false and change nothing if the rules forbid the edit. A
  // job that this draft starts cannot be preempted or ended; undo_to() reverts the start.
  bool start(int32_t slot, const Piece* pieces, int32_t num_pieces,
             const AllReduceSettings& exchange = {});
  bool start(int32_t slot, std::span<const Piece> pieces, const AllReduceSettings& exchange = {}) {
    return start(slot, pieces.data(), static_cast<int32_t>(pieces.size()), exchange);
  }
  bool preempt(int32_t slot);
  bool end(int32_t slot);  // ends a job early, if View::may_end_early()
  void wake_at(int64_t at_us) { plan_.wake_us = std::min(plan_.wake_us, at_us); }

  // Applies the edits again with preemptions and ends before starts, as execute() does. A started
  // job then waits for all jobs that leave its node, in any order of edits.
  void put_stops_first();

  // Returns the present position in the journal, for undo_to().
  size_t mark() const { return journal_.size(); }
  void undo_to(size_t mark);

  const Plan& plan() const { return plan_; }
  // Returns room for one placement: spec.num_nodes pieces for each role group.
  Piece* scratch();

 private:
  friend class ServedDecider;  // writes the draft's state as a snapshot

  // Data that an edit overwrote.
  struct Undo {
    SlotRecord record;
    int32_t slot;
    int64_t queue_rank, next_rank, ready_horizon_us, run_start_us;
    double checkpointed_us, moved_bytes;
    size_t first_part, num_parts;  // range of a stopped job's parts in parts_
    size_t num_pieces;             // size of plan_.pieces before the edit
    AllReduceSettings exchange;
  };
  struct HeldPart {
    int32_t node;
    uint64_t mask;
    int32_t group, tasks;
    VacatingResourcesOfNode leaving;  // before the edit
  };
  Undo undo_of(int32_t slot, size_t first_part) const;
  bool stop_job(Verb verb, int32_t slot);
  void undo_stop(Verb verb, const Undo& u);

  const SimModel* fixed_;
  SimState* state_;
  Plan plan_;
  std::vector<Undo> journal_;
  std::vector<HeldPart> parts_;
  std::vector<Piece> scratch_;
  std::vector<char> begun_;  // (S)  slots that this draft starts
};

}  // namespace yard
