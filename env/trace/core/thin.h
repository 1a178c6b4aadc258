// Thins a workload by removing jobs, or whole batches of jobs, at random.
#pragma once

#include <vector>

#include "env/base/core/rng.h"
#include "env/trace/core/job.h"

namespace yard {

// What thin() removes: removing whole batches preserves bursts of arrivals, removing jobs does not.
enum class ThinBy { kBatch, kJob };

// Keeps each job or batch with probability `keep_probability`, and at least one job. Random draws
// depend on job ids, so that a larger `keep_probability` keeps every job that a smaller
// `keep_probability` keeps. Requires: 0 < keep_probability <= 1, and jobs sorted by submission.
void thin(std::vector<Job>& jobs, double keep_probability, ThinBy by, const Rng& rng);

}  // namespace yard
