// A lighter workload of the same make: some of the jobs, or of the batches, left out by chance.
#pragma once

#include <vector>

#include "env/base/rng.h"
#include "env/trace/job.h"

namespace yard {

// Batches keep their bursts, jobs alone do not.
enum class ThinBy { kBatch, kJob };

// Keeps each with the probability `keep`, at least one. Draws are keyed by job id: what is kept at
// a small share is kept at a larger one too. Requires: 0 < keep <= 1, jobs by rising submission.
void thin(std::vector<Job>& jobs, double keep, ThinBy by, const Rng& rng);

}  // namespace yard
