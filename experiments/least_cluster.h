// The least cluster that can have run what a log says, where nobody tells the real one.
#pragma once

#include <cstdint>
#include <string>

#include "env/trace/job.h"

namespace yard {

// Returns it in the shorthand of load_cluster(), "4x8:a100+2x8:v100": for every GPU type that jobs
// ask for the most GPUs that such jobs held at once; what others held beyond that is of the type
// most asked for. All nodes are of the most GPUs that a task had on one node. Throws InputError
// where no job has a logged start and an end or run time, or none holds a GPU.
std::string least_cluster(const Trace& trace);

// The most GPUs that jobs held at once, by the log's starts and ends; 0 where it has none.
int64_t most_gpus_held(const Trace& trace);

// Throws InputError with what to do where no job of the trace holds a GPU.
void need_gpus(const Trace& trace);

}  // namespace yard
