// Fits the WorkloadModel of workload_model.h to a part of a trace, with counts, moments and a few
// iterations of expectation-maximisation. No step can fail to converge. The equations of the model
// are in workload_model.h.
#pragma once

#include <string>

#include "env/trace/core/job.h"
#include "env/trace/core/window.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

// The jobs submitted in a part of a trace: a window without its warm-up and without jobs after it.
struct TracePart {
  std::vector<Job> jobs;
  int64_t from_us = 0, to_us = 0;  // bounds of the part on the trace's clock
  bool in_test = false;            // the part reaches into the last fifth of a recorded trace
};

TracePart select_trace_part(const Trace& trace, WindowOptions window);

// Fits a model. Throws InputError if `part` has fewer than 50 jobs, or a job without a run time.
WorkloadModel fit_workload_model(const Trace& trace, const TracePart& part);

}  // namespace yard
