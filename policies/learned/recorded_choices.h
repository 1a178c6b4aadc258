// Recorded decisions of any policy, as steps of an agent's task: the observation at each step and
// the action taken. `yardmaster log choices` writes recorded choices, `train --from-log` learns
// from them. Dims: I steps, R rows of all steps, F row features, C cluster features, M
// inexpressible actions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/task/observation.h"
#include "policies/learned/tensors.h"

namespace yard {

struct RecordedChoices {
  ObservationShape shape;
  std::vector<int32_t> rows;      // (I)  number of rows of the step
  std::vector<float> jobs;        // (R, F)
  std::vector<float> cluster;     // (I, C)
  std::vector<float> prior;       // (R + I)  per step: priors of its rows, then of doing nothing;
                                  // kMaskedLogit for an illegal action
  std::vector<int32_t> action;    // (I)  index of the chosen row; rows[i]: do nothing more
  std::vector<int32_t> decision;  // (I)  index of the recorded decision, from 0
  std::vector<float> time_s;      // (I) seconds since the first decision
  std::vector<float>
      probability;  // (I)  probability of the whole decision, under the policy that made it
  // Actions taken that the task cannot express, one entry each.
  std::vector<int32_t> missed_decision;  // (M)
  std::vector<float> missed_time_s;      // (M)

  int64_t size() const { return static_cast<int64_t>(rows.size()); }

  // Appends an observation. The caller appends the action and all other columns.
  void add(const Observation& seen);

  // Returns where each step's rows begin in `jobs` (I + 1). In `prior`, step i begins i elements
  // later.
  std::vector<int64_t> row_offsets() const;

  // Returns the steps [from_step, to_step) and the missed actions between their times. A range from
  // the first step also has all earlier missed actions, a range to the last step all later ones.
  RecordedChoices step_range(int64_t from_step, int64_t to_step) const;

  // Writes step i to `out` as a task's observe() would. Row features in `out` beyond the step's
  // rows are left unchanged. `offset`: row_offsets()[i]. Requires: `out` has room for the rows of
  // `shape`.
  void write_observation(int64_t i, int64_t offset, Observation& out) const;
};

Tensors pack_choices(const RecordedChoices& choices);

// Throws InputError naming `where` if a tensor has another shape or an action is illegal.
RecordedChoices unpack_choices(const Tensors& tensors, const ObservationShape& shape,
                               const std::string& where);

}  // namespace yard
