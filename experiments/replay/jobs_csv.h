// Writes the file of `--jobs-out`: one row per scored job and run, as RFC 4180 CSV. Numbers have
// enough digits to be read back exactly.
#pragma once

#include "experiments/replay/replay.h"

namespace yard {

inline constexpr const char* kJobsHeader =
    "policy,job_id,gpus,submit_s,start_s,end_s,wait_s,jct_s,preemptions,restarts,state\n";

// Appends a run's rows to `out`. Jobs that did not end have empty times and the state `unfinished`.
void append_jobs_csv(const Scenario& scenario, const Run& run, std::string& out);

}  // namespace yard
