// Compares simulations of one log under several policies with the simulation under the first
// policy, the site's own: for all jobs, by size, by user and by partition. text.h, json.h and
// page.h print the results.
//
//   Comparison comparison = compare_with_baseline(jobs, candidates);
//   comparison.by_size.rows[3].changes[1].ratio;  // e.g. 17-32 GPUs: second policy / first
//
// Dims: C policies, of which the first is called the baseline.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/sim/view/view.h"
#include "experiments/stats/intervals.h"

namespace yard::whatif {

// Minimum number of jobs of a group which a verdict names.
inline constexpr int64_t kMinJobsPerGroup = 20;
// Minimum number of independent blocks of time for which a ratio is conclusive.
inline constexpr int kMinBlocks = 6;

// Times of one job under a policy or in the log; -1 if the job did not end or has no logged times.
struct JobTimes {
  int64_t wait_us = -1;  // JCT minus run time
  int64_t jct_us = -1;   // end minus submission

  bool known() const { return jct_us >= 0; }
};

struct ComparedJob {
  int32_t gpus = 0;
  std::string user, partition;  // user or partition is empty if not in the log
  JobTimes logged;
  std::vector<JobTimes> by;  // (C)
};

// A compared policy, with its figures over all jobs.
struct Candidate {
  std::string name;
  InformationLevel level = InformationLevel::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  bool knows_run_times = false;      // sees run times, so cannot be deployed
  bool needs_checkpointing = false;  // whether the policy may preempt jobs
  int64_t preemptions = 0;
  int64_t preempted_jobs = 0;
  double utilisation = 0;  // share of GPU time in use, 0 to 1
};

// Statistics of the ended jobs of a group; all 0 if no job ended.
struct WaitFigures {
  int64_t jobs = 0, unfinished = 0;
  double mean_wait_s = 0, p50_wait_s = 0, p90_wait_s = 0, p99_wait_s = 0, max_wait_s = 0;
  double mean_jct_s = 0;
};

// Change from the baseline to a candidate, over a group's jobs which ended under both. If a job did
// not end under the candidate, its wait is unknown: the change has no ratio and no growth.
struct Change {
  int64_t jobs = 0;
  int64_t unfinished = 0;                        // jobs which did not end under the candidate
  double baseline_mean_s = 0, mean_s = 0;        // mean waits
  double baseline_longest_s = 0, longest_s = 0;  // longest waits
  // Ratio of mean waits and its 95 % interval over blocks of time. The ratio is NaN if no job waits
  // under the baseline or a job did not end under the candidate.
  double ratio = std::numeric_limits<double>::quiet_NaN();
  Interval interval = {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN()};
  int blocks = 0;           // number of blocks after merging
  bool conclusive = false;  // enough blocks and a narrow interval
  bool same = true;         // whether all waits equal the baseline's
  // Whether the mean and the longest wait grow by over 10 %; any wait is growth from a wait of 0.
  bool mean_grows = false, longest_wait_grows = false;

  double longest_wait_ratio() const;  // NaN if the baseline's longest wait is 0
};

// Results for a group of jobs.
struct Row {
  std::string name;          // "17-32" GPUs, a user or partition; empty: not in the log
  bool single_size = false;  // one GPU count out of the range in an earlier row
  int64_t jobs = 0;
  WaitFigures logged;
  std::vector<WaitFigures> by;  // (C)
  std::vector<Change> changes;  // (C)  element 0 is the baseline against itself

  // Returns whether the row has enough jobs to be named in a verdict on a candidate.
  bool has_enough_jobs_for_verdict(size_t candidate) const {
    return changes[candidate].jobs >= kMinJobsPerGroup;
  }
};

// Rows by one attribute of jobs; empty if no job has the attribute.
struct Table {
  std::vector<Row> rows;
};

struct Comparison {
  std::vector<Candidate> candidates;  // (C)
  std::string no_bound;  // result of why_oracle_is_no_bound(); empty: an oracle is a bound
  Row all;
  Table by_size;       // rows by ascending GPUs: 1, 2-4, 5-8, 9-16, 17-32, ...
  Table by_user;       // rows by descending number of jobs
  Table by_partition;  // rows by descending number of jobs
  double logged_ratio = std::numeric_limits<double>::quiet_NaN();  // mean wait, baseline / log
};

// Compares all candidates. Requires: jobs sorted by submission, each with (C) times; C >= 1.
Comparison compare_with_baseline(const std::vector<ComparedJob>& jobs,
                                 std::vector<Candidate> candidates);

}  // namespace yard::whatif
