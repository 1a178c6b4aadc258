// Checks, before a simulation, whether jobs can run on a cluster at all.
#pragma once

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard {

// Checks that each job requests GPUs or CPUs and fits the empty cluster. Throws InputError with the
// first unusable job and their number; or, if `skip_unusable`, removes unusable jobs and counts
// them by reason in trace.skipped. Throws InputError if run times overflow the clock.
void check_jobs_fit_cluster(Trace& trace, const ClusterSpec& spec, bool skip_unusable);

// Rejects, or skips if `skip_unusable`, jobs without GPUs: published rule sets do not support them.
void check_jobs_request_gpus(Trace& trace, bool skip_unusable);

}  // namespace yard
