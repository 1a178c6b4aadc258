// Checks that schedulers behave on a generated workload as on the recorded workload: on the same
// cluster, and at the same load or with unscaled arrivals.
#pragma once

#include <optional>

#include "env/cluster/spec.h"
#include "env/trace/fitted/fit_workload.h"
#include "env/trace/fitted/workload_model.h"
#include "experiments/replay/occupancy.h"

namespace yard {

struct QueueStatistics {
  double mean_wait_s = 0, mean_jct_s = 0;
  OccupancyFigures occupancy;  // over the time of the workload
};

struct QueueingComparisonRow {
  std::string policy;
  QueueStatistics real, first_half, second_half;
  std::vector<QueueStatistics> generated;
};

struct QueueingComparison {
  double load = 0;                        // offered load of the recorded part as replayed
  double congestion = 0;                  // measured congestion
  std::optional<QueueStatistics> logged;  // in the log, under the site's scheduler
  std::vector<QueueingComparisonRow> rows;
};

// Scales the arrivals of `part` to `congestion`, and every other workload to the resulting load of
// `part`. If `congestion` is 0, scales nothing, and sets `logged` if all jobs have logged times.
QueueingComparison compare_queueing(const TracePart& part,
                                    const std::vector<std::vector<Job>>& generated,
                                    const ClusterSpec& cluster, double congestion,
                                    const std::vector<std::string>& policies);

}  // namespace yard
