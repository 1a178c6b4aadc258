// Derives a scenario for the simulator from a decision log: the logged jobs and their cluster.
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

// A job in a decision log. A job's work is its run time on GPUs of speed 1.
struct LogJob {
  Job job;  // job without run_us, with times since zero_s
  LogEnd end = LogEnd::kCensored;
  int64_t work_us = 0;      // work of a finished job; a lower bound for other jobs
  int64_t max_work_us = 0;  // upper bound for a gone job; work_us for other jobs
};

struct FittedScenario {
  std::vector<LogJob> jobs;       // jobs by submission, without jobs that were gone before they ran
  double zero_s = 0;              // snapshot time at which the jobs' times are zero
  double begin_s = 0, end_s = 0;  // first and last snapshot, in seconds since zero_s
  uint64_t decisions = 0;
  uint64_t finished = 0, gone = 0, censored = 0;
  uint64_t never_ran = 0;                    // jobs left out, which were gone before they ran
  std::map<std::string, uint64_t> deciders;  // number of decisions by name of the decider
  std::string cluster_yaml;                  // cluster in the last snapshot
  bool may_preempt = true;                   // whether any request allowed preemption

  // Returns the jobs with run times, and draws unknown run times by `seed` and `draw`. The work of
  // a gone job is uniform between its bounds. A censored job gets the work of a finished job that
  // ran longer, of the same user and size, of the same size or of any: the first group with five
  // jobs. A censored job that ran longest of all gets twice its work so far.
  Trace trace(uint64_t seed, int draw) const;

  // Number of censored jobs whose work trace() doubles, since no finished job ran longer.
  uint64_t jobs_with_doubled_work() const;
};

// Reads a log to its end. Throws InputError if the log has no decision or several clusters.
FittedScenario fit_scenario(LogReader& log);

}  // namespace yard
