// Whether jobs can run on a cluster at all: said before anything is simulated.
#pragma once

#include "env/cluster/spec.h"
#include "env/trace/job.h"

namespace yard {

// Throws InputError about the first job that does not fit an empty cluster, or asks for nothing,
// and how many do not; or takes them out, counted by reason in trace.skipped.
void check_fits(Trace& trace, const ClusterSpec& spec, bool skip_unusable);

// The same for jobs of CPUs alone, which rule sets of published simulators do not know.
void check_gpus(Trace& trace, bool skip_unusable);

}  // namespace yard
