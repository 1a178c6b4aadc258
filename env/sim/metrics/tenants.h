// Metrics by tenant: times, deadlines, and the share of the cluster against the quota.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/metrics/deadlines.h"
#include "env/sim/metrics/meter.h"
#include "env/sim/metrics/metrics.h"

namespace yard {

struct TenantSummary {
  std::string tenant;     // as in the trace
  JctSummary all;         // metrics of the tenant's scored jobs
  double p95_wait_s = 0;  // [s]
  std::optional<DeadlineSummary> deadlines;
  std::optional<int32_t> quota_gpus;  // the tenant's quota, if the cluster spec has one
  std::optional<double> gpu_hours;    // [GPU h] held by all jobs of the tenant, warm-up included
  std::optional<double> mean_gpus;    // mean number of GPUs held during the replay
  std::optional<double> quota_share;  // mean_gpus over quota_gpus
};

// Returns tenants in order of name; empty if the trace names no tenant. `used` is null if no
// UsageMeter ran. Requires: `isolated_us`, from isolated_run_us(), and `outcome` describe
// trace.jobs in order.
std::vector<TenantSummary> tenants_of(const Trace& trace, const ClusterSpec& cluster,
                                      const std::vector<int64_t>& isolated_us,
                                      const Outcome& outcome, const GpuUsage* used);

}  // namespace yard
