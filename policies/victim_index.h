// Finds the nodes where preemption makes room first if running jobs stop from the last in order.
// For each job size up to one node, nodes are ordered by the key of the job whose stop makes the
// room. The key is linear in time, so a change or a query costs O(log nodes). The arrays of the
// index are in a policy's memory. The index supports neither shared GPUs nor hardware faults. Dims:
// S slots, M nodes, G GPUs, Z job sizes (numbers of GPUs).
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
  // Returns whether the index works: placement `consolidate`, no shared GPUs, no faults, nodes of
  // one size. If false, the index uses no memory, and no other function of it may be called.
  static bool is_index_available(const View& view, PlacementRule placement);
  static size_t bytes(const View& view, PlacementRule placement);

  // Requires: `bump` gives the same memory at every decision, zeroed before the first decision, and
  // `view` and `held` outlive this.
  VictimIndex(const View& view, PlacementRule placement, const LinearKeyTreap& held,
              BumpAllocator& bump);

  bool is_index_available() const { return serves_; }

  // Marks the nodes of a job that has just changed, started or stopped. `held` may lack jobs that a
  // draft started, since the draft cannot preempt these jobs.
  void update(int32_t slot);

  // Recomputes the nodes that update() marked. Call refresh() before a decision ends.
  void refresh() {
    for (const int32_t node : dirty_) refresh(node);
    dirty_.clear();
  }

  // Returns whether the index handles jobs of `gpus` GPUs: at most one node, or whole nodes.
  bool supports_job_gpus(int32_t gpus) const {
    const int32_t max_gpus = view_.spec().max_node_gpus;
    return gpus <= max_gpus || gpus % max_gpus == 0;
  }

  // Lists victims that make room for `job`, which needs `gpus` GPUs: jobs after it, last first, on
  // nodes that its placement can use. Returns false if no victims make room. `margin`: see
  // PreemptionRule. Requires: supports_job_gpus(gpus); the job has no placement without victims.
  bool find_victims(const RankedJob& job, int32_t gpus, double margin,
                    std::vector<RankedJob>& victims);

 private:
  static uint64_t indexed_sizes_mask(const View& view);
  void refresh(int32_t node);
  void list_holders(int32_t node);
  int32_t node_of(int32_t gpu) const;
  int64_t row(size_t size_index) const {
    return static_cast<int64_t>(size_index) * view_.spec().num_nodes;
  }
  Key last_victim_key(size_t size_index, const RankedJob& ranked_node);
  std::optional<Key> last_victim_key(size_t size_index, size_t num_nodes);
  void list_victims(size_t size_index, const Key& from, std::vector<RankedJob>& victims);

  const View& view_;
  const LinearKeyTreap& held_;
  bool serves_;
  std::vector<int32_t> sizes_;           // (Z)  rising
  std::vector<LinearKeyTreap> by_size_;  // (Z)  nodes
  uint8_t* bound_ = nullptr;             // (Z, M)  1: the key of the node is only an upper bound
  int32_t* first_ = nullptr;             // (S)  1 + a GPU index on the job's first node; 0: no node
  int32_t* next_ = nullptr;              // (G)  1 + a GPU index on the job's next node; 0: no more
  int32_t* owner_ = nullptr;             // (G)  slot of the GPU's last job, which may have left
  std::vector<int32_t> dirty_;           // nodes to recompute
  struct Holder {
    int32_t slot, gpus;
    Key key;
  };
  std::vector<Holder> holders_;  // jobs that hold GPUs of one node, last in order first
};

}  // namespace yard
