// Integrates GPU use and fragmentation over a replay. A UsageMeter samples all nodes and jobs after
// every decision, so it is attached to Replay::watch on request only.
//
//   UsageMeter meter(cluster, trace);
//   replay.watch = [&](const SimState& s) { meter.record_state(fixed, s); };
//   const GpuUsage used = meter.end(outcome.end_us);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/metrics/fragmentation.h"
#include "env/trace/core/job.h"

namespace yard {

// [GPU s] GPU time by use: running + starting + saving + unshared + down + idle = all GPUs times
// the observed time. A job's share of a GPU counts as that fraction of a GPU.
struct GpuSeconds {
  double running = 0;   // held by jobs that progress, even if a failure undoes the work later
  double starting = 0;  // held by jobs that restore, or wait for GPUs that are being vacated
  double saving = 0;    // held only by preempted jobs that save their checkpoints
  double unshared = 0;  // the unused parts of shared GPUs
  double down = 0;
  double idle = 0;
  double lost = 0;  // the part of `running` whose work failures undid
  double total() const { return running + starting + saving + unshared + down + idle; }
};

struct GpuTypeSeconds {
  double busy_s = 0, idle_s = 0, down_s = 0;  // [GPU s] busy: GPUs held or being vacated
};

struct GpuUsage {
  GpuSeconds time;
  FreeGpuCounts fragments;            // [GPU s] integrals over time of the numbers of GPUs
  std::vector<GpuTypeSeconds> types;  // as in ClusterSpec::types
  std::vector<std::string> tenants;   // sorted names of the trace's tenants
  std::vector<double> tenant_gpu_s;   // [GPU s] held by each tenant's starting and running jobs
  double span_s = 0;
};

// [kWh] Energy of all GPUs that are not down. Empty if the spec lacks the power of a used GPU type.
std::optional<double> energy_kwh(const ClusterSpec& cluster, const GpuUsage& used);

// Cost of held GPUs and of all GPUs, in the currency of the cluster spec.
struct Cost {
  double held = 0, all = 0;
};
std::optional<Cost> cost_of(const ClusterSpec& cluster, const GpuUsage& used);

class UsageMeter {
 public:
  // Requires: `cluster` and `trace` outlive this UsageMeter.
  UsageMeter(const ClusterSpec& cluster, const Trace& trace);

  // Samples a state. Requires: each call has the same `fixed`, which lives until end() is called.
  void record_state(const SimModel& fixed, const SimState& state);

  // Returns the totals from the first sample to the replay's end; empty if no state was sampled.
  std::optional<GpuUsage> end(int64_t end_us);

 private:
  struct GpuBeingSaved {
    int64_t ready_us;
    int32_t type;
    bool down;
  };
  void integrate_until(int64_t to_us);
  void scan(const SimModel& fixed, const SimState& s);

  const ClusterSpec& cluster_;
  std::vector<int32_t> tenant_of_job_;  // (jobs)  index into GpuUsage::tenants, or kNone
  std::optional<Fragmentation> fragmentation_;
  GpuUsage used_;
  int64_t at_us_ = 0;
  GpuSeconds sample_;  // [GPUs] numbers of GPUs by use at the last sample
  FreeGpuCounts fragments_;
  std::vector<GpuTypeSeconds> types_now_;  // [GPUs]
  std::vector<GpuBeingSaved> vacated_;     // GPUs on which a preempted job still saves
  std::vector<double> tenant_gpus_now_;
};

}  // namespace yard
