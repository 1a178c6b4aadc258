// Where the rules of published simulators play: our state under a clock of theirs, without costs of
// its own. The rules say when an event is and what happens in it; the stage carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/gang_placer.h"
#include "env/sim/pacing.h"

namespace yard {

class Stage {
 public:
  static constexpr int64_t kUsPerS = 1'000'000;

  // When a job that was submitted within a second is there, for rules that count whole seconds: at
  // the second's end, so that it does not start before, or at its beginning, the fraction cut off.
  enum class Submission { kRoundedUp, kCut };

  // Throws InputError as check_published() does.
  Stage(const Replay& replay, std::string rules, Submission submission = Submission::kRoundedUp);

  const ClusterState& state() const { return s_; }
  // All scored jobs ended, or all where none is scored.
  bool done() const { return open_ == 0 || all_done(s_); }
  int64_t now_s() const { return now_s_; }

  // The next submission; kNever after the last.
  int64_t arrival_us() const { return arrival_us_; }
  int64_t arrival_s() const { return arrival_s_; }
  // Throws InputError where the trace has no run time for the job.
  int64_t run_us(int32_t slot) const;
  // The same with the fraction of a second cut off.
  int64_t run_s(int32_t slot) const { return run_us(slot) / kUsPerS; }

  // An event: the clock goes on, then things happen, then whoever watches is told.
  void begin_event(int64_t at_s);
  void begin_event_us(int64_t at_us);
  void end_event();

  int32_t arrive();  // requires: the next submission is due
  // Every start names GPUs; `pieces` has room for a piece a node.
  void start(int32_t slot, const Piece* pieces, int32_t num_pieces);
  // On free GPUs wherever they are, in node order.
  void start_anywhere(int32_t slot);
  // Where `placer` says, anywhere if it is null. Returns whether there was room.
  bool try_start(int32_t slot, const GangPlacer* placer);
  void preempt(int32_t slot);
  // Ends a running job, or one that waits.
  void finish(int32_t slot);
  // A running job changes its GPUs in two halves, which are no preemption and no start: all that
  // move leave first, then take their new places.
  void leave(int32_t slot);
  void settle_in(int32_t slot, const Piece* pieces, int32_t num_pieces);

  // Throws RunError: nothing will ever happen again and jobs wait.
  [[noreturn]] void stuck() const;

  Outcome take_outcome();

 private:
  void look_ahead();

  const Replay& replay_;
  std::string rules_;
  Submission submission_;
  World world_;
  ClusterState& s_;
  const int64_t* work_us_;
  int64_t now_s_ = 0;
  int64_t arrival_us_ = kNever, arrival_s_ = kNever;
  int32_t open_ = 0;  // scored jobs that did not end; as good as endless where none is scored
  std::vector<Piece> pieces_;
  Outcome out_;
};

}  // namespace yard
