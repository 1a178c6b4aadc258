// Splits jobs whose role groups depend on each other into stages, which a scheduler places one
// after the other.
//
// Role groups with the same `after` form one stage. A stage runs as one gang for as long as its
// longest group. A stage begins when all stages with groups named in its `after` have ended. A
// job begins with its first stage and ends with its last, for which dependent jobs wait.
#pragma once

#include <cstdint>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

// Returns whether the job has more than one stage.
bool has_several_stages(const Job& job);
bool any_job_has_stages(const Trace& trace);

// In jobs with stages, sets a group's missing run time to the job's, and then the job's run time to
// that of its longest chain of stages. A second call changes nothing.
void fill_in_stage_run_times(Trace& trace);

// Returns the job's GPU time in GPU-microseconds. Requires: fill_in_stage_run_times() was called.
double gpu_time_us(const Job& job);

struct StageJobs {
  std::vector<Job> jobs;        // (E) the stages of each job in turn, first stages first
  std::vector<int32_t> job_of;  // (E) index of each stage's original job
};

// Splits jobs with several stages, keeps others whole. Requires: fill_in_stage_run_times() was
// called.
StageJobs split_stages(const std::vector<Job>& jobs);

// Returns whether a job made by split_stages() is a stage that follows another stage of its job.
bool follows_stage_of_same_job(const Job& stage);

}  // namespace yard
