// What saving and restoring a job costs, by the size of its model: a checkpoint goes to storage and
// comes back from it, and a job that goes on has to start its processes again.
//
//   save    = save_s + bytes / storage
//   restore = start_s + bytes / storage        bytes = parameters' bytes x state_per_weight
//
// Times that a file of restarts tells count as they are. Jobs that tell their own keep them; where
// nothing is known of the model, the job costs what the rules charge everybody.
#pragma once

#include "env/base/settings.h"
#include "env/trace/job.h"
#include "env/trace/profile.h"

namespace yard {

// Defaults. Three values for each weight: the weight and Adam's two moments (Kingma and Ba, ICLR
// 2015). 20 s to start: the least that Sia (SOSP 2023) charges any of its models for a restart. The
// storage is assumed: what one job gets of a shared file system.
struct CheckpointModel {
  double state_per_weight = 3;
  double storage_gib_per_s = 0.5;
  double save_s = 0;
  double start_s = 20;

  void fields(FieldList& f) {
    f("state_per_weight", state_per_weight, 0, 100, "values in a checkpoint for each weight");
    f("storage_gib_per_s", storage_gib_per_s, 1e-6, 1e6, "what a job gets of the storage, GiB/s");
    f("save_s", save_s, 0, 1e6, "seconds of a save beside what is written");
    f("start_s", start_s, 0, 1e6, "seconds of a restore beside what is read");
  }
};

// Fills in what jobs do not tell themselves.
void fill_checkpoints(Trace& trace, const Profiles& profiles, const CheckpointModel& model);

}  // namespace yard
