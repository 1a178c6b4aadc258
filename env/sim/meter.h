// Where the GPUs' time went, and how fragmented what was free: integrals over a replay, collected
// by looking at the state after every decision. Costs a walk over nodes and holders each time, so
// it hangs on Replay::watch only where somebody asked.
//
//   Meter meter(cluster, trace);
//   replay.watch = [&](const ClusterState& s) { meter.watch(fixed, s); };
//   const Metered used = meter.end(outcome.end_us);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/fragmentation.h"
#include "env/trace/job.h"

namespace yard {

// [GPU s] Adds up to all GPUs times the time watched: running + starting + saving + unshared + down
// + idle. A share counts as what it is.
struct GpuTime {
  double running = 0;   // by jobs that make progress, also work that a failure took back
  double starting = 0;  // restoring, or waiting for GPUs that somebody still vacates
  double saving = 0;    // held by nobody but a job that saves
  double unshared = 0;  // parts of shared GPUs that nobody has
  double down = 0;
  double idle = 0;
  double lost = 0;  // of `running`: work that failures lost
  double total() const { return running + starting + saving + unshared + down + idle; }
};

// Integrals [GPU s] of what Fragments says of a moment; ratios of them are means over free GPUs.
struct FragmentTime {
  double free = 0, unusable = 0, partial = 0, stranded = 0, largest_block = 0, ideal_block = 0;
};

struct TypeTime {
  double busy_s = 0, idle_s = 0, down_s = 0;  // [GPU s] busy: held, or still being vacated
};

struct Metered {
  GpuTime time;
  FragmentTime fragments;
  std::vector<TypeTime> types;       // as in ClusterSpec::types
  std::vector<std::string> tenants;  // of the trace, sorted
  std::vector<double> tenant_gpu_s;  // starting and running jobs held so much
  double span_s = 0;
};

// [kWh] of all GPUs that are not down; empty where the spec does not say a type's power.
std::optional<double> energy_kwh(const ClusterSpec& cluster, const Metered& used);

// What held GPUs cost, and what all of them did; empty where the spec does not say a type's price.
struct Cost {
  double held = 0, all = 0;
};
std::optional<Cost> cost_of(const ClusterSpec& cluster, const Metered& used);

class Meter {
 public:
  // Requires: both outlive this.
  Meter(const ClusterSpec& cluster, const Trace& trace);

  // Requires: the same `fixed` each time, alive until end().
  void watch(const Fixed& fixed, const ClusterState& state);

  // Returns what there was until the replay's end; empty where no state was shown.
  std::optional<Metered> end(int64_t end_us);

 private:
  // [GPUs] as they have been since the last look.
  struct Now {
    double running = 0, starting = 0, unshared = 0, down = 0, idle = 0;
  };
  struct Vacated {
    int64_t ready_us;
    int32_t type;
    bool down;
  };
  void pass(int64_t to_us);
  void look(const Fixed& fixed, const ClusterState& s);
  void look_at_vacated(const Fixed& fixed, const ClusterState& s);

  const ClusterSpec& cluster_;
  std::vector<int32_t> tenant_of_job_;  // (N)  index into Metered::tenants, kNone
  std::optional<Fragmentation> fragmentation_;
  Metered used_;
  int64_t at_us_ = 0;
  Now now_;
  Fragments fragments_;
  std::vector<TypeTime> types_now_;  // [GPUs]
  std::vector<Vacated> vacated_;     // GPUs that nobody has but somebody still saves on
  std::vector<double> tenant_gpus_now_;
};

}  // namespace yard
