// Runs rule sets with a clock of their own: our state without costs, in which jobs arrive, start,
// stop and end when the rules say so, at any microsecond. A job is named by its index in the
// workload. The rules decide what happens and when; the stage does the bookkeeping.
//
//   JobSim stage(replay, "gavel");
//   while (!stage.done()) {
//     stage.pass_to(next_us);
//     ...                 // arrive, start, preempt, finish
//     stage.end_event();  // shows the state to Replay::watch
//   }
//   return stage.take_outcome();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/rulesets/rule_set.h"

namespace yard {

class JobSim {
 public:
  // Starts with no jobs and the clock at the first submission. Throws InputError for a policy or
  // placement that the registered `rules` do not list, for settings of the policy, and as
  // check_published() does.
  JobSim(const Replay& replay, std::string rules);

  const SimState& state() const { return s_; }
  int32_t gpus(int32_t j) const { return replay_.fixed.jobs.gpus[j]; }
  int64_t submit_us(int32_t j) const { return replay_.fixed.jobs.submit_us[j]; }
  const Job& job(int32_t j) const { return replay_.trace->jobs[static_cast<size_t>(j)]; }

  // Whether all scored jobs ended or were dropped, or all jobs if none is scored.
  bool done() const { return open_ == 0; }

  // Advances the clock, never back. First shows jobs that arrived or left since the last decision.
  void pass_to(int64_t at_us);
  // Ends a decision and shows the state.
  void end_event();

  void arrive(int32_t j);
  void start(int32_t j, const Piece* pieces, int32_t num_pieces);
  // Starts on free GPUs in node order, on the nodes that `allowed` (M) marks; null: on any.
  void start_anywhere(int32_t j, const uint8_t* allowed = nullptr);
  void preempt(int32_t j);
  // Ends a running job and frees its GPUs. `end_us` may be before now, for rules that return GPUs
  // later than jobs end.
  void finish(int32_t j, int64_t end_us);
  // Removes a running or waiting job without an end.
  void drop(int32_t j);

  // Throws RunError: jobs wait and nothing will ever happen again.
  [[noreturn]] void stuck() const;

  Outcome take_outcome();

 private:
  void show();
  void leave(int32_t j, int64_t end_us);
  int32_t slot(int32_t j) const { return slot_[static_cast<size_t>(j)]; }
  bool counts(int32_t j) const { return all_count_ || replay_.workload.scored(j); }

  const Replay& replay_;
  std::string rules_;
  World world_;
  SimState& s_;
  bool all_count_ = true;  // no job is scored
  int32_t open_ = 0;
  std::vector<int32_t> slot_;  // (N)
  std::vector<Piece> pieces_;  // (M)
  Outcome out_;
};

}  // namespace yard
