// State and metrics for rule sets that decide when events happen. Jobs are identified by slot.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/rulesets/published.h"

namespace yard {

// A placement algorithm of published rule sets, for clusters with M nodes.
class GangPlacer {
 public:
  virtual ~GangPlacer() = default;
  // Writes a placement of `gpus` GPUs to `out`. Returns the number of pieces, or 0 if the job has
  // to wait. `free` (M) has the free GPUs by node. Requires: `out` has room for M pieces.
  virtual int32_t place(const int32_t* free, int32_t gpus, Piece* out) const = 0;
};

class RuleSetSimBySlot : public PublishedRulesSim {
 public:
  static constexpr int64_t kUsPerS = 1'000'000;

  // When a job arrives under rules that count whole seconds: at the end (kRoundedUp) or at the
  // beginning (kCut) of the second in which the job is submitted.
  enum class Submission { kRoundedUp, kCut };

  RuleSetSimBySlot(const Replay& replay, std::string rules,
                   Submission submission = Submission::kRoundedUp);

  int64_t now_s() const { return now_s_; }

  // Returns the time of the next submission; kNever after the last submission.
  int64_t next_arrival_us() const { return arrival_us_; }
  int64_t next_arrival_s() const { return arrival_s_; }
  // Returns the job's run time. Throws InputError if the trace gives no run time.
  int64_t trace_run_us(int32_t slot) const;
  // Returns the job's run time, rounded down to seconds.
  int64_t trace_run_s(int32_t slot) const { return trace_run_us(slot) / kUsPerS; }

  // begin_event() and end_event() enclose the calls of the functions below in one event.
  void begin_event(int64_t at_s);
  void begin_event_us(int64_t at_us) { pass_time(world_.fixed(), s_, at_us); }
  void end_event() { close_event(); }

  int32_t arrive();  // requires: the next submission is due
  // Starts a job on `pieces`, of which at most one is on each node.
  void start(int32_t slot, std::span<const Piece> pieces) {
    yard::start(world_.fixed(), s_, slot, pieces.data(), static_cast<int32_t>(pieces.size()));
  }
  // Starts a job on free GPUs in node order.
  void start_anywhere(int32_t slot) { start_in_node_order(slot, nullptr); }
  // Starts a job where `placer` places it (null: on any GPUs). Returns false if there is no room.
  bool try_start(int32_t slot, const GangPlacer* placer);
  void preempt(int32_t slot) { yard::preempt(world_.fixed(), s_, slot); }
  // Ends a running or waiting job.
  void finish(int32_t slot);
  // Move running jobs without counting preemptions and starts: first call leave_for_move() for all
  // moving jobs, then start_after_move() for each.
  void leave_for_move(int32_t slot);
  void start_after_move(int32_t slot, std::span<const Piece> pieces);

  Outcome outcome_at_end();

 private:
  void find_next_arrival();

  Submission submission_;
  const int64_t* work_us_;
  int64_t now_s_ = 0;
  int64_t arrival_us_ = kNever, arrival_s_ = kNever;
};

}  // namespace yard
