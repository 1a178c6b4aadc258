// Metrics of a replay over its scored jobs. docs/reference/metrics.md defines them for users.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/columns.h"
#include "env/trace/core/job.h"

namespace yard {

// Metrics of one group of jobs. Times are of finished jobs, and 0 if no job finished.
struct JctSummary {
  int64_t jobs = 0;        // scored
  int64_t finished = 0;    // scored jobs that ended
  WideUs sum_jct_us = 0;   // [us] exact sum of JCTs; JCT = end - submission
  double mean_jct_s = 0;   // [s]
  double p50_jct_s = 0;    // [s] smallest JCT that at least half of the jobs do not exceed
  double p95_jct_s = 0;    // [s]
  double p99_jct_s = 0;    // [s]
  double mean_wait_s = 0;  // [s] wait = JCT minus the run time alone on the job's fastest GPU type
  double max_wait_s = 0;   // [s]
  double mean_run_s = 0;   // [s] mean run time of jobs alone on their fastest GPU type
};

// Accumulator of a JctSummary.
struct JctGroup {
  int64_t jobs = 0, max_wait_us = 0;
  WideUs sum_wait_us = 0, sum_run_us = 0;
  std::vector<int64_t> jct_us;  // JCTs of jobs that ended

  void add(int64_t jct, int64_t wait, int64_t run);
  JctSummary summary();
};

// Compares jobs that the policy ended early with jobs that completed their work.
struct EndedByPolicySummary {
  int64_t jobs = 0;
  double mean_jct_s = 0;         // [s] mean JCT of jobs that the policy ended early
  double others_mean_jct_s = 0;  // [s] mean JCT of jobs that completed their work; 0 if none did
  // GPU time of the work skipped by ending jobs early, divided by the GPU time of all work of the
  // jobs that ended, early or not.
  double undone_share = 0;
};

struct SizeClassSummary {
  int32_t gpus = 0;  // demand of each job of the class, in GPUs
  JctSummary all;
};

struct Summary {
  JctSummary all;
  // Feitelson's bounded slowdown, without a unit: the mean of max(1, JCT / max(run time, 10 s)).
  double mean_slowdown = 0;
  double makespan_s = 0;  // [s] from the first submission to the last end
  // GPU time held by restoring and running jobs, as a share (0 to 1) of all GPU time from the first
  // arrival, warm-up included, to the end of the replay.
  double utilisation = 0;
  int64_t preemptions = 0;  // of scored jobs
  int64_t restarts = 0;     // starts of scored jobs, without the first start of each job
  // Numbers of migrations and of rapid re-preemptions (see JobOutcome); empty if the rule set does
  // not count them.
  std::optional<int64_t> migrations, rapid_repreemptions;
  std::optional<EndedByPolicySummary> early;  // empty if no job was ended early
  std::vector<SizeClassSummary> classes;      // size classes by rising demand
};

// (jobs) [us] Run time of each job alone and consolidated, on the fastest GPU types with enough
// GPUs. A gang runs at the speed of its slowest GPU type. Requires: `fixed.jobs` describes
// trace.jobs in order, and each job fits the cluster.
std::vector<int64_t> isolated_run_us(const Trace& trace, const SimModel& fixed);

// Returns the JCT minus `isolated_us`, at least 0: queueing, saving, restoring and slower progress.
int64_t delay_us(const Job& job, const JobOutcome& outcome, int64_t isolated_us);

// Requires: `isolated_us` and `outcome` describe trace.jobs in the same order.
Summary summarise(const Trace& trace, const SimModel& fixed,
                  const std::vector<int64_t>& isolated_us, const Outcome& outcome);

}  // namespace yard
