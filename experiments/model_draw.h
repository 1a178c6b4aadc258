// Models for jobs of a trace that names none: each job that asks for GPUs draws one of those that
// were measured with several GPUs, or with one where it asks for one, all alike likely.
#pragma once

#include <cstdint>

#include "env/base/rng.h"
#include "env/base/settings.h"
#include "env/trace/job.h"
#include "env/trace/profile.h"

namespace yard {

struct ModelDraw {
  bool draw = false;
  uint64_t seed = 1;
  void fields(FieldList& f) {
    f("draw", draw, "whether jobs without a model get one of those of --profiles by lot");
    f("seed", seed, uint64_t{0}, uint64_t{1} << 53, "of the lots; each replica draws its own");
  }
};

// Gives a model and its batch to each job that asks for GPUs and has no model, or one drawn before;
// they then run on any GPU type. Throws InputError where `profiles` has none for a job.
void draw_models(Trace& trace, const Profiles& profiles, const Rng& rng);

// A job for every number of GPUs and every model that draw_models() may bring together.
Trace all_draws(const Trace& trace, const Profiles& profiles);

}  // namespace yard
