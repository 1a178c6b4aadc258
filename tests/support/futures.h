// Two futures of one present: worlds that are equal up to a moment and different after it in all
// that nobody may know: how long jobs still run, who arrives, how many, of which shapes, users and
// tenants, what befalls GPUs and how long it lasts.
//
//   const RandomWorld now = told_world(Rng(1), {.rates = true});
//   const RandomWorld then = other_future(now, settled_by(*scene_of(now), policy, until_us),
//   until_us,
//                                         Rng(2));
#pragma once

#include <vector>

#include "policies/policy.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {

// A random world in which some users set limits, and GPUs that fail come back: else a job could be
// left without a place for ever.
RandomWorld told_world(Rng rng, const RandomWorldOptions& options);

// What is settled at a moment: jobs that have ended, and how much work the others must hold at
// least, lest they had ended as well.
struct Settled {
  std::vector<char> ended;       // (N)
  std::vector<double> least_us;  // (N)
};
// As `policy` has played it.
Settled settled_by(const Scene& scene, const Policy& policy, int64_t until_us);
// Whoever plays it: a job may have ended if it can have, on the fastest that there is.
Settled settled_by_anybody(const RandomWorld& world, int64_t until_us);

// `now` up to `until_us`, and different after it. `keep_count`: as many jobs as before.
RandomWorld other_future(const RandomWorld& now, const Settled& settled, int64_t until_us, Rng rng,
                         bool keep_count = false);

}  // namespace yard::testing
