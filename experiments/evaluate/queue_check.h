// Checks that schedulers behave on a generated workload as on the recorded one: on the same
// cluster, at the same load or with unscaled arrivals.
#pragma once

#include <optional>

#include "env/cluster/spec.h"
#include "env/trace/fitted/fit_workload.h"
#include "env/trace/fitted/workload_model.h"
#include "experiments/replay/occupancy.h"

namespace yard {

struct QueueStatistics {
  double mean_wait_s = 0, mean_jct_s = 0;
  OccupancyFigures occupancy;  // occupancy over the time span of the part
};

struct QueueingComparisonRow {
  std::string policy;
  QueueStatistics real, first_half, second_half;
  std::vector<QueueStatistics> generated;
};

struct QueueingComparison {
  double load = 0;                        // load of the recorded part as it is replayed
  double congestion = 0;                  // measured
  std::optional<QueueStatistics> logged;  // queueing in the log, under the site's own scheduler
  std::vector<QueueingComparisonRow> rows;
};

// Scales the arrivals of `part` to the congestion. Scales all other workloads to the load which
// `part` then has. `congestion` 0: scales nothing, and sets `logged` if all jobs have logged times.
QueueingComparison compare_queueing(const TracePart& part,
                                    const std::vector<std::vector<Job>>& generated,
                                    const ClusterSpec& cluster, double congestion,
                                    const std::vector<std::string>& policies);

}  // namespace yard
