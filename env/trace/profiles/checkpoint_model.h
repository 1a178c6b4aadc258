// Costs of saving and restoring a job, by the size of its model. A save writes a checkpoint to
// storage; a restore reads the checkpoint and starts the job's processes again.
//
//   save    = save_s + bytes / storage
//   restore = start_s + bytes / storage        bytes = parameters' bytes x state_per_weight
//
// Costs in the trace come first, then costs in a file of restarts, then this model. A job of an
// unknown model pays the costs of the rule set.
#pragma once

#include "env/base/config/settings.h"
#include "env/trace/core/job.h"
#include "env/trace/profiles/profile.h"

namespace yard {

// Default costs. A checkpoint holds three values for each weight: the weight and Adam's two moments
// (Kingma and Ba, ICLR 2015). start_s is the smallest restart cost of a model in Sia (SOSP 2023).
// storage_gib_per_s is assumed to be one job's share of a shared file system.
struct CheckpointCostModel {
  double state_per_weight = 3;
  double storage_gib_per_s = 0.5;
  double save_s = 0;
  double start_s = 20;

  void fields(FieldList& f) {
    f("state_per_weight", state_per_weight, 0, 100,
      "number of values in a checkpoint per weight of the model");
    f("storage_gib_per_s", storage_gib_per_s, 1e-6, 1e6, "storage bandwidth of a job, in GiB/s");
    f("save_s", save_s, 0, 1e6,
      "fixed time of a save, in seconds, before the time to write the checkpoint");
    f("start_s", start_s, 0, 1e6,
      "fixed time of a restore, in seconds, before the time to read the checkpoint");
  }
};

// Sets save_us and restore_us of the jobs for which the trace gives no costs.
void fill_checkpoint_costs(Trace& trace, const Profiles& profiles,
                           const CheckpointCostModel& model);

}  // namespace yard
