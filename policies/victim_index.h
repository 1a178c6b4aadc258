// Finds the nodes where preemption makes room first if holders stop from the last in order. For
// each job size up to one node, orders the nodes by the holder whose stop makes the room. A
// holder's key is linear in time, so a change or a query costs O(log nodes). The columns are in a
// policy's memory. Works for whole GPUs without faults. Dims: S slots, M nodes, G GPUs, Z job sizes
// in GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/view/view.h"
#include "policies/held_order.h"
#include "policies/memory.h"

namespace yard {

class VictimIndex {
 public:
  // Returns whether the index works for these jobs: placement `consolidate`, no shared GPUs, no
  // faults, nodes of one size. If not, it uses no memory and nothing else may be called.
  static bool is_index_available(const View& view, PlacementRule placement);
  static size_t bytes(const View& view, PlacementRule placement);

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first;
  // `view` and `held` outlive this.
  VictimIndex(const View& view, PlacementRule placement, const LinearKeyTreap& held,
              BumpAllocator& bump);

  bool is_index_available() const { return serves_; }

  // Marks the nodes of a job that changed, started or stopped. Call this after the slot has
  // changed. `held` may lack jobs that a draft started: these jobs cannot be preempted yet.
  void update(int32_t slot);

  // Recomputes the marked nodes. Must be called before a decision ends.
  void refresh() {
    for (const int32_t node : dirty_) refresh(node);
    dirty_.clear();
  }

  // Returns whether the index handles jobs of `gpus` GPUs: at most one node, or whole nodes.
  bool supports(int32_t gpus) const {
    const int32_t max_gpus = view_.spec().max_node_gpus;
    return gpus <= max_gpus || gpus % max_gpus == 0;
  }

  // Lists the victims that make room for a job of `gpus` GPUs: holders after `job`, last first, on
  // nodes that can be part of the placement. Returns false if there is no placement even then.
  // `margin`: see PreemptionRule. Requires: supports(gpus); no placement without victims.
  bool find_victims(const RankedJob& job, int32_t gpus, double margin,
                    std::vector<RankedJob>& victims);

 private:
  static uint64_t job_sizes_mask(const View& view);
  void refresh(int32_t node);
  void list_holders(int32_t node);
  int32_t node_of(int32_t gpu) const;
  int64_t row(size_t z) const { return static_cast<int64_t>(z) * view_.spec().num_nodes; }
  Key victim_key(size_t z, const RankedJob& next);
  std::optional<Key> victim_key(size_t z, size_t count);
  void list_victims(size_t z, const Key& from, std::vector<RankedJob>& victims);

  const View& view_;
  const LinearKeyTreap& held_;
  bool serves_;
  std::vector<int32_t> sizes_;           // (Z)  rising
  std::vector<LinearKeyTreap> by_size_;  // (Z)  nodes
  uint8_t* bound_ = nullptr;             // (Z, M)  1: the node's key is only an upper bound
  int32_t* first_ = nullptr;             // (S)  1 + a GPU of the first node of the job, 0 for none
  int32_t* next_ = nullptr;              // (G)  1 + a GPU of the next node, 0 after the last
  int32_t* owner_ = nullptr;    // (G)  the last slot that held the GPU; its job may have left
  std::vector<int32_t> dirty_;  // nodes to recompute
  struct Holder {
    int32_t slot, gpus;
    Key key;
  };
  std::vector<Holder> holders_;  // jobs that hold GPUs of one node, the last in order first
};

}  // namespace yard
