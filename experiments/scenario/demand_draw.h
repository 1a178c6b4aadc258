// Draws what a trace lacks beyond GPU counts: deadlines, urgency, cores, model partitions and loss
// curves. The distributions follow MLFS (Wang, Liu and Shen, CoNEXT 2020, section 4.1):
//
//   deadline    the later of 1.1 times what the user expects and U[0.5, 24] hours after submission
//   urgency     U{1..10}, as priority
// Our choice, where the paper gives no numbers:
//   expected    run time x exp(0.25 N(0, 1)); a deadline does not reveal the run time
//   partitions  of the model: 1, 2 or 4, uniform over those which divide the job's GPUs
//   cores       U{2, 4, .. 12} per GPU task, with 4 GiB for each core
//   loss        1 / (b0 x + b1) + b2, from 1 to b2 in U[0.05, 0.3], with b0 in U[5, 50]
//   enough      the loss after U[0.4, 1] of the work
#pragma once

#include <cstdint>

#include "env/base/config/settings.h"
#include "env/base/core/rng.h"
#include "env/trace/core/job.h"

namespace yard {

struct JobAttributeDrawConfig {
  bool draw = false;
  uint64_t seed = 1;
  void fields(FieldList& f) {
    f("draw", draw,
      "draw deadlines, urgency, cores, model partitions and loss curves for jobs that request only "
      "GPUs");
    f("seed", seed, uint64_t{0}, uint64_t{1} << 53,
      "random seed of these draws, shared by all replicas");
  }
};

// Draws the missing attributes of every job that has GPUs and no role groups of its own. A job's
// draw depends only on `rng` and its index in the trace.
void draw_missing_job_attributes(Trace& trace, const Rng& rng);

}  // namespace yard
