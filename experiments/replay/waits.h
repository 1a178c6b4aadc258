// Records which jobs waited, how long and why. After each decision, records why each waiting job
// waits, and joins equal successive reasons to intervals.
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
  int32_t job;  // index of the job in Scenario::simulated(), or of the stage if jobs have several
  int64_t from_us, to_us;
  WaitReason reason;
  std::string detail = {};  // details of the reason at the interval's start
  // At the interval's start: the jobs which hold what this job lacks. If this job lacks nothing:
  // the waiting jobs which started earlier.
  Blockers behind = {};
};

struct WaitTotal {
  int64_t jobs = 0;  // number of jobs that waited for this reason at any time
  int64_t intervals = 0;
  WideUs time_us = 0;  // summed over jobs
};

inline constexpr const char* kWaitsHeader =
    "policy,job_id,from_s,to_s,reason,detail,behind,from_time,to_time\n";

// Returns a row of `--waits-out` (RFC 4180). `behind`: ids joined by ';', at the end "+3" for three
// more. The last two columns are calendar times, empty if the log has none or arrivals are scaled.
std::string wait_row(const Scenario& scenario, const std::string& policy, const Wait& wait);

class Waits {
 public:
  // `ended`: called for each interval of a scored job; empty: only totals are kept. Requires: the
  // scenario outlives this object.
  Waits(const Scenario& scenario, PlacementRule placement, std::function<void(const Wait&)> ended);

  // Requires: the same `fixed` each time, alive until end().
  void record_state(const SimModel& fixed, const SimState& state);
  void end(int64_t end_us);

  // Returns the waits of scored jobs in sum, by reason.
  const std::array<WaitTotal, kWaitReasons>& totals() const { return totals_; }

 private:
  struct OpenWait {
    int32_t job = kNone;
    WaitReason reason = WaitReason::kOrder;
    int64_t since_us = 0;
    int64_t seen = 0;  // number of the last record_state() that found the job waiting
    std::string detail;
    Blockers behind;
  };
  void note_waiting(const SimState& s, int32_t slot);
  void close(OpenWait& open, int64_t now_us);
  // Adds jobs that have just started to `behind` of those which wait for order.
  void note_starts(const SimState& s);
  // Adds the wait of a job between its submission and its later (or missing) entry into the state.
  void add_unadmitted_wait(int32_t job, int64_t to_us);
  void add(const Wait& wait);

  const Scenario& scenario_;
  PlacementRule placement_;
  std::function<void(const Wait&)> ended_;
  std::optional<WhyWaiting> why_;
  std::vector<OpenWait> open_;          // by slot
  std::vector<int32_t> waiting_;        // slots of jobs with an open interval
  std::vector<uint16_t> seen_reasons_;  // (N)  bits of reasons seen
  int32_t next_ = kNone,
          end_job_ = 0;  // index of the first job that has not arrived; one past the last job
  int64_t step_ = 0;
  std::array<WaitTotal, kWaitReasons> totals_{};
};

}  // namespace yard
