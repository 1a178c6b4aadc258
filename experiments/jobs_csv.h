// One row for each scored job and run, as `--jobs-out` writes it: RFC 4180. Numbers are printed so
// that reading them back gives the same.
#pragma once

#include <string>

#include "experiments/replay.h"

namespace yard {

inline constexpr const char* kJobsHeader =
    "policy,job_id,gpus,submit_s,start_s,end_s,wait_s,jct_s,preemptions,restarts,state\n";

// Appends the run's rows. A job that did not end has empty times and the state `unfinished`.
void append_jobs(const Scenario& scenario, const Run& run, std::string& out);

}  // namespace yard
