// Records which jobs waited, how long and why. The reason for each waiting job is noted after each
// decision; equal successive reasons are joined to intervals.
//
//   Waits waits(scenario, placement, [](const Wait& wait) { ... });  // as intervals end
//   options.watch = [&](const SimModel& fixed, const SimState& s) { waits.record_state(fixed, s);
//   }; waits.end(run.outcome.end_us);
#pragma once

#include <array>
#include <functional>

#include "env/sim/metrics/why_waiting.h"
#include "experiments/scenario/scenario.h"

namespace yard {

struct Wait {
  int32_t job;  // index in Scenario::simulated_trace()
  int64_t from_us, to_us;
  WaitReason reason;
  std::string detail = {};  // details of the reason at the interval's start
  // Jobs which block this job at the interval's start: jobs which hold what this job lacks. If this
  // job lacks nothing, waiting jobs which were started before this job.
  Blockers behind = {};
};

struct WaitTotal {
  int64_t jobs = 0;  // number of jobs which ever waited for the reason
  int64_t intervals = 0;
  WideUs time_us = 0;  // waiting time, summed over jobs
};

inline constexpr const char* kWaitsHeader =
    "policy,job_id,from_s,to_s,reason,detail,behind,from_time,to_time\n";

// Returns a CSV row of `--waits-out`. `behind`: blocking job ids joined by ';', and "+3" for 3
// more. The last two columns are calendar times, empty if not logged or if arrivals are scaled.
std::string wait_row(const Scenario& scenario, const std::string& policy, const Wait& wait);

class Waits {
 public:
  // `ended`: called for each ended interval of a scored job; if empty, only totals are kept.
  // Requires: the scenario outlives this object.
  Waits(const Scenario& scenario, PlacementRule placement, std::function<void(const Wait&)> ended);

  // Records waits after a decision. Requires: the same `fixed` in each call, alive until end().
  void record_state(const SimModel& fixed, const SimState& state);
  void end(int64_t end_us);

  // Returns total waits by reason, over all scored jobs.
  const std::array<WaitTotal, kWaitReasons>& totals() const { return totals_; }

 private:
  struct OpenWait {
    int32_t job = kNone;
    WaitReason reason = WaitReason::kOrder;
    int64_t since_us = 0;
    int64_t seen = 0;  // last record_state() at which the job waited
    std::string detail;
    Blockers behind;
  };
  void note_waiting(const SimState& s, int32_t slot);
  void close(OpenWait& open, int64_t now_us);
  // Adds jobs that have just started to the blockers of jobs that wait for GPUs or their turn.
  void add_started_jobs_to_blockers(const SimState& s);
  // Adds a job's wait from submission until its entry into the simulator's state, at `to_us`.
  void add_unadmitted_wait(int32_t job, int64_t to_us);
  void add(const Wait& wait);

  const Scenario& scenario_;
  PlacementRule placement_;
  std::function<void(const Wait&)> ended_;
  std::optional<WhyWaiting> why_;
  std::vector<OpenWait> open_;          // by slot
  std::vector<int32_t> waiting_;        // slots of jobs with an open interval
  std::vector<uint16_t> seen_reasons_;  // (N)  bit mask of reasons seen so far
  int32_t next_ = kNone, end_job_ = 0;  // next job to arrive; one past the last job
  int64_t step_ = 0;
  std::array<WaitTotal, kWaitReasons> totals_{};
};

}  // namespace yard
