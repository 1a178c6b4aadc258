// How full a cluster was and how long its queue, as figures in which a simulated cluster can be
// compared with a recorded one.
//
//   Occupancy seen(cluster.total_gpus());
//   options.watch = [&](const Fixed&, const ClusterState& state) { seen.watch(state); };
//   run_policy(scenario, "fifo", options);
//   OccupancyFigures f = seen.figures(from_us, to_us);
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/state.h"
#include "env/trace/job.h"

namespace yard {

struct OccupancyFigures {
  double held = 0;        // GPUs held over all GPUs, mean over time
  double held_sd = 0;     // standard deviation of its hourly means
  double after_hour = 0;  // their autocorrelation after an hour; NaN: too short to say
  double after_day = 0;
  double waiting = 0;  // jobs in the queue, mean over time
  double queued = 0;   // share of the time in which somebody waits
};

class Occupancy {
 public:
  explicit Occupancy(int32_t gpus) : gpus_(gpus) {}

  // Sees the state after a decision: RunOptions::watch. Moments must not go back.
  void watch(const ClusterState& state);

  // Requires: from_us < to_us, something was seen.
  OccupancyFigures figures(int64_t from_us, int64_t to_us) const;

 private:
  friend Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus);
  struct Step {
    int64_t at_us;
    int64_t held, waiting;  // from then on
  };
  void see(const Step& step);
  int32_t gpus_;  // of the cluster
  std::vector<Step> steps_;
};

// What the jobs' logged times say. Requires: all of them have some.
Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus);

}  // namespace yard
