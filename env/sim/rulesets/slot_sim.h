// Bookkeeping for rule sets that decide when events are. Jobs are named by their slot.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/rulesets/published.h"

namespace yard {

// A placement algorithm of published rule sets. Dims: M nodes.
class GangPlacer {
 public:
  virtual ~GangPlacer() = default;
  // Writes a placement of `gpus` GPUs. Returns the number of pieces, or 0 if the job has to wait.
  // `free` (M): free GPUs by node. Requires: `out` has room for M pieces.
  virtual int32_t place(const int32_t* free, int32_t gpus, Piece* out) const = 0;
};

class JobSlotSim : public PublishedRulesSim {
 public:
  static constexpr int64_t kUsPerS = 1'000'000;

  // When jobs arrive under rules that count whole seconds: at the end of the second in which the
  // job is submitted, or at the beginning.
  enum class Submission { kRoundedUp, kCut };

  JobSlotSim(const Replay& replay, std::string rules,
             Submission submission = Submission::kRoundedUp);

  int64_t now_s() const { return now_s_; }

  // The next submission; kNever after the last.
  int64_t arrival_us() const { return arrival_us_; }
  int64_t arrival_s() const { return arrival_s_; }
  // Throws InputError if the trace has no run time for the job.
  int64_t run_us(int32_t slot) const;
  // The same, rounded down to seconds.
  int64_t run_s(int32_t slot) const { return run_us(slot) / kUsPerS; }

  // Begin and end an event. Between the two calls, the functions below apply.
  void begin_event(int64_t at_s);
  void begin_event_us(int64_t at_us) { pass_time(world_.fixed(), s_, at_us); }
  void end_event() { call_watch(); }

  int32_t arrive();  // requires: the next submission is due
  // Every start names its GPUs, at most one piece for each node.
  void start(int32_t slot, std::span<const Piece> pieces) {
    yard::start(world_.fixed(), s_, slot, pieces.data(), static_cast<int32_t>(pieces.size()));
  }
  // Starts on free GPUs in node order.
  void start_anywhere(int32_t slot) { start_by_nodes(slot, nullptr); }
  // Starts where `placer` says, or anywhere if it is null. Returns false if there is no room.
  bool try_start(int32_t slot, const GangPlacer* placer);
  void preempt(int32_t slot) { yard::preempt(world_.fixed(), s_, slot); }
  // Ends a running or waiting job.
  void finish(int32_t slot);
  // Moves a running job without counting a preemption or a start. First all moving jobs leave(),
  // then each of them settles in.
  void leave(int32_t slot);
  void start_after_move(int32_t slot, std::span<const Piece> pieces);

  Outcome finish_replay();

 private:
  void find_next_events();

  Submission submission_;
  const int64_t* work_us_;
  int64_t now_s_ = 0;
  int64_t arrival_us_ = kNever, arrival_s_ = kNever;
};

}  // namespace yard
