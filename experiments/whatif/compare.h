// Compares simulations of one log under several policies with the first of them, the site's own
// policy: for all jobs, by size, by user and by partition. text.h, json.h and page.h print the
// figures.
//
//   Comparison comparison = compare(jobs, candidates);
//   comparison.by_size.rows[3].changes[1].ratio;  // e.g. 17-32 GPUs: second policy / first
//
// Dims: C policies. The first is called the baseline here.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/sim/view/view.h"
#include "experiments/stats/intervals.h"

namespace yard::whatif {

// Verdicts do not name smaller groups of jobs.
inline constexpr int64_t kMinJobsPerGroup = 20;
// With fewer independent blocks of time, a ratio is inconclusive.
inline constexpr int kMinBlocks = 6;

// Times of one job under a policy or in the log. -1: it did not end, or the log has no times.
struct JobTimes {
  int64_t wait_us = -1;  // JCT minus run time
  int64_t jct_us = -1;   // end minus submission

  bool known() const { return jct_us >= 0; }
};

struct ComparedJob {
  int32_t gpus = 0;
  std::string user, partition;  // empty: not in the log
  JobTimes logged;
  std::vector<JobTimes> by;  // (C)
};

// A policy, with its figures over all jobs.
struct Candidate {
  std::string name;
  Level level = Level::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  bool knows_run_times = false;      // cannot be deployed
  bool needs_checkpointing = false;  // may preempt jobs
  int64_t preemptions = 0;
  int64_t preempted_jobs = 0;
  double utilisation = 0;  // 0 to 1
};

// Statistics of a group's ended jobs; 0 if none ended.
struct WaitFigures {
  int64_t jobs = 0, unfinished = 0;
  double mean_wait_s = 0, p50_wait_s = 0, p90_wait_s = 0, p99_wait_s = 0, max_wait_s = 0;
  double mean_jct_s = 0;
};

// A candidate against the baseline, over the jobs of a group which ended under both. There is no
// ratio and no growth if a job did not end under the candidate: the longest wait is unknown.
struct Change {
  int64_t jobs = 0;
  int64_t unfinished = 0;                        // under the candidate
  double baseline_mean_s = 0, mean_s = 0;        // waits
  double baseline_longest_s = 0, longest_s = 0;  // waits
  // Ratio of mean waits, with its 95 % interval over blocks of time. NaN if no job waits under the
  // baseline or some job did not end under the candidate.
  double ratio = std::numeric_limits<double>::quiet_NaN();
  Interval interval = {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN()};
  int blocks = 0;  // number of blocks after merging correlated neighbours
  bool conclusive =
      false;  // whether there are enough blocks, and the interval spans less than two decades
  bool same = true;  // whether every job waits exactly as under the baseline
  // By over 10 %, in exact arithmetic; from 0, any wait is growth.
  bool mean_grows = false, longest_wait_grows = false;

  double longest_wait_ratio() const;  // NaN if the longest wait under the baseline is 0
};

// A group of jobs.
struct Row {
  std::string name;  // "17-32", a user, a partition; empty: not in the log
  bool single_size =
      false;  // whether the row is for a single GPU count, within the size range of the row before
  int64_t jobs = 0;
  WaitFigures logged;
  std::vector<WaitFigures> by;  // (C)
  std::vector<Change> changes;  // (C); the first is the baseline against itself

  // Whether the row has enough jobs to be named in a verdict on candidate `c`.
  bool has_enough_jobs_for_verdict(size_t c) const { return changes[c].jobs >= kMinJobsPerGroup; }
};

// `rows` is empty if no job has the attribute.
struct Table {
  std::vector<Row> rows;
};

struct Comparison {
  std::vector<Candidate> candidates;  // (C)
  std::string
      no_bound;  // why an oracle is no bound here (why_oracle_is_no_bound()); empty: it is one
  Row all;
  Table by_size;       // by ascending number of GPUs: 1, 2-4, 5-8, 9-16, 17-32, ...
  Table by_user;       // by descending number of jobs
  Table by_partition;  // by descending number of jobs
  double logged_ratio = std::numeric_limits<double>::quiet_NaN();  // ratio of mean waits: under the
                                                                   // baseline / in the log
};

// Requires: jobs by submission, each with (C) times, and at least the baseline.
Comparison compare(const std::vector<ComparedJob>& jobs, std::vector<Candidate> candidates);

}  // namespace yard::whatif
