// A simulator fitted to a decision log: the jobs that its snapshots and outcomes tell of, and the
// cluster that they ran on.
//
//   LogReader log("log");
//   const LogFit fit = fit_log(log);
//   to_own_csv(fit.trace(seed, 0)), fit.cluster_yaml
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/trace/job.h"
#include "serving/log_reader.h"

namespace yard {

// What became of a job, as far as the log goes.
enum class LogEnd : uint8_t { kFinished, kGone, kCensored };
inline constexpr const char* kLogEndNames[] = {"FINISHED", "GONE", "CENSORED"};

// Work is time on GPUs of speed 1.
struct LogJob {
  Job job;  // all but run_us; times since zero_s; logged_end_us where it ended
  LogEnd end = LogEnd::kCensored;
  int64_t work_us = 0;       // finished: all of it; else the least it can be
  int64_t most_work_us = 0;  // gone: if it ran on until it was missed; else work_us
};

struct LogFit {
  std::vector<LogJob> jobs;       // by submission; those that left without having run are not here
  double zero_s = 0;              // of the jobs' times, on the clock of the snapshots
  double begin_s = 0, end_s = 0;  // of the log, since zero_s
  uint64_t decisions = 0;
  uint64_t finished = 0, gone = 0, censored = 0;
  uint64_t never_ran = 0;                    // left out: they were gone before they had run
  std::map<std::string, uint64_t> deciders;  // of all decisions
  std::string cluster_yaml;                  // of the last snapshot; docs/clusters.md
  bool may_preempt = true;                   // some request let jobs be stopped

  // The jobs with run times, each of them drawn where the log does not tell it: a job that is gone
  // ended at some moment, evenly, while nobody looked; one that is still there runs for as long as
  // one drawn from those that ended and ran longer than it has so far: the user's of its size where
  // there are five, else any of its size, else any; where none ran longer, for as long again. The
  // same for the same seed and draw.
  Trace trace(uint64_t seed, int draw) const;

  // Of the censored: how many of trace() go by nobody, since none of the log ran longer.
  uint64_t longest() const;
};

// Reads the log to its end. Throws InputError: no decision in it, or several clusters.
LogFit fit_log(LogReader& log);

}  // namespace yard
