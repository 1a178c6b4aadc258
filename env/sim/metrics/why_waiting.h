// Explains to users why a job waits: which resource it lacks at this moment, or that it lacks none
// and the scheduler has not started it. No policy uses this file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/placement/placement_rules.h"

namespace yard {

enum class WaitReason : uint8_t {
  kDependencies,  // jobs that the waiting job depends on have not ended
  kSaving,        // the preempted job is still saving its checkpoint
  kTenantLimit,   // the job's tenant may hold no more GPUs
  kTooFewGpus,    // fewer GPUs are free in the whole cluster than the job needs
  kGpusDown,      // free GPUs would suffice together with the GPUs that are down
  kGpuType,       // enough GPUs are free, but not on types and nodes open to the job
  kGpuMemory,     // free memory of shared GPUs is not enough
  kCpu,           // free cores on nodes with free GPUs are not enough
  kMemory,        // free host memory on nodes with free GPUs is not enough
  kFragmented,    // enough GPUs are free, but not where the placement rule can use them
  kOrder,         // a placement exists, but the scheduler does not start the job
  kNextRound,     // the rule set admits the submitted job only at its next round or second
};
inline constexpr int kWaitReasons = 12;
inline constexpr const char* kWaitReasonNames[kWaitReasons] = {
    "dependencies", "saving", "tenant-limit", "too-few-gpus", "gpus-down", "gpu-type",
    "gpu-memory",   "cpu",    "memory",       "fragmented",   "order",     "next-round"};

// Returns the placement rule called `name`; the least restrictive, best-fit, for unknown names.
PlacementRule placement_rule_named(const std::string& name);

// The jobs that a waiting job waits for.
struct Blockers {
  std::vector<int32_t> jobs;  // the first kMaxBlockers blocking jobs
  int32_t more = 0;           // number of blocking jobs that are not in `jobs`
};
inline constexpr size_t kMaxBlockers = 8;

class WhyWaiting {
 public:
  // Requires: `fixed` outlives this object.
  WhyWaiting(const SimModel& fixed, PlacementRule placement);

  // Discards cached results. Call it whenever the state has changed.
  void invalidate() { ++epoch_; }

  // Requires: the job in `slot` waits, is blocked, or stops.
  WaitReason reason(const SimState& state, int32_t slot);

  // Returns the jobs that hold the lacking resource, largest first, or on which the waiting job
  // depends. Returns no job if the reason is kOrder or kNextRound.
  Blockers blockers(const SimState& state, int32_t slot, WaitReason reason) const;

  // Returns a text without commas, such as "needs 8 GPUs; 3 free". `name(j)` returns a job's name.
  template <class Name>
  std::string detail(const SimState& state, int32_t slot, WaitReason reason,
                     const Name& name) const {
    if (reason != WaitReason::kDependencies) return gpu_counts_text(state, slot, reason);
    const std::vector<int32_t> all = unfinished_dependencies(state, slot);
    return "after " + name(all.empty() ? state.job[slot] : all.front());
  }

 private:
  WaitReason reason_for_request_class(const SimState& s, int32_t slot);
  WaitReason reason_for_shaped_job(const SimState& s, int32_t slot) const;
  // Returns the number of free whole GPUs on nodes that the job may use.
  int32_t free_gpus_on_open_nodes(const SimState& s, int32_t slot) const;
  bool has_room_ignoring(const SimState& s, int32_t slot, bool cpu, bool memory,
                         bool gpu_memory) const;
  // Returns the unfinished jobs that the job depends on.
  std::vector<int32_t> unfinished_dependencies(const SimState& s, int32_t slot) const;
  bool is_node_open_to_job(const SimState& s, int32_t slot, int32_t node) const;
  bool holds_on_open_node(const SimState& s, int32_t holder, int32_t slot) const;
  std::string gpu_counts_text(const SimState& s, int32_t slot, WaitReason reason) const;

  const SimModel& fixed_;
  PlacementRule placement_;
  int64_t epoch_ = 1;
  // Reasons are cached by request class, because jobs of one class have identical requests.
  std::vector<int64_t> seen_;       // (K)  epoch
  std::vector<WaitReason> reason_;  // (K)
  std::vector<Piece> pieces_;
};

}  // namespace yard
