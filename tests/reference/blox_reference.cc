#include "tests/reference/blox_reference.h"

#include <algorithm>

namespace yard::reference {
namespace {

struct LiveJob {
  size_t index = 0;  // in the trace
  int64_t executed_s = 0;
  bool running = false;
  std::vector<int> taken;  // GPUs by node
};

// Takes from each node up to the job's whole demand, until the sum is exactly the demand.
bool place(LiveJob& job, int need, std::vector<int>& free) {
  job.taken.assign(free.size(), 0);
  int total = 0;
  for (size_t m = 0; m < free.size() && total != need; ++m) {
    job.taken[m] = std::min(free[m], need);
    total += job.taken[m];
  }
  if (total != need) return false;
  for (size_t m = 0; m < free.size(); ++m) free[m] -= job.taken[m];
  return true;
}

}  // namespace

std::vector<SecondsOutcome> blox(const std::vector<SecondsJob>& jobs, const std::vector<int>& nodes,
                                 int64_t round_s) {
  std::vector<SecondsOutcome> out(jobs.size());
  std::vector<int> free = nodes;
  std::vector<LiveJob> active;
  size_t arrived = 0;
  for (int64_t now_s = 0;; now_s += round_s) {
    std::vector<LiveJob> left;
    for (LiveJob& job : active) {
      if (job.running) job.executed_s += round_s;
      if (job.running && job.executed_s >= jobs[job.index].run_s) {
        out[job.index].end_s = now_s;
        for (size_t m = 0; m < free.size(); ++m) free[m] += job.taken[m];
      } else {
        left.push_back(job);
      }
    }
    active = left;
    while (arrived < jobs.size() && jobs[arrived].submit_s <= now_s) {
      LiveJob job;
      job.index = arrived++;
      active.push_back(job);
    }
    bool any_runs = false;
    for (LiveJob& job : active) {
      if (!job.running) {
        if (!place(job, jobs[job.index].gpus, free)) break;
        job.running = true;
        out[job.index].start_s = now_s;
        out[job.index].starts = 1;
      }
      any_runs = true;
    }
    if (arrived == jobs.size() && !any_runs) return out;
  }
}

}  // namespace yard::reference
