// A plan is a wish: edits to what runs now. A draft is a plan in the making: its edits act on the
// state at once, so that a policy sees what it has done so far, and a journal takes them back.
#pragma once

#include <string>
#include <vector>

#include "env/sim/exchange.h"
#include "env/sim/holding.h"
#include "env/sim/state.h"
#include "env/sim/view.h"

namespace yard {

enum class Verb : uint8_t { kStart, kPreempt, kEnd };

struct Edit {
  Verb verb;
  JobRef job;
  int32_t first_piece = 0;  // into Plan::pieces
  int32_t num_pieces = 0;
  Exchange exchange = {};  // of a start
  friend bool operator==(const Edit&, const Edit&) = default;
};

struct Plan {
  std::vector<Edit> edits;
  std::vector<Piece> pieces;
  int64_t wake_us = kNever;  // ask again then, if nothing happens before

  void clear();
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Returns why the plan cannot be carried out, "" if it can: every job live and in the right phase,
// at most one preemption and one start each, or one end, and the final allocation within every
// node's GPUs.
std::string why_illegal(const Fixed& fixed, const ClusterState& state, const Plan& plan);

// Carries a plan out in two phases: everything that leaves is released, then everything that comes
// is acquired, so that two jobs may swap nodes. Requires: why_illegal() is "".
void execute(const Fixed& fixed, ClusterState& state, const Plan& plan);

class Draft {
 public:
  // Requires: both outlive the draft.
  Draft(const Fixed& fixed, ClusterState& state)
      : fixed_(&fixed), state_(&state), begun_(static_cast<size_t>(state.head->slots), 0) {}

  // Makes the draft ready for another decision, keeping its memory.
  void reset();

  // Returns false, changing nothing, where the rules forbid it, or for a preemption or an end of a
  // job that this draft starts: a plan has no such thing, undo_to() takes the start back.
  bool start(int32_t slot, const Piece* pieces, int32_t num_pieces, const Exchange& exchange = {});
  bool preempt(int32_t slot);
  bool end(int32_t slot);  // before its work is done; View::may_end() tells whose user lets it
  void wake_at(int64_t at_us);

  // Carries the edits out anew, all preemptions and ends before all starts, as execute() does: a
  // start then waits for all who leave its node, also for those that were stopped after it was
  // drafted.
  void put_stops_first();

  // A mark is a point to go back to.
  size_t mark() const { return journal_.size(); }
  void undo_to(size_t mark);

  const Plan& plan() const { return plan_; }
  // Room for one placement: spec.num_nodes pieces a role group.
  Piece* scratch();

 private:
  struct Undo;
  void record_pieces(int32_t slot);
  void undo_start(const Undo& u);
  void take_off(Verb verb, int32_t slot);
  void undo_take_off(Verb verb, const Undo& u);

  // What an edit overwrote.
  struct Undo {
    int32_t slot;
    Phase phase;
    int32_t queue_prev, queue_next, class_prev, class_next;
    int64_t queue_rank, next_rank, first_start_us, since_us, until_us, saved_us;
    int64_t attained_us;
    int64_t ready_horizon_us;
    double done_us, rate, kept_us, moved_bytes;
    int64_t stint_us;
    size_t first_part, num_parts;  // into parts_: what a job held that was taken off
    size_t num_pieces;             // length of plan_.pieces before
    Exchange exchange;
  };
  struct HeldPart {
    int32_t node;
    uint64_t mask;
    int32_t group, tasks;
    Leaving leaving;  // as it was before
  };

  const Fixed* fixed_;
  ClusterState* state_;
  Plan plan_;
  std::vector<Undo> journal_;
  std::vector<HeldPart> parts_;
  std::vector<Piece> scratch_;
  std::vector<char> begun_;  // (S) slots that this draft starts
};

}  // namespace yard
