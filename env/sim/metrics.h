// What became of a replay, in numbers that can be compared: each with its unit and its definition.
// docs/metrics.md says the same to users. Only scored jobs count, and none of them is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/columns.h"
#include "env/sim/pacing.h"
#include "env/trace/job.h"

namespace yard {

// One group of jobs. Times are over its finished jobs; 0 where there are none.
struct JctSummary {
  int64_t jobs = 0;        // scored
  int64_t finished = 0;    // of these, those that ended
  WideUs sum_jct_us = 0;   // [us] exact; JCT = end - submission
  double mean_jct_s = 0;   // [s]
  double p50_jct_s = 0;    // [s] the least JCT that at least half of the jobs do not exceed
  double p95_jct_s = 0;    // [s]
  double p99_jct_s = 0;    // [s]
  double mean_wait_s = 0;  // [s] wait = JCT beyond the run time alone on the job's fastest type
  double max_wait_s = 0;   // [s]
  double mean_run_s = 0;   // [s] run time alone on the job's fastest type
};

// The same while it is collected.
struct JctGroup {
  int64_t jobs = 0, max_wait_us = 0;
  WideUs sum_wait_us = 0, sum_run_us = 0;
  std::vector<int64_t> jct_us;  // of those that ended

  void add(int64_t jct, int64_t wait, int64_t run);
  JctSummary summary();
};

// Jobs that their policy ended before their time, apart from those whose work was done.
struct EarlySummary {
  int64_t jobs = 0;
  double mean_jct_s = 0;         // [s] of those ended early
  double others_mean_jct_s = 0;  // [s] of the other jobs that ended; 0 where there are none
  double undone_share = 0;       // of the GPU time that all that ended asked for; 0 to 1
};

struct ClassSummary {
  int32_t gpus = 0;  // what each job of the class asks for
  JctSummary all;
};

struct Summary {
  JctSummary all;
  // Mean of max(1, JCT / max(run time, 10 s)): Feitelson's bounded slowdown, no unit.
  double mean_slowdown = 0;
  double makespan_s = 0;  // [s] from the first submission to the last end
  // GPU time held by restoring and running jobs over all GPUs' time, from the first arrival of the
  // replay (its warm-up too) to its end; 0 to 1.
  double utilisation = 0;
  int64_t preemptions = 0;  // of scored jobs
  int64_t restarts = 0;     // starts after a job's first
  // Of the preemptions; none where the rules do not tell: see JobOutcome.
  std::optional<int64_t> moves, soon_again;
  std::optional<EarlySummary> early;  // where any was ended early
  std::vector<ClassSummary> classes;  // by rising number of GPUs
};

// (N) [us] how long each job runs alone, consolidated, on those GPUs of the types that it runs on
// which are fastest for it and of which the cluster has enough: a gang moves at the speed of its
// slowest member. Requires: `fixed.jobs` tells of trace.jobs, in their order, each of them at most
// as large as the cluster.
std::vector<int64_t> run_alone(const Trace& trace, const Fixed& fixed);

// JCT beyond the run time alone, at least 0: queueing, saving, restoring, GPUs slower than the
// best.
int64_t wait_us(const Job& job, const JobOutcome& outcome, int64_t alone_us);

// Requires: `alone_us` and `outcome` tell of trace.jobs, in their order.
Summary summarise(const Trace& trace, const Fixed& fixed, const std::vector<int64_t>& alone_us,
                  const Outcome& outcome);

}  // namespace yard
