// Fits the model of env/trace/fitted/workload_model.h to a part of a trace, with counts, moments
// and a few iterations of expectation-maximisation. No step can fail to converge.
// workload_model.h has the equations.
#pragma once

#include <string>

#include "env/trace/core/job.h"
#include "env/trace/core/window.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

// The jobs submitted in a part of a trace. Ignores `after` and `warmup` of the window.
struct TracePart {
  std::vector<Job> jobs;
  int64_t from_us = 0, to_us = 0;  // on the trace's clock
  bool in_test = false;            // reaches into the last fifth of a recorded trace
};

TracePart select_trace_part(const Trace& trace, WindowOptions window);

// Throws InputError if the part has fewer than 50 jobs, or a job without a run time.
WorkloadModel fit_workload_model(const Trace& trace, const TracePart& part);

}  // namespace yard
