// The speed model of a run: measured profiles, and a speed class for each job of a trace.
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
  // Loads profiles from the comma-separated files or folders `paths`, and the models of `cluster`.
  // A file overrides the cluster's models. Throws InputError.
  Speeds(const std::string& paths, const Trace& trace, const ClusterSpec& cluster);
  Speeds(const Speeds&) = delete;

  // (N)  Returns the speed class of every job; 0 if the job's model is unknown.
  std::vector<int32_t> speed_classes_of(const Trace& trace);
  SpeedColumns columns() { return table_->columns(); }

  // Returns the pairs of jobs with GPU shares that were measured not to fit on one GPU (rate 0).
  // Throws InputError if more than GpuSharingConflicts::kMaxKinds kinds of jobs are in such pairs.
  GpuSharingConflicts incompatible_pairs(const Trace& trace);

  const Profiles& profiles() const { return profiles_; }

  // Returns a note if the profiles have no measurement of any job's model; empty if they have.
  std::string unused_profiles_note(const Trace& trace);

  // Removes, from each job's GPU types, types measured not to fit the job's model at its size.
  void remove_unfit_gpu_types(Trace& trace, const ClusterSpec& cluster);

 private:
  Profiles profiles_;
  std::unique_ptr<SpeedTable> table_;
  int32_t node_gpus_ = 1;
  bool choose_exchange_ = false;
};

}  // namespace yard
