// State and metrics for rule sets that decide which events happen, at any microsecond. Jobs are
// identified by their index in the workload.
//
//   RuleSetSimByJob sim(replay, "gavel");
//   while (!sim.done()) {
//     sim.advance_to(next_us);
//     ...  // arrive, start, preempt, finish
//     sim.end_event();
//   }
//   return sim.outcome_at_end();
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/rulesets/published.h"

namespace yard {

class RuleSetSimByJob : public PublishedRulesSim {
 public:
  RuleSetSimByJob(const Replay& replay, std::string rules);

  int32_t gpus(int32_t j) const { return replay_.fixed.jobs.gpus[j]; }
  int64_t submit_us(int32_t j) const { return replay_.fixed.jobs.submit_us[j]; }
  const Job& job(int32_t j) const { return replay_.trace->jobs[static_cast<size_t>(j)]; }

  // Moves the clock forward, and first shows Replay::watch the changes since the last decision.
  void advance_to(int64_t at_us);
  // Ends a decision and shows the state to Replay::watch.
  void end_event();

  void arrive(int32_t j);
  void start(int32_t j, std::span<const Piece> pieces);
  // Starts a job on free GPUs in node order, on nodes marked in `allowed` (M); null: on any node.
  void start_anywhere(int32_t j, const uint8_t* allowed = nullptr);
  void preempt(int32_t j);
  // Ends a running job and frees its GPUs now. The end time reported, `end_us`, may be before now.
  void finish(int32_t j, int64_t end_us);
  // Removes a running or waiting job without recording an end time.
  void drop_unfinished(int32_t j) { finish(j, kNone); }

  Outcome outcome_at_end() { return finish_replay(); }

 private:
  JobOutcome& outcome(int32_t j) { return out_.jobs[static_cast<size_t>(j)]; }
  void record_start(int32_t j);
  int32_t slot(int32_t j) const { return slot_[static_cast<size_t>(j)]; }

  std::vector<int32_t> slot_;  // (N)
};

}  // namespace yard
