// A second implementation of RLScheduler's simulator: one list of queued and one of running jobs,
// stably sorted wherever the original sorts. Shares no code with the simulator. Compared with it in
// tests/env/rulesets/rlscheduler_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yard::reference {

struct RlJob {
  int64_t submit_s = 0;
  int64_t run_s = 0;  // at least 1
  int64_t requested_s = 0;
  int procs = 0;
};

// Returns when each job starts. Requires: at least one job, each at most as large as the machine.
std::vector<int64_t> rlscheduler(const std::vector<RlJob>& jobs, int procs,
                                 const std::string& policy, bool backfill);

// Returns the mean bounded slowdown for these start times.
double rlscheduler_score(const std::vector<RlJob>& jobs, const std::vector<int64_t>& start_s);

}  // namespace yard::reference
