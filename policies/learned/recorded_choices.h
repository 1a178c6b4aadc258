// What somebody chose in recorded decisions, as an agent's task shows it: what a network saw at
// each step, and what was done there. `yardmaster log choices` writes it, `train --from-log` learns
// from it. Dims: I steps, R rows of all steps together, F, C features, M choices that the task has
// not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/task/observation.h"
#include "policies/learned/tensors.h"

namespace yard {

struct RecordedChoices {
  TaskShape shape;
  std::vector<int32_t> rows;       // (I) of step i
  std::vector<float> jobs;         // (R, F)
  std::vector<float> cluster;      // (I, C)
  std::vector<float> prior;        // (R + I) of each step its rows, then doing nothing more;
                                   // kMaskedLogit where that was not legal
  std::vector<int32_t> action;     // (I) the row; rows[i]: nothing more
  std::vector<int32_t> decision;   // (I) of those recorded, from 0
  std::vector<float> time_s;       // (I) since the first decision
  std::vector<float> probability;  // (I) of the whole decision under who made it
  // What was done and the task cannot say, one an action.
  std::vector<int32_t> missed_decision;  // (M)
  std::vector<float> missed_time_s;      // (M)

  int64_t size() const { return static_cast<int64_t>(rows.size()); }

  // Adds what is seen; what is done there and the rest is the caller's.
  void add(const Observation& seen);

  // Where each step's rows begin in jobs (I + 1); its priors begin i later.
  std::vector<int64_t> offsets() const;

  // The steps [from, to) with what was missed at their times: from that of `from`, where that is
  // not the first, to that of `to`, where there is one.
  RecordedChoices part(int64_t from, int64_t to) const;

  // Writes a step as a task's observe() would into `out`, which has room for all rows; rows that do
  // not exist are left as they are. `offset`: offsets()[i].
  void show(int64_t i, int64_t offset, Observation& out) const;
};

Tensors pack_choices(const RecordedChoices& choices);

// Throws InputError naming `where` for tensors of another shape, or with an action that is not
// legal.
RecordedChoices unpack_choices(const Tensors& tensors, const TaskShape& shape,
                               const std::string& where);

}  // namespace yard
