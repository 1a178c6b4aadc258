// Whether schedulers fare on a generated workload as on the recorded one: both on the same cluster,
// at the same load or as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/trace/fit.h"
#include "env/trace/like.h"
#include "experiments/occupancy.h"

namespace yard {

struct QueueFigures {
  double mean_wait_s = 0, mean_jct_s = 0;
  OccupancyFigures occupancy;  // of the part's time
};

struct QueueRow {
  std::string policy;
  QueueFigures real, first_half, second_half;
  std::vector<QueueFigures> generated;
};

struct QueueCheck {
  double load = 0;                     // of the recorded part as it was played
  double congestion = 0;               // as found
  std::optional<QueueFigures> logged;  // what the site's own scheduler made of the part
  std::vector<QueueRow> rows;
};

// Scales the part's arrivals to the congestion, then all others to the load that this gives.
// `congestion` 0: all arrivals stay as they are, and the log's own figures are there if all jobs
// have logged times.
QueueCheck check_queues(const FitPart& part, const std::vector<std::vector<Job>>& generated,
                        const ClusterSpec& cluster, double congestion,
                        const std::vector<std::string>& policies);

}  // namespace yard
