// Fits the model of env/trace/like.h to a part of a trace: counts, moments and a few iterations of
// expectation-maximisation, no search that may fail. docs/generator.md has the equations.
//
//   Trace trace = load_trace("cluster04.csv.gz", {});
//   LikeModel model = fit_like(trace, {.from = "0%", .to = "60%"});
#pragma once

#include <string>

#include "env/trace/job.h"
#include "env/trace/like.h"
#include "env/trace/window.h"

namespace yard {

// The jobs submitted in the part, alone. `window.after` and `window.warmup` do not count.
struct FitPart {
  std::vector<Job> jobs;
  int64_t from_us = 0, to_us = 0;  // on the trace's clock
  bool in_test = false;            // it reaches into the last fifth of a recorded trace
};

FitPart part_of(const Trace& trace, WindowOptions window);

// Throws InputError for a part too small to say anything (fewer than 50 jobs), or with run times
// that are not in the trace.
LikeModel fit_like(const Trace& trace, const FitPart& part);

}  // namespace yard
