// Where the rules of Tiresias' simulator play: our state under a clock of whole seconds, without
// costs. The rules say when an event is and what happens in it; the stage carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/pacing.h"

namespace yard {

class TiresiasStage {
 public:
  explicit TiresiasStage(const Replay& replay);

  const ClusterState& state() const { return s_; }
  // All scored jobs ended, or all where none is scored.
  bool done() const { return open_ == 0 || all_done(s_); }
  int64_t now_s() const { return now_s_; }

  // A submission within a second counts at its end, so that no job starts before it was submitted;
  // kNever after the last.
  int64_t arrival_s() const { return arrival_s_; }
  // Of a run time the fraction of a second is cut off.
  int64_t run_s(int32_t slot) const { return work_us_[s_.job[slot]] / kUsPerS; }

  // An event: the clock goes on, then things happen, then whoever watches is told.
  void begin_event(int64_t at_s);
  void end_event();

  int32_t arrive();  // requires: arrival_s() is due
  // Every start names GPUs; `pieces` has room for a piece a node.
  void start(int32_t slot, const Piece* pieces, int32_t num_pieces);
  // On free GPUs wherever they are, in node order.
  void start_anywhere(int32_t slot);
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
  static constexpr int64_t kUsPerS = 1'000'000;

  void look_ahead();

  const Replay& replay_;
  World world_;
  ClusterState& s_;
  const int64_t* work_us_;
  int64_t now_s_ = 0;
  int64_t arrival_s_ = kNever;
  int32_t open_ = 0;  // scored jobs that did not end; as good as endless where none is scored
  std::vector<Piece> pieces_;
  Outcome out_;
};

// "yarn": a job that fits a node goes to the first with room; a larger one takes idle nodes of one
// switch, the first in node order, and one more node there for what remains.
class YarnPlacement {
 public:
  // Throws InputError unless all nodes have as many GPUs.
  explicit YarnPlacement(const SpecColumns& spec);

  // Returns the number of pieces, 0 where the job has to wait. `free` (M): free GPUs by node.
  int32_t place(const int32_t* free, int32_t gpus, Piece* out) const;

 private:
  int32_t span(const std::vector<int32_t>& nodes, const int32_t* free, int32_t gpus,
               Piece* out) const;

  int32_t node_gpus_;
  std::vector<std::vector<int32_t>> switches_;  // nodes by rack, racks by their first node
};

enum class SortedBy { kGpus, kLeft, kLeftGpus };

// `yarn` null: GPUs are counted.
Outcome replay_sorted(TiresiasStage& stage, SortedBy order, const SpecColumns& spec,
                      const YarnPlacement* yarn);

struct DlasMode {
  bool gpu_time = false;  // attained service is time x GPUs
  double starvation = 0;  // a job that waited this much longer than it ran is promoted; 0: never
};

Outcome replay_dlas(TiresiasStage& stage, const DlasMode& mode, const Fixed& fixed);

}  // namespace yard
