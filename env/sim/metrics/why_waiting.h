// Why a job waits: what the job lacks at this moment, or that nothing is lacking and the scheduler
// does not start the job. For reports; no policy uses this file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/placement/placement_rules.h"

namespace yard {

enum class WaitReason : uint8_t {
  kDependencies,  // jobs that it depends on have not ended
  kSaving,        // its own save is not complete
  kTenantLimit,   // its tenant may hold no more
  kTooFewGpus,    // fewer are free in the whole cluster than it needs
  kGpusDown,      // free GPUs would be enough together with GPUs that are down
  kGpuType,       // enough are free, but not of a type or on a node open to the job
  kGpuMemory,     // free memory of shared GPUs is not enough
  kCpu,           // free cores on nodes with free GPUs are not enough
  kMemory,        // free host memory on nodes with free GPUs is not enough
  kFragmented,    // enough are free, but not where the placement rule can use them
  kOrder,         // there is a place, but the scheduler does not start the job
  kNextRound,     // submitted, but the rules admit jobs at rounds or whole seconds only
};
inline constexpr int kWaitReasons = 12;
inline constexpr const char* kWaitReasonNames[kWaitReasons] = {
    "dependencies", "saving", "tenant-limit", "too-few-gpus", "gpus-down", "gpu-type",
    "gpu-memory",   "cpu",    "memory",       "fragmented",   "order",     "next-round"};

// The placement with this name; best-fit, which is the least restrictive, for an unknown name.
PlacementRule placement_rule_named(const std::string& name);

// Jobs that another one waits for.
struct Blockers {
  std::vector<int32_t> jobs;  // the first of them
  int32_t more = 0;           // the number of others
};
inline constexpr size_t kMaxBlockers = 8;

class WhyWaiting {
 public:
  // Requires: `fixed` outlives this.
  WhyWaiting(const SimModel& fixed, PlacementRule placement);

  // Discards cached results. Call it whenever the state has changed.
  void invalidate() { ++epoch_; }

  // Requires: the job in `slot` waits, is blocked, or stops.
  WaitReason reason(const SimState& state, int32_t slot);

  // Returns the jobs that hold what the job lacks, most GPUs first, or on which the job depends.
  // Empty if nothing is lacking (kOrder, kNextRound).
  Blockers blockers(const SimState& state, int32_t slot, WaitReason reason) const;

  // Returns a text with numbers and without commas: "needs 8 GPUs; 3 free". `name(j)`: job name.
  template <class Name>
  std::string detail(const SimState& state, int32_t slot, WaitReason reason,
                     const Name& name) const {
    if (reason != WaitReason::kDependencies) return figures(state, slot, reason);
    const std::vector<int32_t> all = before(state, slot);
    return "after " + name(all.empty() ? state.job[slot] : all.front());
  }

 private:
  WaitReason reason_for_request_class(const SimState& s, int32_t slot);
  WaitReason reason_for_shaped_job(const SimState& s, int32_t slot) const;
  // Free whole GPUs on nodes that are open to the job.
  int32_t free_gpus_on_open_nodes(const SimState& s, int32_t slot) const;
  bool has_room(const SimState& s, int32_t slot, bool cpu, bool memory, bool gpu_memory) const;
  // Jobs that it depends on and that have not ended.
  std::vector<int32_t> before(const SimState& s, int32_t slot) const;
  bool is_node_open_to_job(const SimState& s, int32_t slot, int32_t node) const;
  bool holds_on_open_node(const SimState& s, int32_t holder, int32_t slot) const;
  std::string figures(const SimState& s, int32_t slot, WaitReason reason) const;

  const SimModel& fixed_;
  PlacementRule placement_;
  int64_t epoch_ = 1;
  // Jobs of one class have identical requests: a reason holds for the whole class.
  std::vector<int64_t> seen_;       // (K)  epoch
  std::vector<WaitReason> reason_;  // (K)
  std::vector<Piece> pieces_;
};

}  // namespace yard
