// Splits jobs whose role groups depend on each other into stages, which a scheduler places one
// after the other.
//
// Groups with the same `after` form one stage. A stage runs as one gang, for as long as its longest
// group. It begins when the stages of all groups before it have ended. A job begins with its first
// stage and ends with its last; jobs that come after it wait for all stages.
#pragma once

#include <cstdint>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

// Returns whether the job has more than one stage.
bool is_staged(const Job& job);
bool any_staged(const Trace& trace);

// Sets missing run times of groups in staged jobs to the job's. Sets the job's run time to that of
// its longest chain of stages. A second call changes nothing.
void resolve_stage_times(Trace& trace);

// Returns the job's GPU time in GPU-microseconds. Requires: resolve_stage_times() was called.
double gpu_time_us(const Job& job);

struct Stages {
  std::vector<Job> jobs;        // (E) E stages in the order of their jobs, first stages first
  std::vector<int32_t> job_of;  // (E) index of the original job
};

// Splits staged jobs; others stay as they are. Requires: resolve_stage_times() was called.
Stages split_stages(const std::vector<Job>& jobs);

// Returns whether a job of split_stages() is a stage that comes after another of its own job.
bool follows_stage_of_same_job(const Job& stage);

}  // namespace yard
