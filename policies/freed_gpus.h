// Answers whether a job of whole GPUs would find a placement if certain jobs were stopped. Adds up
// free GPUs by node and stops nothing. Works for clusters without shared GPUs. Dims: M nodes.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/view/view.h"

namespace yard {

class FreedGpus {
 public:
  FreedGpus(const View& view, PlacementRule placement, int32_t gpus)
      : view_(view),
        gpus_(gpus),
        min_share_(min_gpus_per_node_on_fewest_nodes(view.spec(), gpus)),
        one_node_(placement == PlacementRule::kConsolidate && gpus <= view.spec().max_node_gpus),
        any_nodes_(placement != PlacementRule::kConsolidate),
        free_(view.free_gpus()) {
    if (any_nodes_) return;
    added_.resize(static_cast<size_t>(view.spec().num_nodes));
    // If only the tenant's limit kept the job out, there may already be room.
    if (one_node_) {
      found_ = Placer(view).first_node_with_at_least(gpus) != kNone;
      return;
    }
    max_nodes_ = min_nodes_in_empty_cluster(view.spec(), gpus);
    const Placer placer(view);
    for (int32_t c = 0; c <= view.spec().max_node_gpus; ++c) {
      nodes_with_.push_back(placer.count_nodes_with_exactly(c));
    }
  }

  // Counts the job's GPUs as free, except those that are down.
  void add(int32_t slot) { count(slot, 1); }
  void remove(int32_t slot) { count(slot, -1); }

  // Returns whether the job would find a placement.
  bool enough() {
    if (any_nodes_) return free_ >= gpus_;
    if (one_node_) return found_;
    if (!dirty_) return false;
    dirty_ = false;
    int32_t nodes = 0, left = gpus_;
    for (int32_t c = view_.spec().max_node_gpus; c > 0 && left > 0; --c) {
      const int32_t full = (left + c - 1) / c, have = nodes_with_[static_cast<size_t>(c)];
      const int32_t take = full < have ? full : have;
      left -= take * c;
      nodes += take;
    }
    return left <= 0 && nodes <= max_nodes_;
  }

  // Returns the fewest GPUs that one node gives to a placement on the fewest possible nodes.
  static int32_t min_gpus_per_node_on_fewest_nodes(const SpecColumns& spec, int32_t gpus) {
    const int32_t max_gpus = spec.max_node_gpus;
    if (int64_t{max_gpus} * spec.nodes_of_size[max_gpus] < gpus) return 1;
    return (gpus - 1) % max_gpus + 1;
  }

  // Returns whether a job holds GPUs on a node that can be part of the placement. Requires:
  // enough().
  bool helps_placement(int32_t slot) const {
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      const int32_t node = view_.part_node(p);
      const int32_t free = view_.node_free_gpus(node) + added_[static_cast<size_t>(node)];
      if (free >= (one_node_ ? gpus_ : min_share_)) return true;
    }
    return false;
  }

  // Returns whether the job to be started has room even if the victim in `slot` keeps its GPUs:
  // enough GPUs in total if the placement may use any node, else enough on the nodes of `pieces`.
  bool has_room_without_victim(int32_t slot, const std::vector<Piece>& pieces) const {
    int32_t sum = 0;
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      const int32_t node = view_.part_node(p), gpus = num_working_gpus_of_part(p);
      sum += gpus;
      if (any_nodes_) continue;
      for (const Piece& piece : pieces) {
        if (piece.node != node) continue;
        const int32_t free = view_.node_free_gpus(node) + added_[static_cast<size_t>(node)];
        if (free - gpus < piece.gpus) return false;
      }
    }
    return !any_nodes_ || free_ - sum >= gpus_;
  }

 private:
  int32_t num_working_gpus_of_part(int32_t part) const {
    return std::popcount(view_.part_mask(part) & ~view_.down_gpu_mask(view_.part_node(part)));
  }

  void count(int32_t slot, int32_t sign) {
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      const int32_t gpus = sign * num_working_gpus_of_part(p);
      free_ += gpus;
      if (any_nodes_) continue;
      const int32_t node = view_.part_node(p);
      int32_t& added = added_[static_cast<size_t>(node)];
      const int32_t before = view_.node_free_gpus(node) + added;
      added += gpus;
      if (one_node_) {
        found_ = found_ || before + gpus >= gpus_;
      } else {
        --nodes_with_[static_cast<size_t>(before)];
        ++nodes_with_[static_cast<size_t>(before + gpus)];
        dirty_ = dirty_ || before + gpus >= min_share_;
      }
    }
  }

  const View& view_;
  int32_t gpus_;
  int32_t min_share_;
  bool one_node_, any_nodes_;
  bool found_ = false;  // whether some node has, or had, enough free GPUs
  bool dirty_ = true;   // whether a node that matters changed since the last enough()
  int32_t free_;
  int32_t max_nodes_ = 0;
  std::vector<int32_t> added_;       // (M)
  std::vector<int32_t> nodes_with_;  // number of nodes, by their number of free GPUs
};

}  // namespace yard
