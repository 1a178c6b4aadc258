// Infers the smallest cluster that can have run the jobs of a recorded trace.
#pragma once

#include <cstdint>
#include <string>

#include "env/trace/core/job.h"

namespace yard {

// Returns the cluster in load_cluster()'s shorthand, "4x8:a100+2x8:v100": per requested GPU type,
// the maximum number of GPUs held at once. If the maximum over all jobs exceeds the sum of these,
// the type with the most GPUs gets the difference. A node has as many GPUs as the largest task of
// any job. Throws InputError if no job holds a GPU, or no job has a logged start and held GPUs for
// more than 0 s.
std::string smallest_cluster(const Trace& trace);

// Returns the maximum number of GPUs held at once according to the log; 0 without logged times.
int64_t max_gpus_held(const Trace& trace);

// Throws InputError, with advice on what to do, if no job of the trace holds a GPU.
void require_gpu_jobs(const Trace& trace);

}  // namespace yard
