#include "env/sim/metrics/meter.h"

#include <algorithm>
#include <map>

#include "env/base/core/check.h"

namespace yard {
namespace {

constexpr double kSecondsPerHour = 3600;

double seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

// Whether the cluster has any GPU of the type.
bool exists(const GpuTypeSeconds& time) { return time.busy_s + time.idle_s + time.down_s > 0; }

}  // namespace

std::optional<double> energy_kwh(const ClusterSpec& cluster, const GpuUsage& used) {
  double joules = 0;
  for (size_t t = 0; t < cluster.types.size(); ++t) {
    const GpuType& type = cluster.types[t];
    const GpuTypeSeconds& time = used.types[t];
    if (!exists(time)) continue;
    if (type.busy_w <= 0) return std::nullopt;
    joules += type.busy_w * time.busy_s + type.idle_w * time.idle_s;
  }
  return joules / 1000 / kSecondsPerHour;
}

std::optional<Cost> cost_of(const ClusterSpec& cluster, const GpuUsage& used) {
  Cost cost;
  for (size_t t = 0; t < cluster.types.size(); ++t) {
    const double price_per_s = cluster.types[t].price_per_h / kSecondsPerHour;
    const GpuTypeSeconds& time = used.types[t];
    if (!exists(time)) continue;
    if (price_per_s <= 0) return std::nullopt;
    cost.held += price_per_s * time.busy_s;
    cost.all += price_per_s * (time.busy_s + time.idle_s + time.down_s);
  }
  return cost;
}

UsageMeter::UsageMeter(const ClusterSpec& cluster, const Trace& trace) : cluster_(cluster) {
  std::map<std::string, int32_t> index;
  for (const Job& job : trace.jobs) {
    if (!job.tenant.empty()) index.try_emplace(job.tenant, 0);
  }
  for (auto& [name, at] : index) {
    at = static_cast<int32_t>(used_.tenants.size());
    used_.tenants.push_back(name);
  }
  for (const Job& job : trace.jobs) {
    tenant_of_job_.push_back(job.tenant.empty() ? kNone : index.at(job.tenant));
  }
  used_.tenant_gpu_s.resize(used_.tenants.size());
  tenant_gpus_now_.resize(used_.tenants.size());
  used_.types.resize(cluster.types.size());
  types_now_.resize(cluster.types.size());
}

// Charges the time since the last sample to what was seen then.
void UsageMeter::integrate_until(int64_t to_us) {
  if (to_us == at_us_) return;
  const double dt_s = seconds(to_us - at_us_);
  used_.span_s += dt_s;
  GpuSeconds& time = used_.time;
  for (const auto use : {&GpuSeconds::running, &GpuSeconds::starting, &GpuSeconds::unshared,
                         &GpuSeconds::down, &GpuSeconds::idle}) {
    time.*use += dt_s * (sample_.*use);
  }
  for (const auto part :
       {&FreeGpuCounts::free, &FreeGpuCounts::unusable, &FreeGpuCounts::partial,
        &FreeGpuCounts::stranded, &FreeGpuCounts::largest_block, &FreeGpuCounts::ideal_block}) {
    used_.fragments.*part += dt_s * (fragments_.*part);
  }
  for (size_t t = 0; t < types_now_.size(); ++t) {
    for (const auto use :
         {&GpuTypeSeconds::busy_s, &GpuTypeSeconds::idle_s, &GpuTypeSeconds::down_s}) {
      used_.types[t].*use += dt_s * (types_now_[t].*use);
    }
  }
  for (size_t t = 0; t < tenant_gpus_now_.size(); ++t) {
    used_.tenant_gpu_s[t] += dt_s * tenant_gpus_now_[t];
  }
  // Counted as idle or down above; the end of a save need not be an event.
  for (const GpuBeingSaved& gpu : vacated_) {
    const double saved_s = seconds(std::min(gpu.ready_us, to_us) - at_us_);
    time.saving += saved_s;
    (gpu.down ? time.down : time.idle) -= saved_s;
    GpuTypeSeconds& type = used_.types[static_cast<size_t>(gpu.type)];
    type.busy_s += saved_s;
    (gpu.down ? type.down_s : type.idle_s) -= saved_s;
  }
  at_us_ = to_us;
}

void UsageMeter::scan(const SimModel& fixed, const SimState& s) {
  sample_ = {};
  std::fill(tenant_gpus_now_.begin(), tenant_gpus_now_.end(), 0.0);
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t slot = s.holder_slots[i];
    int64_t milli = 0;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      milli +=
          is_gpu_share(fixed, s, slot, p)
              ? gpu_milli_on_node(fixed, s.part_node[p],
                                  need_of(fixed.jobs.shapes, s.shape[slot], s.part_role_group[p]))
              : int64_t{kWholeGpu} * count_bits(s.part_mask[p]);
    }
    const double gpus = static_cast<double>(milli) / kWholeGpu;
    (s.phase[slot] == Phase::kRunning ? sample_.running : sample_.starting) += gpus;
    const int32_t tenant = tenant_of_job_[static_cast<size_t>(s.job[slot])];
    if (tenant != kNone) tenant_gpus_now_[static_cast<size_t>(tenant)] += gpus;
  }
  sample_.idle = s.head->free_gpus;
  sample_.down = s.head->down_gpus;
  const int32_t held = fixed.spec.total_gpus - s.head->free_gpus - s.head->down_gpus;
  sample_.unshared = held - sample_.running - sample_.starting;
  std::fill(types_now_.begin(), types_now_.end(), GpuTypeSeconds{});
  for (int32_t m = 0; m < fixed.spec.num_nodes; ++m) {
    GpuTypeSeconds& type = types_now_[static_cast<size_t>(fixed.spec.node_type[m])];
    const int32_t down = fixed.faults ? count_bits(s.idle_down_mask[m]) : 0;
    type.idle_s += s.free_count[m];
    type.down_s += down;
    type.busy_s += fixed.spec.node_gpus[m] - s.free_count[m] - down;
  }
  vacated_.clear();
  const bool saves = s.head->ready_horizon_us > s.head->now_us;
  for (int32_t m = 0; saves && m < fixed.spec.num_nodes; ++m) {
    const uint64_t down = fixed.faults ? s.idle_down_mask[m] : 0;
    for (uint64_t rest = s.free_mask[m] | down; rest != 0; rest &= rest - 1) {
      const int64_t ready_us = s.gpu_ready_us[fixed.spec.node_gpu0[m] + lowest_set_bit_index(rest)];
      if (ready_us <= s.head->now_us) continue;
      vacated_.push_back({ready_us, fixed.spec.node_type[m], (down & rest & -rest) != 0});
    }
  }
  fragments_ = fragmentation_->of(s);
  used_.time.lost = seconds(s.head->lost_time_us);
}

void UsageMeter::record_state(const SimModel& fixed, const SimState& state) {
  if (fragmentation_) {
    integrate_until(state.head->now_us);
  } else {
    fragmentation_.emplace(fixed);
    at_us_ = state.head->now_us;
  }
  scan(fixed, state);
}

std::optional<GpuUsage> UsageMeter::end(int64_t end_us) {
  if (!fragmentation_) return std::nullopt;
  integrate_until(end_us);
  return used_;
}

}  // namespace yard
