#include "env/sim/metrics/tenants.h"

#include <algorithm>
#include <map>

#include "env/base/core/nearest_rank.h"

namespace yard {

std::vector<TenantSummary> tenants_of(const Trace& trace, const ClusterSpec& cluster,
                                      const std::vector<int64_t>& isolated_us,
                                      const Outcome& outcome, const GpuUsage* used) {
  std::map<std::string, std::vector<size_t>> jobs_of;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    if (!job.tenant.empty() && job.scored) jobs_of[job.tenant].push_back(j);
  }
  std::vector<TenantSummary> out;
  for (const auto& [name, jobs] : jobs_of) {
    TenantSummary one;
    one.tenant = name;
    one.deadlines = deadlines_of(trace, outcome, jobs);
    for (const Tenant& tenant : cluster.tenants) {
      if (tenant.name != name || tenant.quota_gpus <= 0) continue;
      one.quota_gpus = tenant.quota_gpus;
      break;
    }
    JctGroup group;
    std::vector<int64_t> waits_us;
    for (const size_t j : jobs) {
      const Job& job = trace.jobs[j];
      ++group.jobs;
      if (outcome.jobs[j].end_us == kNone) continue;
      waits_us.push_back(delay_us(job, outcome.jobs[j], isolated_us[j]));
      group.add(outcome.jobs[j].end_us - job.submit_us, waits_us.back(), isolated_us[j]);
    }
    one.all = group.summary();
    if (!waits_us.empty()) {
      one.p95_wait_s = static_cast<double>(nearest_rank_quantile(waits_us, 0.95)) / 1e6;
    }
    if (used != nullptr && used->span_s > 0) {
      const auto at = std::lower_bound(used->tenants.begin(), used->tenants.end(), name);
      const double gpu_s = used->tenant_gpu_s[static_cast<size_t>(at - used->tenants.begin())];
      one.gpu_hours = gpu_s / 3600;
      one.mean_gpus = gpu_s / used->span_s;
      if (one.quota_gpus) one.quota_share = *one.mean_gpus / *one.quota_gpus;
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace yard
