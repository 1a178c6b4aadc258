// Checks, before a simulation, whether jobs can run on a cluster at all.
#pragma once

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard {

// Checks that each job requests something and fits the empty cluster. Throws InputError with the
// first unusable job and the number of such jobs. `skip_unusable`: removes unusable jobs, counted
// by reason in trace.skipped. Throws InputError if the run times are too long for the clock.
void check_jobs_fit_cluster(Trace& trace, const ClusterSpec& spec, bool skip_unusable);

// Does the same for jobs without GPUs, which the published rule sets do not support.
void check_jobs_request_gpus(Trace& trace, bool skip_unusable);

}  // namespace yard
