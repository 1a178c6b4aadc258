// Draws models for the jobs of a trace without models, uniformly. Jobs with several GPUs draw among
// the models measured on several GPUs, others among those measured on one.
#pragma once

#include <cstdint>

#include "env/base/config/settings.h"
#include "env/base/core/rng.h"
#include "env/trace/core/job.h"
#include "env/trace/profiles/profile.h"

namespace yard {

struct ModelDraw {
  bool draw = false;
  uint64_t seed = 1;
  void fields(FieldList& f) {
    f("draw", draw, "draw a model of --profiles at random for each job without a model");
    f("seed", seed, uint64_t{0}, uint64_t{1} << 53,
      "random seed of these draws, which differ between replicas");
  }
};

// Sets model and batch size of each job with GPUs whose model is missing or drawn. The job may then
// run on any GPU type. Throws InputError if `profiles` has no model for a job.
void draw_models(Trace& trace, const Profiles& profiles, const Rng& rng);

// Returns one job for each GPU count and each model which draw_models() may combine.
Trace all_model_jobs(const Trace& trace, const Profiles& profiles);

}  // namespace yard
