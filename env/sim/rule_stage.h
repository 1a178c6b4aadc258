// Where a rule set with a clock of its own plays: our state without costs, in which jobs come,
// start, stop and end when the rules say so, at any microsecond. Jobs go by their index in the
// workload. The rules decide what happens and when; the stage keeps the books.
//
//   RuleStage stage(replay, "gavel");
//   while (!stage.done()) {
//     stage.pass_to(next_us);
//     ...                 // arrive, start, preempt, finish
//     stage.end_event();  // shows the state to whoever watches
//   }
//   return stage.take_outcome();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/pacing.h"

namespace yard {

class RuleStage {
 public:
  // Nobody has come yet; the clock stands at the first submission. Throws InputError for a policy
  // or placement that the registered `rules` do not list, for settings of the policy, and as
  // check_published() does.
  RuleStage(const Replay& replay, std::string rules);

  const ClusterState& state() const { return s_; }
  int32_t gpus(int32_t j) const { return replay_.fixed.jobs.gpus[j]; }
  int64_t submit_us(int32_t j) const { return replay_.fixed.jobs.submit_us[j]; }
  const Job& job(int32_t j) const { return replay_.trace->jobs[static_cast<size_t>(j)]; }

  // All scored jobs ended or were dropped, or all jobs where none is scored.
  bool done() const { return open_ == 0; }

  // The clock goes on, never back. Jobs that came or left since the last decision are shown before.
  void pass_to(int64_t at_us);
  // Ends a decision.
  void end_event();

  void arrive(int32_t j);
  void start(int32_t j, const Piece* pieces, int32_t num_pieces);
  // On free GPUs in node order, of the nodes that `allowed` (M) marks; null: of any.
  void start_anywhere(int32_t j, const uint8_t* allowed = nullptr);
  void preempt(int32_t j);
  // A running job ends and its GPUs are free from now on. `end_us` may lie before now, where rules
  // give GPUs back later than jobs end.
  void finish(int32_t j, int64_t end_us);
  // A running or waiting job leaves without having ended.
  void drop(int32_t j);

  // Throws RunError: nothing will ever happen again and jobs wait.
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
  ClusterState& s_;
  bool all_count_ = true;  // no job is scored
  int32_t open_ = 0;
  std::vector<int32_t> slot_;  // (N)
  std::vector<Piece> pieces_;  // (M)
  Outcome out_;
};

}  // namespace yard
