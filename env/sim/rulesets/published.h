// Base of all simulations under the rules of a published simulator. Preemption costs nothing, and
// each job requests only a number of GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/rulesets/rule_set.h"

namespace yard {

class PublishedRulesSim {
 public:
  PublishedRulesSim(const PublishedRulesSim&) = delete;

  const SimState& state() const { return s_; }
  // Returns the placement named by the replay, or else the first placement of the rule set.
  const std::string& placement() const { return placement_; }
  // Returns whether all scored jobs (all jobs, if no job is scored) ended or were dropped.
  bool done() const { return open_ == 0 || all_done(s_); }
  // Throws a RunError which says that jobs wait and no further event will happen.
  [[noreturn]] void throw_stuck() const;

 protected:
  // Begins at the first submission, without jobs. Throws InputError as placement_or_default()
  // does, for policies with settings, for jobs without GPUs and, unless Info::by_types, for GPUs
  // whose speed is not 1.
  PublishedRulesSim(const Replay& replay, std::string rules);

  // Starts a job on free GPUs in node order, on nodes marked in `allowed` (M); null: on any node.
  void start_in_node_order(int32_t slot, const uint8_t* allowed);
  // Removes a running or waiting job from the state.
  void remove_job(int32_t slot);
  // Ends an event by showing the state to Replay::watch.
  void close_event();
  Outcome finish_replay();

  const Replay& replay_;
  std::string rules_, placement_;
  World world_;
  SimState& s_;
  std::vector<Piece> pieces_;  // (M)
  Outcome out_;

 private:
  int32_t open_ = 0;  // scored jobs that have not ended; INT32_MAX if none is scored
};

}  // namespace yard
