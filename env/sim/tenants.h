// What each tenant got: times, deadlines and its share of the cluster, beside what it was promised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/deadlines.h"
#include "env/sim/meter.h"
#include "env/sim/metrics.h"

namespace yard {

struct TenantSummary {
  std::string tenant;     // as the trace calls it
  JctSummary all;         // of its scored jobs
  double p95_wait_s = 0;  // [s]
  std::optional<DeadlineSummary> deadlines;
  std::optional<int32_t> quota_gpus;  // where the spec knows the tenant and gives it one
  std::optional<double> gpu_hours;    // [GPU h] held by all of its jobs, the warm-up's too
  std::optional<double> mean_gpus;    // the same over the time of the replay
  std::optional<double> quota_share;  // mean_gpus over quota_gpus
};

// By name; empty where the trace names no tenant. `used`: null where nothing was metered. Requires:
// `alone_us` (run_alone()) and `outcome` tell of trace.jobs, in their order.
std::vector<TenantSummary> tenants_of(const Trace& trace, const ClusterSpec& cluster,
                                      const std::vector<int64_t>& alone_us, const Outcome& outcome,
                                      const Metered* used);

}  // namespace yard
