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
  double held = 0;                 // mean share of GPUs held by jobs
  double held_sd = 0;              // standard deviation of hourly means of `held`
  double autocorrelation_1h = 0;   // of hourly means 1 h apart; NaN: too short
  double autocorrelation_24h = 0;  // of hourly means 24 h apart; NaN: too short
  double waiting = 0;              // mean number of queued jobs over time
  double queued = 0;               // share of time with a queued job
};

class Occupancy {
 public:
  explicit Occupancy(int32_t gpus) : gpus_(gpus) {}

  // Records the cluster's state after a decision. Requires: increasing time of `state`.
  void record_state(const SimState& state);

  // Returns figures for [from_us, to_us). Requires: from_us < to_us, and a recorded state.
  OccupancyFigures figures(int64_t from_us, int64_t to_us) const;

 private:
  friend Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus);
  struct Step {
    int64_t at_us;
    int64_t held, waiting;  // from at_us on
  };
  void see(const Step& step);
  int32_t gpus_;  // number of GPUs of the cluster
  std::vector<Step> steps_;
};

// Returns the occupancy by the jobs' logged times. Requires: all jobs have logged times.
Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus);

}  // namespace yard
