// Integrals over a replay: how GPUs were used, and how fragmented free GPUs were. Samples all nodes
// and jobs after every decision, so the meter is attached to Replay::watch on request only.
//
//   Meter meter(cluster, trace);
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

// [GPU s] Sums to all GPUs times the observed time: running + starting + saving + unshared + down +
// idle. A share counts as its fraction of a GPU.
struct GpuTime {
  double running = 0;   // jobs make progress, even if a failure undoes it later
  double starting = 0;  // jobs restore, or wait for GPUs that are being vacated
  double saving = 0;    // held only by a preempted job that saves
  double unshared = 0;  // unused parts of shared GPUs
  double down = 0;
  double idle = 0;
  double lost = 0;  // part of `running`: work that failures undid
  double total() const { return running + starting + saving + unshared + down + idle; }
};

struct GpuTypeTime {
  double busy_s = 0, idle_s = 0, down_s = 0;  // [GPU s] busy: held or being vacated
};

struct GpuUsage {
  GpuTime time;
  Fragments fragments;               // [GPU s] integrals; their ratios are means over free GPUs
  std::vector<GpuTypeTime> types;    // as in ClusterSpec::types
  std::vector<std::string> tenants;  // of the trace, sorted
  std::vector<double> tenant_gpu_s;  // held by starting and running jobs
  double span_s = 0;
};

// [kWh] of all GPUs that are not down. Empty if the spec lacks the power of a type in use.
std::optional<double> energy_kwh(const ClusterSpec& cluster, const GpuUsage& used);

// Cost of held GPUs and of all GPUs, in the spec's currency. Empty if the spec lacks a price.
struct Cost {
  double held = 0, all = 0;
};
std::optional<Cost> cost_of(const ClusterSpec& cluster, const GpuUsage& used);

class Meter {
 public:
  // Requires: both outlive this.
  Meter(const ClusterSpec& cluster, const Trace& trace);

  // Samples a state. Requires: the same `fixed` each time, alive until end().
  void record_state(const SimModel& fixed, const SimState& state);

  // Returns the totals until the replay's end; empty if no state was sampled.
  std::optional<GpuUsage> end(int64_t end_us);

 private:
  struct VacatedGpu {
    int64_t ready_us;
    int32_t type;
    bool down;
  };
  void pass(int64_t to_us);
  void scan(const SimModel& fixed, const SimState& s);

  const ClusterSpec& cluster_;
  std::vector<int32_t> tenant_of_job_;  // (N)  index into GpuUsage::tenants, kNone
  std::optional<Fragmentation> fragmentation_;
  GpuUsage used_;
  int64_t at_us_ = 0;
  GpuTime sample_;  // [GPUs] at the last sample
  Fragments fragments_;
  std::vector<GpuTypeTime> types_now_;  // [GPUs]
  std::vector<VacatedGpu> vacated_;  // GPUs without an owner, on which a preempted job still saves
  std::vector<double> tenant_gpus_now_;
};

}  // namespace yard
