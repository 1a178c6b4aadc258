// The base of all simulations under the rules of a published simulator: a state without costs, in
// which a job requests only a number of GPUs.
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
  // Returns the placement that the replay names, else the first that the rules list.
  const std::string& placement() const { return placement_; }
  // Returns whether all scored jobs ended or were dropped, or all jobs if none is scored.
  bool done() const { return open_ == 0 || all_done(s_); }
  // Throws RunError: jobs wait and nothing will ever happen again.
  [[noreturn]] void stuck() const;

 protected:
  // Starts with no jobs and the clock at the first submission. Throws InputError as
  // check_supported() does, for settings of the policy, for jobs without GPUs and, unless
  // Info::by_types, for GPUs of a speed other than 1.
  PublishedRulesSim(const Replay& replay, std::string rules);

  // Starts on free GPUs in node order, on the nodes that `allowed` (M) marks; null: on any.
  void start_by_nodes(int32_t slot, const uint8_t* allowed);
  // Removes a running or waiting job for good.
  void remove(int32_t slot);
  // Ends an event: shows the state to Replay::watch.
  void call_watch();
  Outcome close();

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
