// Measures the occupancy and the queue length of a simulated or recorded cluster.
//
//   Occupancy seen(cluster.total_gpus());
//   options.watch = [&](const SimModel&, const SimState& state) { seen.record_state(state); };
//   run_policy(scenario, "fifo", options);
//   OccupancyFigures f = seen.figures(from_us, to_us);
#pragma once

#include "env/sim/state/state.h"
#include "env/trace/core/job.h"

namespace yard {

struct OccupancyFigures {
  double held = 0;                 // GPUs held / all GPUs, mean over time
  double held_sd = 0;              // standard deviation of the hourly means of `held`
  double autocorrelation_1h = 0;   // autocorrelation of the hourly means, 1 h apart; NaN: too short
  double autocorrelation_24h = 0;  // autocorrelation of the hourly means, 24 h apart
  double waiting = 0;              // queued jobs, mean over time
  double queued = 0;               // share of time with a non-empty queue
};

class Occupancy {
 public:
  explicit Occupancy(int32_t gpus) : gpus_(gpus) {}

  // Records the state after a decision (RunOptions::watch). Requires: time does not decrease.
  void record_state(const SimState& state);

  // Requires: from_us < to_us, and at least one recorded state.
  OccupancyFigures figures(int64_t from_us, int64_t to_us) const;

 private:
  friend Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus);
  struct Step {
    int64_t at_us;
    int64_t held, waiting;  // from at_us on
  };
  void see(const Step& step);
  int32_t gpus_;  // of the cluster
  std::vector<Step> steps_;
};

// Returns the occupancy according to the logged times. Requires: every job has logged times.
Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus);

}  // namespace yard
