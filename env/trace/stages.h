// Jobs whose role groups wait for each other, taken apart into stages that a scheduler places one
// after the other, and put together again.
//
// Groups with the same `after` are one stage: they run as one gang, for as long as the longest of
// them says. A stage begins when the stages of all the groups that it comes after have ended. The
// job begins with its first stage and ends with its last; who comes after the job waits for all of
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "env/trace/job.h"

namespace yard {

// Whether the job has more than one stage.
bool is_staged(const Job& job);
bool any_staged(const Trace& trace);

// Gives every group of a staged job a run time, the job's where it has none, and the job that of
// its longest chain of stages. Doing it twice changes nothing more.
void settle_stages(Trace& trace);

// What the job asks of GPUs, in GPU microseconds. Requires: settle_stages().
double gpu_time_us(const Job& job);

struct Stages {
  std::vector<Job> jobs;        // (E) in the order of the jobs they are of, the first stages first
  std::vector<int32_t> job_of;  // (E) index among the jobs taken apart
};

// Jobs of one stage stay as they are. Requires: settle_stages().
Stages take_apart(const std::vector<Job>& jobs);

// Of a job of take_apart(): whether it is a stage that comes after another of its own job.
bool follows_own(const Job& stage);

}  // namespace yard
