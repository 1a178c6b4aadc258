// Functions for a job that is placed task by task; `pieces` are the tasks placed so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/placement/task_placer.h"
#include "env/sim/view/view.h"

namespace yard::partial_job {

// Returns the number of role groups; a plain job counts as one group of single-GPU tasks.
inline int32_t num_role_groups(const View& view, int32_t slot) {
  return view.shaped(slot) ? view.num_groups(slot) : 1;
}
inline int32_t num_requested_tasks_or_gpus(const View& view, int32_t slot, int32_t group) {
  return view.shaped(slot) ? view.requested_tasks(slot, group) : view.gpus(slot);
}
inline int32_t total_requested_tasks_or_gpus(const View& view, int32_t slot) {
  int32_t n = 0;
  for (int32_t g = 0; g < num_role_groups(view, slot); ++g)
    n += num_requested_tasks_or_gpus(view, slot, g);
  return n;
}

inline void add(const View& view, int32_t slot, int32_t group, int32_t node,
                std::vector<Piece>& pieces) {
  auto mine = std::ranges::find_if(
      pieces, [&](const Piece& p) { return p.node == node && p.group == group; });
  if (mine == pieces.end()) mine = pieces.insert(pieces.end(), {node, 0, group, 0});
  mine->gpus += view.shaped(slot) ? view.task_need(slot, group).gpus : 1;
  mine->tasks += view.shaped(slot);
}

inline std::vector<int32_t> unplaced_tasks(const View& view, int32_t slot,
                                           std::span<const Piece> pieces) {
  std::vector<int32_t> left;
  for (int32_t g = 0; g < num_role_groups(view, slot); ++g)
    left.push_back(num_requested_tasks_or_gpus(view, slot, g));
  for (const Piece& p : pieces) {
    left[static_cast<size_t>(p.group)] -= view.shaped(slot) ? p.tasks : p.gpus;
  }
  return left;
}

// Returns whether one more task of `group` may be placed on `node`. If a job's GPUs must be of one
// type, the node must have the type of the GPUs placed so far.
inline bool has_room_for_task(const View& view, int32_t slot, std::span<const Piece> pieces,
                              int32_t group, int32_t node) {
  const SpecColumns& spec = view.spec();
  const auto on_gpus = [&](int32_t g) {
    if (!view.shaped(slot)) return true;
    const TaskNeed need = view.task_need(slot, g);
    return need.gpus + need.gpu_milli > 0;
  };
  if (spec.one_type && on_gpus(group)) {
    for (const Piece& p : pieces) {
      if (on_gpus(p.group) && spec.node_type[p.node] != spec.node_type[node]) return false;
    }
  }
  return TaskPlacer(view).has_room_for_task(slot, pieces, group, node);
}

// Returns whether all tasks left fit by first-fit on the nodes from `first_node` on, then before
// it.
inline bool can_complete_placement_from(const View& view, int32_t slot, std::vector<Piece> pieces,
                                        int32_t first_node) {
  const int32_t nodes = view.spec().num_nodes;
  const std::vector<int32_t> left = unplaced_tasks(view, slot, pieces);
  for (int32_t g = 0; g < static_cast<int32_t>(left.size()); ++g) {
    int32_t passed = 0;
    for (int32_t t = 0; t < left[static_cast<size_t>(g)]; ++t) {
      while (passed < nodes &&
             !has_room_for_task(view, slot, pieces, g, (first_node + passed) % nodes))
        ++passed;
      if (passed == nodes) return false;
      add(view, slot, g, (first_node + passed) % nodes, pieces);
    }
  }
  return true;
}

// Returns whether all tasks left fit by first-fit, on one GPU type if the cluster requires it.
inline bool can_complete_placement(const View& view, int32_t slot,
                                   const std::vector<Piece>& pieces) {
  const SpecColumns& spec = view.spec();
  if (!spec.one_type) return can_complete_placement_from(view, slot, pieces, 0);
  for (int32_t first = 0; first < spec.num_nodes; ++first) {
    const bool new_type = first == 0 || spec.node_type[first] != spec.node_type[first - 1];
    if (new_type && can_complete_placement_from(view, slot, pieces, first)) return true;
  }
  return false;
}

}  // namespace yard::partial_job
