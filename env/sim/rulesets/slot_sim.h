// Runs the rules of published simulators: our state under their clock, without our costs. The rules
// decide when events are and what happens in them; the stage carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/rulesets/gang_placer.h"
#include "env/sim/rulesets/rule_set.h"

namespace yard {

class SlotSim {
 public:
  static constexpr int64_t kUsPerS = 1'000'000;

  // When a job submitted within a second arrives, for rules that count whole seconds: at the end of
  // the second, so that it does not start too early, or at its beginning.
  enum class Submission { kRoundedUp, kCut };

  // Throws InputError as check_published() does.
  SlotSim(const Replay& replay, std::string rules, Submission submission = Submission::kRoundedUp);

  const SimState& state() const { return s_; }
  // Whether all scored jobs ended, or all jobs if none is scored.
  bool done() const { return open_ == 0 || all_done(s_); }
  int64_t now_s() const { return now_s_; }

  // The next submission; kNever after the last.
  int64_t arrival_us() const { return arrival_us_; }
  int64_t arrival_s() const { return arrival_s_; }
  // Throws InputError if the trace has no run time for the job.
  int64_t run_us(int32_t slot) const;
  // The same, rounded down to seconds.
  int64_t run_s(int32_t slot) const { return run_us(slot) / kUsPerS; }

  // An event: the clock advances, things happen, then the state is shown to Replay::watch.
  void begin_event(int64_t at_s);
  void begin_event_us(int64_t at_us);
  void end_event();

  int32_t arrive();  // requires: the next submission is due
  // Every start names its GPUs, at most one piece for each node.
  void start(int32_t slot, const Piece* pieces, int32_t num_pieces);
  // Starts on free GPUs in node order.
  void start_anywhere(int32_t slot);
  // Starts where `placer` says, or anywhere if it is null. Returns false if there is no room.
  bool try_start(int32_t slot, const GangPlacer* placer);
  void preempt(int32_t slot);
  // Ends a running or waiting job.
  void finish(int32_t slot);
  // A running job changes its GPUs in two steps, which count as no preemption and no start: first
  // all moving jobs leave, then they take their new places.
  void leave(int32_t slot);
  void settle_in(int32_t slot, const Piece* pieces, int32_t num_pieces);

  // Throws RunError: jobs wait and nothing will ever happen again.
  [[noreturn]] void stuck() const;

  Outcome take_outcome();

 private:
  void find_next_events();

  const Replay& replay_;
  std::string rules_;
  Submission submission_;
  World world_;
  SimState& s_;
  const int64_t* work_us_;
  int64_t now_s_ = 0;
  int64_t arrival_us_ = kNever, arrival_s_ = kNever;
  int32_t open_ = 0;  // scored jobs that have not ended; INT32_MAX if none is scored
  std::vector<Piece> pieces_;
  Outcome out_;
};

}  // namespace yard
