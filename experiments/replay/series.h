// Records utilisation and queue length over a replay, as means over equal slices of time, small
// enough for a web page.
//   {"series":[{"policy","information","bound","gpus","from_s","to_s","t_s":[..],"held_gpus":[..],
//               "free_gpus":[..],"waiting":[..],"waiting_gpus":[..],"running":[..],
//               "unusable_gpus":[..],"tenants":[{"tenant","held_gpus":[..],"waiting":[..]}]}]}
// `t_s`: middles of the slices. `from_s` to `to_s`: the scored window.
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/metrics/fragmentation.h"
#include "env/sim/state/state.h"
#include "experiments/replay/replay.h"
#include "experiments/scenario/scenario.h"

namespace yard {

class Series {
 public:
  // Requires: the scenario outlives this object.
  explicit Series(const Scenario& scenario);

  // Starts the series of the next policy.
  void begin();

  // Records the state after a decision: RunOptions::watch.
  void record_state(const SimModel& fixed, const SimState& state);

  // Completes the series of the policy that made `run`.
  void end(const Run& run);

  nlohmann::ordered_json json() const { return {{"series", done_}}; }
  // Returns the series as RFC 4180 CSV, one row per slice and policy. Tenant columns are
  // "held_gpus:NAME" and "waiting:NAME".
  std::string csv() const;

 private:
  // Columns of `values_`; two per tenant follow.
  enum Column { kHeld, kFree, kWaiting, kWaitingGpus, kRunning, kUnusable, kColumns };
  size_t width() const { return kColumns + 2 * tenants_.size(); }
  void count(const SimModel& fixed, const SimState& state, float* row);
  int num_slices(int64_t from_us, int64_t to_us) const;
  std::vector<nlohmann::ordered_json> means_by_slice(int64_t from_us, int64_t to_us,
                                                     int slices) const;

  const Scenario& scenario_;
  std::vector<std::string> tenants_;  // names of the trace's tenants, sorted
  std::vector<int32_t> tenant_of_;    // (N)  index into tenants_ or kNone
  std::optional<Fragmentation> fragmentation_;
  std::vector<int64_t> at_us_;  // (steps)
  std::vector<float> values_;   // (steps, width)  values which hold from at_us_ of the step on
  nlohmann::ordered_json done_ = nlohmann::ordered_json::array();
};

}  // namespace yard
