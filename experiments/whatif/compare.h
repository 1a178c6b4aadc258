// Compares what several policies make of one log with what the first of them, the site's own, makes
// of it: for all jobs, by size, by user and by partition. Numbers only; text.h, json.h and page.h
// print them.
//
//   Comparison comparison = compare(jobs, candidates);
//   comparison.by_size.rows[3].changes[1].ratio;  // 33-64 GPUs, second policy against the first
//
// Dims: C policies, the baseline first.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "env/sim/pacing.h"
#include "env/sim/view.h"
#include "experiments/statistics.h"

namespace yard::whatif {

// A group of fewer jobs is shown, but no verdict names it.
inline constexpr int64_t kLeastJobsOfAClass = 20;
// A ratio with fewer independent blocks of time is inconclusive.
inline constexpr int kLeastBlocks = 6;

// What one policy, or the log, made of one job. -1: the job did not end, or the log does not say.
struct JobTimes {
  int64_t wait_us = -1;  // time to the end less run time
  int64_t jct_us = -1;   // time to the end

  bool known() const { return jct_us >= 0; }
};

struct ComparedJob {
  int32_t gpus = 0;
  std::string user, partition;  // empty: the log does not say
  JobTimes logged;
  std::vector<JobTimes> by;  // (C)
};

// A policy, and what it did to all jobs together.
struct Candidate {
  std::string name;
  Level level = Level::kBlind;
  SpeedLevel speeds = SpeedLevel::kTold;
  bool knows_run_times = false;      // so that no scheduler can be it
  bool needs_checkpointing = false;  // it may stop a running job, which has to go on later
  int64_t preemptions = 0;
  int64_t preempted_jobs = 0;
  double utilisation = 0;  // 0 to 1
};

// Of a group's jobs that ended. 0 where none did.
struct Figures {
  int64_t jobs = 0, unfinished = 0;
  double mean_wait_s = 0, p50_wait_s = 0, p90_wait_s = 0, p99_wait_s = 0, max_wait_s = 0;
  double mean_jct_s = 0;
};

// A candidate against the baseline, over the jobs of a group that ended under both. Where some did
// not end under the candidate there is neither a ratio nor growth: what ended would leave out the
// longest waits of all.
struct Change {
  int64_t jobs = 0;
  int64_t unfinished = 0;                        // under the candidate
  double baseline_mean_s = 0, mean_s = 0;        // waits
  double baseline_longest_s = 0, longest_s = 0;  // waits
  // Of the mean waits, with its 95 % interval over blocks of time. NaN where nothing waits under
  // the baseline, or where some job is unfinished.
  double ratio = std::numeric_limits<double>::quiet_NaN();
  Interval interval = {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN()};
  int blocks = 0;           // after neighbours that depend on each other were merged
  bool conclusive = false;  // enough of them
  bool same = true;         // every job waits as long as under the baseline
  // By over 10 %, exactly: a wait that was 0 grows by any wait at all.
  bool mean_grows = false, longest_grows = false;

  double longest_ratio() const;  // NaN where the longest is 0 under the baseline
};

// Jobs that have something in common.
struct Row {
  std::string name;   // "17-32", a user, a partition; empty: the log does not say
  bool part = false;  // of the row before it that is no part: one number of GPUs of its range
  int64_t jobs = 0;
  Figures logged;
  std::vector<Figures> by;      // (C)
  std::vector<Change> changes;  // (C); of the baseline itself: no change

  // Whether a verdict on candidate `c` names the row.
  bool counts(size_t c) const { return changes[c].jobs >= kLeastJobsOfAClass; }
};

// `rows` are empty where no job says what they go by.
struct Table {
  std::vector<Row> rows;
};

struct Comparison {
  std::vector<Candidate> candidates;  // (C)
  std::string no_bound;  // why knowing run times bounds nothing here (why_no_bound()); often empty
  Row all;
  Table by_size;       // by rising number of GPUs: 1, 2-4, 5-8, 9-16, 17-32, ...
  Table by_user;       // by falling number of jobs
  Table by_partition;  // by falling number of jobs
  double logged_ratio = std::numeric_limits<double>::quiet_NaN();  // baseline's mean wait to it
};

// Requires: jobs in the order of their submission, each with (C) times.
Comparison compare(const std::vector<ComparedJob>& jobs, std::vector<Candidate> candidates);

}  // namespace yard::whatif
