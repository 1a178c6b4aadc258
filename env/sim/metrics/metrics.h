// Metrics of a replay over its scored jobs. Definitions for users: docs/reference/metrics.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/columns.h"
#include "env/trace/core/job.h"

namespace yard {

// One group of jobs. Times are over its finished jobs; 0 if there are none.
struct JctSummary {
  int64_t jobs = 0;        // scored
  int64_t finished = 0;    // scored jobs that ended
  WideUs sum_jct_us = 0;   // [us] exact; JCT = end - submission
  double mean_jct_s = 0;   // [s]
  double p50_jct_s = 0;    // [s] the smallest JCT that at least half of the jobs do not exceed
  double p95_jct_s = 0;    // [s]
  double p99_jct_s = 0;    // [s]
  double mean_wait_s = 0;  // [s] wait = JCT minus run time alone on the job's fastest type
  double max_wait_s = 0;   // [s]
  double mean_run_s = 0;   // [s] run time alone on the job's fastest type
};

// Accumulator of a JctSummary.
struct JctGroup {
  int64_t jobs = 0, max_wait_us = 0;
  WideUs sum_wait_us = 0, sum_run_us = 0;
  std::vector<int64_t> jct_us;  // of jobs that ended

  void add(int64_t jct, int64_t wait, int64_t run);
  JctSummary summary();
};

// Jobs that the policy ended early, and jobs that completed their work.
struct EarlyEndSummary {
  int64_t jobs = 0;
  double mean_jct_s = 0;         // [s] of jobs ended early
  double others_mean_jct_s = 0;  // [s] of other jobs that ended; 0 if there are none
  double undone_share = 0;       // part of the GPU time that ended jobs asked for; 0 to 1
};

struct SizeClassSummary {
  int32_t gpus = 0;  // demand of each job of the class
  JctSummary all;
};

struct Summary {
  JctSummary all;
  // Mean of max(1, JCT / max(run time, 10 s)): Feitelson's bounded slowdown, no unit.
  double mean_slowdown = 0;
  double makespan_s = 0;  // [s] from the first submission to the last end
  // GPU time held by restoring and running jobs, as a share of all GPU time from the first arrival
  // (with the warm-up) to the end; 0 to 1.
  double utilisation = 0;
  int64_t preemptions = 0;  // of scored jobs
  int64_t restarts = 0;     // starts after a job's first
  // Kinds of preemptions; empty if the rules do not count them (see JobOutcome).
  std::optional<int64_t> migrations, rapid_repreemptions;
  std::optional<EarlyEndSummary> early;   // if any job was ended early
  std::vector<SizeClassSummary> classes;  // by rising number of GPUs
};

// (N) [us] Run time of each job alone and consolidated, on the fastest type with enough GPUs. A
// gang runs at the speed of its slowest member. Requires: `fixed.jobs` describes trace.jobs in
// order, and each job fits the cluster.
std::vector<int64_t> isolated_run_us(const Trace& trace, const SimModel& fixed);

// JCT minus the run time alone, at least 0. Includes queueing, saving, restoring and slower GPUs.
int64_t wait_us(const Job& job, const JobOutcome& outcome, int64_t isolated_us);

// Requires: `isolated_us` and `outcome` describe trace.jobs in the same order.
Summary summarise(const Trace& trace, const SimModel& fixed,
                  const std::vector<int64_t>& isolated_us, const Outcome& outcome);

}  // namespace yard
