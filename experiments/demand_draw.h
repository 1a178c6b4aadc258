// What jobs of a trace ask for beyond GPUs, where it says nothing of it: deadlines, urgency, cores,
// parts of a model and a loss that falls, drawn by lot as MLFS drew them (Wang, Liu and Shen,
// CoNEXT 2020, section 4.1).
//
//   deadline    the later of 1.1 times what the user expects and U[0.5, 24] hours after submission
//   urgency     U{1..10}, as priority
// Ours, where the paper gives no numbers: users expect the run time times exp(0.25 N(0, 1)), so
// that no deadline tells it exactly; parts of the model, one, two or four of the job's GPUs, each
// half with the next; cores of a GPU's task U{2, 4, .. 12} and 4 GiB beside each; the loss, which
// falls as 1 / (b0 x + b1) + b2 from 1 to b2 in U[0.05, 0.3], with b0 in U[5, 50]; and the measure
// that is enough, which it reaches after U[0.4, 1] of the work.
#pragma once

#include <cstdint>

#include "env/base/rng.h"
#include "env/base/settings.h"
#include "env/trace/job.h"

namespace yard {

struct DemandDraw {
  bool draw = false;
  uint64_t seed = 1;
  void fields(FieldList& f) {
    f("draw", draw,
      "whether jobs that ask for GPUs alone get deadlines, urgency, cores, parts and a loss by "
      "lot");
    f("seed", seed, uint64_t{0}, uint64_t{1} << 53, "of the lots; replicas share them");
  }
};

// Of every job with GPUs and no needs of its own. A job's lots hang on its place in the trace
// alone.
void draw_demands(Trace& trace, const Rng& rng);

}  // namespace yard
