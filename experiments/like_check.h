// Whether schedulers fare on a generated workload as on the recorded one: both on the same cluster
// at the same load.
#pragma once

#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/trace/fit.h"
#include "env/trace/like.h"

namespace yard {

struct QueueFigures {
  double mean_wait_s = 0, mean_jct_s = 0;
};

struct QueueRow {
  std::string policy;
  QueueFigures real, first_half, second_half;
  std::vector<QueueFigures> generated;
};

struct QueueCheck {
  double load = 0;        // that brings the recorded part to `congestion`
  double congestion = 0;  // as found
  std::vector<QueueRow> rows;
};

// Scales the part's arrivals to the congestion, then all others to the load that this gives.
QueueCheck check_queues(const FitPart& part, const std::vector<std::vector<Job>>& generated,
                        const ClusterSpec& cluster, double congestion,
                        const std::vector<std::string>& policies);

}  // namespace yard
