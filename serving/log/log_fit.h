// Fits a simulator scenario to a decision log: the jobs in the log, and their cluster.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/trace/core/job.h"
#include "serving/log/log_reader.h"

namespace yard {

// How a job ended, as far as the log shows.
enum class LogEnd : uint8_t { kFinished, kGone, kCensored };
inline constexpr const char* kLogEndStatusTexts[] = {"FINISHED", "GONE", "CENSORED"};

// A job of the log. Work is time on GPUs of speed 1.
struct LogJob {
  Job job;  // without run_us; times since zero_s; logged_end_us if it ended
  LogEnd end = LogEnd::kCensored;
  int64_t work_us = 0;      // finished: all; else a lower bound
  int64_t max_work_us = 0;  // gone: upper bound, running until missed; else work_us
};

struct LogFit {
  std::vector<LogJob> jobs;       // by submission, without those which left before running
  double zero_s = 0;              // zero of the jobs' times, on the snapshots' clock
  double begin_s = 0, end_s = 0;  // of the log, since zero_s
  uint64_t decisions = 0;
  uint64_t finished = 0, gone = 0, censored = 0;
  uint64_t never_ran = 0;                    // left out: gone before they ran
  std::map<std::string, uint64_t> deciders;  // of all decisions
  std::string cluster_yaml;                  // of the last snapshot
  bool may_preempt = true;                   // some request allowed preemption

  // Returns the jobs with run times, and draws the unknown ones. A gone job's work is uniform
  // between its bounds. A censored job gets the work of a longer finished job: of the same user and
  // size if there are five, else of the same size if there are five, else of any. If there is none,
  // the job's work so far is doubled. Deterministic in `seed` and `draw`.
  Trace trace(uint64_t seed, int draw) const;

  // Number of censored jobs whose work trace() doubles, since no job in the log ran longer.
  uint64_t jobs_with_doubled_work() const;
};

// Reads the log to its end. Throws InputError if it has no decision, or several clusters.
LogFit fit_log(LogReader& log);

}  // namespace yard
