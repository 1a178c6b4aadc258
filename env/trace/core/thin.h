// Thins a workload by removing some of its jobs, or of its batches, at random.
#pragma once

#include <vector>

#include "env/base/core/rng.h"
#include "env/trace/core/job.h"

namespace yard {

// Removing batches preserves bursts, removing jobs does not.
enum class ThinBy { kBatch, kJob };

// Keeps each with probability `keep`, but at least one. Draws are keyed by job id: what a small
// `keep` keeps, a larger one keeps too. Requires: 0 < keep <= 1, jobs sorted by submission.
void thin(std::vector<Job>& jobs, double keep, ThinBy by, const Rng& rng);

}  // namespace yard
