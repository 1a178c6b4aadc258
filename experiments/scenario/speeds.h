// The speed model of a run: measured profiles, and the speed class of each job of a trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/speed/table.h"
#include "env/sim/state/tables.h"
#include "env/trace/core/job.h"
#include "env/trace/profiles/profile.h"

namespace yard {

class Speeds {
 public:
  // Loads profiles from files or folders, joined by commas, then the cluster's own models. Speeds
  // in a profile override those of the cluster's file. Throws InputError. Requires: the trace and
  // the cluster of the run.
  Speeds(const std::string& paths, const Trace& trace, const ClusterSpec& cluster);
  Speeds(const Speeds&) = delete;

  // (N)  Returns the class of every job; 0 if its model is unknown.
  std::vector<int32_t> speed_classes_of(const Trace& trace);
  SpeedColumns columns() { return table_->columns(); }

  // Returns the pairs of jobs with GPU shares that were measured not to fit on one GPU (rate 0).
  // Throws InputError if more than PairConflicts::kMaxKinds kinds of jobs are concerned.
  PairConflicts pair_conflicts(const Trace& trace);

  const Profiles& profiles() const { return profiles_; }

  // Returns a note if nothing is measured for the model of any job. Otherwise empty.
  std::string unused_profiles_note(const Trace& trace);

  // Removes the GPU types on which a job's model was measured not to fit at its size.
  void restrict_gpu_types(Trace& trace, const ClusterSpec& cluster);

 private:
  Profiles profiles_;
  std::unique_ptr<SpeedTable> table_;
  int32_t node_gpus_ = 1;
  bool choose_exchange_ = false;
};

}  // namespace yard
