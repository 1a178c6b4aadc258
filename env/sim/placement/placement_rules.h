// Placement rules as free functions, for policies and agents. Each function writes the pieces of a
// placement and returns the number of pieces, or 0 if it finds no placement.
#pragma once

#include "env/sim/rules/shape.h"
#include "env/sim/state/free_map.h"
#include "env/sim/view/view.h"

namespace yard {

enum class PlacementRule : uint8_t { kFirstFit, kBestFit, kConsolidate, kElastic };
constexpr const char* kPlacementRuleNames[] = {"first-fit", "best-fit", "consolidate", "elastic"};

// Searches the free GPUs of a view for placements, and exposes no other part of the state.
class Placer {
 public:
  // Restricts the search to the GPU type `type`, for clusters with `one_type`; kNone: any type.
  YARD_HD explicit Placer(const View& view, int32_t type = kNone)
      : spec(view.fixed_->spec),
        map_(view.fixed_->spec),
        fixed_(*view.fixed_),
        s_(*view.state_),
        type_(type) {}

  // Places the tasks of a job with a shape, group by group. The rule first-fit takes nodes in
  // order; the other rules take the node which holds most of the group's remaining tasks, the
  // tightest among equals. Returns the number of pieces, or 0 if a task has no place. With the rule
  // elastic, a group may start with fewer tasks than requested, but at least its minimum.
  YARD_HD int32_t place_shaped_job(int32_t slot, PlacementRule placement, Piece* out) const {
    const ShapeColumns& h = fixed_.jobs.shapes;
    const bool first_fit = placement == PlacementRule::kFirstFit;
    const int32_t shape = s_.shape[slot];
    int32_t n = 0;
    for (int32_t g = 0; g < num_groups(h, shape); ++g) {
      const TaskNeed need = need_of(h, shape, g);
      const int32_t group_begin = n;
      for (int32_t left = tasks_of(h, shape, g); left > 0;) {
        const Piece piece = next_piece(shape, g, need, left, first_fit, out, group_begin, n);
        if (piece.tasks == 0) {
          const bool starts = is_legal_task_count(h, shape, g, tasks_of(h, shape, g) - left);
          if (placement == PlacementRule::kElastic && starts) break;
          return 0;
        }
        out[n++] = piece;
        left -= piece.tasks;
      }
    }
    return n;
  }

  // Returns the first queued job whose request class is not `skipped` and whose demand is at most
  // the number of free GPUs; kNone if there is none.
  template <class Skipped>
  YARD_HD int32_t first_waiting(const Skipped& skipped) const {
    int32_t first = kNone;
    const JobColumns& jobs = fixed_.jobs;
    for (int32_t k = 0; k < jobs.num_classes && jobs.class_gpus[k] <= s_.head->free_gpus; ++k) {
      const int32_t head = s_.class_head[k];
      if (head == kNone || skipped(k)) continue;
      if (first == kNone || s_.queue_rank[head] < s_.queue_rank[first]) first = head;
    }
    return first;
  }

  // Returns the node with the lowest index that has at least `gpus` free GPUs, or kNone.
  YARD_HD int32_t first_node_with_at_least(int32_t gpus) const {
    return map_.first_node_with_free_between(s_, gpus, spec.max_node_gpus);
  }

  // Places GPUs as place_gpus() does, on nodes of `type_` only. Requires: `type_` is not kNone.
  YARD_HD int32_t place_on_type(int32_t gpus, PlacementRule placement, Piece* out) const {
    const bool first_fit = placement == PlacementRule::kFirstFit;
    int32_t tightest = kNone, free = 0, most = 0;
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      if (spec.node_type[m] != type_) continue;
      free += s_.free_count[m];
      if (s_.free_count[m] > most) most = s_.free_count[m];
      if (s_.free_count[m] < gpus || (first_fit && tightest != kNone)) continue;
      if (tightest == kNone || s_.free_count[m] < s_.free_count[tightest]) tightest = m;
    }
    if (tightest != kNone) {
      out[0] = {tightest, gpus};
      return 1;
    }
    if (free < gpus) return 0;
    const int32_t asked = gpus;
    int32_t n = 0;
    // first-fit takes nodes in order. The other rules take the node with most free GPUs first, and
    // put the last piece on the tightest node which holds it.
    for (int32_t c = first_fit ? 0 : most; gpus > 0 && c >= 0; --c) {
      for (int32_t m = 0; gpus > 0 && m < spec.num_nodes; ++m) {
        if (spec.node_type[m] != type_ || s_.free_count[m] == 0) continue;
        if (!first_fit &&
            (s_.free_count[m] != c || (c > gpus && has_tighter_node(gpus, c, out, n)))) {
          continue;
        }
        out[n] = {m, s_.free_count[m] < gpus ? s_.free_count[m] : gpus};
        gpus -= out[n++].gpus;
      }
    }
    if (placement != PlacementRule::kConsolidate) return n;
    int32_t size = 0;
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      if (spec.node_type[m] == type_ && spec.node_gpus[m] > size) size = spec.node_gpus[m];
    }
    return (n - 1) * size >= asked ? 0 : n;  // 0: an empty cluster needs fewer nodes
  }

  // Returns whether place_on_type() finds a placement. Requires: `type_` is not kNone.
  YARD_HD bool can_place_on_type(int32_t gpus, PlacementRule placement) const {
    int32_t free = 0, size = 0, nodes = 0;
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      if (spec.node_type[m] != type_) continue;
      free += s_.free_count[m];
      if (spec.node_gpus[m] > size) size = spec.node_gpus[m];
    }
    if (free < gpus || placement != PlacementRule::kConsolidate) return free >= gpus;
    int32_t left = gpus;
    for (int32_t c = spec.max_node_gpus; left > 0 && c > 0; --c) {
      for (int32_t m = 0; left > 0 && m < spec.num_nodes; ++m) {
        if (spec.node_type[m] != type_ || s_.free_count[m] != c) continue;
        left -= c;
        ++nodes;
      }
    }
    return (nodes - 1) * size < gpus;
  }

  // Returns the number of nodes with exactly `free` free GPUs.
  YARD_HD int32_t count_nodes_with_exactly(int32_t free) const { return map_.count(s_, free); }

  // Returns whether the node has room for the job. Requires: the job has a shape with one task.
  YARD_HD bool has_room_on_node(int32_t slot, int32_t node) const {
    const ShapeColumns& h = fixed_.jobs.shapes;
    const int32_t shape = s_.shape[slot];
    const TaskNeed need = need_of(h, shape, 0);
    NodeLedger ledger(fixed_, s_, node);
    return ledger.suits_task(fixed_, shape, need) && take_tasks(fixed_, s_, ledger, need, 1) == 1;
  }

  // Returns the fewest nodes that have `gpus` free GPUs in sum. Requires: `gpus` GPUs are free.
  YARD_HD int32_t min_nodes_with_free_gpus(int32_t gpus) const {
    int32_t n = 0;
    for (int32_t c = spec.max_node_gpus; gpus > 0; --c) {
      for (int32_t m = map_.first_node_with_exactly(s_, c); m != kNone && gpus > 0;
           m = map_.first_node_with_exactly(s_, c, m + 1)) {
        gpus -= c;
        ++n;
      }
    }
    return n;
  }

  // Places `gpus` on free GPUs in node order, split over any number of nodes.
  YARD_HD int32_t place_scattered(int32_t gpus, Piece* out) const {
    int32_t n = 0;
    for (int32_t node = 0; gpus > 0 && node < spec.num_nodes; ++node) {
      const int32_t take = s_.free_count[node] < gpus ? s_.free_count[node] : gpus;
      if (take == 0) continue;
      out[n++] = {node, take};
      gpus -= take;
    }
    return n;
  }

  // Places `gpus` on the fewest nodes: nodes with most free GPUs first, the last piece on the
  // tightest node which holds it, the lowest of equal nodes. Returns 0 if too few GPUs are free.
  YARD_HD int32_t place_on_fewest_nodes(int32_t gpus, Piece* out) const {
    int32_t n = 0;
    int32_t from = 0;
    for (int32_t c = spec.max_node_gpus; c > 0 && gpus > 0;) {
      if (c > gpus) {
        // The last piece goes to the tightest unused node. Unused nodes have at most c free GPUs.
        for (int32_t t = gpus; t <= c; ++t) {
          const int32_t node = map_.first_node_with_exactly(s_, t, t == c ? from : 0);
          if (node != kNone) {
            out[n++] = {node, gpus};
            return n;
          }
        }
      }
      const int32_t node = map_.first_node_with_exactly(s_, c, from);
      if (node == kNone) {
        --c;
        from = 0;
        continue;
      }
      const int32_t take = c < gpus ? c : gpus;
      out[n++] = {node, take};
      gpus -= take;
      from = node + 1;
    }
    return gpus == 0 ? n : 0;
  }

  const SpecColumns& spec;

 private:
  // Returns whether a node not in out[0, n) has at least `gpus` but fewer than `than` free GPUs.
  YARD_HD bool has_tighter_node(int32_t gpus, int32_t than, const Piece* out, int32_t n) const {
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      if (spec.node_type[m] != type_ || s_.free_count[m] < gpus) continue;
      bool taken = false;
      for (int32_t i = 0; i < n; ++i) taken = taken || out[i].node == m;
      if (!taken && s_.free_count[m] < than) return true;
    }
    return false;
  }

  // Returns a piece with up to `left` tasks of group `g`, or with 0 tasks if no node has room.
  // out[0, group_begin) has the pieces of earlier groups, out[group_begin, n) those of `g`.
  YARD_HD Piece next_piece(int32_t shape, int32_t g, const TaskNeed& need, int32_t left,
                           bool first_fit, const Piece* out, int32_t group_begin, int32_t n) const {
    const ShapeColumns& h = fixed_.jobs.shapes;
    Piece best{kNone, 0, g, 0};
    int64_t best_slack = 0;
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      if (s_.free_count[m] < need.gpus) continue;
      if (type_ != kNone && spec.node_type[m] != type_) continue;
      if (need.gpu_milli > 0 && s_.free_count[m] == 0 && s_.shared_mask[m] == 0) continue;
      bool used = false;
      for (int32_t i = group_begin; i < n; ++i) used = used || out[i].node == m;
      if (used) continue;
      NodeLedger ledger(fixed_, s_, m);
      if (!ledger.suits_task(fixed_, shape, need)) continue;
      for (int32_t i = 0; i < group_begin; ++i) {
        if (out[i].node != m) continue;
        take_tasks(fixed_, s_, ledger, need_of(h, shape, out[i].group), out[i].tasks);
      }
      const int32_t tasks = take_tasks(fixed_, s_, ledger, need, left);
      if (tasks == 0) continue;
      // The tightest node has the fewest whole GPUs left over and, among equals, the least free
      // share of its shared GPUs.
      int64_t slack = int64_t{count_bits(ledger.free)} * kMaxNodeGpus * kWholeGpu;
      for (uint64_t rest = ledger.shared; rest != 0; rest &= rest - 1) {
        ledger.load_free_gpu_share(fixed_, s_, lowest_set_bit_index(rest));
        slack += ledger.milli[lowest_set_bit_index(rest)];
      }
      if (tasks > best.tasks || (tasks == best.tasks && slack < best_slack)) {
        best = {m, tasks * need.gpus, g, tasks};
        best_slack = slack;
      }
      if (first_fit) return best;
    }
    return best;
  }

  FreeNodeIndex map_;
  const SimModel& fixed_;
  const SimState& s_;
  int32_t type_;
};

// Returns the fewest nodes with `gpus` GPUs in an empty cluster. Requires: the cluster has `gpus`.
YARD_HD inline int32_t min_nodes_in_empty_cluster(const SpecColumns& spec, int32_t gpus) {
  int32_t n = 0;
  for (int32_t c = spec.max_node_gpus; gpus > 0; --c) {
    const int32_t full = (gpus + c - 1) / c, have = spec.nodes_of_size[c];
    const int32_t take = full < have ? full : have;
    gpus -= take * c;
    n += take;
  }
  return n;
}

// Writes a placement of `gpus` GPUs to `out`. Requires: `out` has room for spec().num_nodes pieces.
//   first-fit    the first node that holds the job, else free GPUs in node order; succeeds whenever
//                enough GPUs are free
//   best-fit     the tightest node that holds the job, else the fewest nodes; succeeds likewise
//   consolidate  as best-fit, but fails rather than span more nodes than in an empty cluster
//   elastic      as best-fit; a job with a range of tasks starts with fewer rather than wait
YARD_HD inline int32_t place_gpus(const View& view, PlacementRule placement, int32_t gpus,
                                  Piece* out) {
  if (gpus > view.free_gpus()) return 0;
  for (int32_t t = 0; view.spec().one_type && t < view.spec().num_types; ++t) {
    const int32_t n = Placer(view, t).place_on_type(gpus, placement, out);
    if (n > 0) return n;
  }
  if (view.spec().one_type) return 0;
  const Placer placer(view);
  if (placement == PlacementRule::kFirstFit) {
    const int32_t node =
        gpus <= placer.spec.max_node_gpus ? placer.first_node_with_at_least(gpus) : kNone;
    if (node == kNone) return placer.place_scattered(gpus, out);
    out[0] = {node, gpus};
    return 1;
  }
  const int32_t n = placer.place_on_fewest_nodes(gpus, out);
  if (placement == PlacementRule::kConsolidate && n > min_nodes_in_empty_cluster(placer.spec, gpus))
    return 0;
  return n;
}

// Returns whether place_gpus() would find a placement, without writing the placement.
YARD_HD inline bool can_place_gpus(const View& view, PlacementRule placement, int32_t gpus) {
  if (gpus > view.free_gpus()) return false;
  for (int32_t t = 0; view.spec().one_type && t < view.spec().num_types; ++t) {
    if (Placer(view, t).can_place_on_type(gpus, placement)) return true;
  }
  if (view.spec().one_type) return false;
  if (placement != PlacementRule::kConsolidate) return true;
  const Placer placer(view);
  return placer.min_nodes_with_free_gpus(gpus) <= min_nodes_in_empty_cluster(placer.spec, gpus);
}

// Writes a placement of the job to `out`. A job with a shape is placed by tasks, and consolidate
// then equals best-fit, since a task never spans nodes; place_gpus() places any other job.
// Requires: `out` has room for spec().num_nodes pieces per role group.
YARD_HD inline int32_t place(const View& view, PlacementRule placement, int32_t slot, Piece* out) {
  if (!view.within_tenant_limit(slot)) return 0;
  if (!view.shaped(slot)) return place_gpus(view, placement, view.gpus(slot), out);
  if (!view.spec().one_type) return Placer(view).place_shaped_job(slot, placement, out);
  for (int32_t t = 0; t < view.spec().num_types; ++t) {
    const int32_t n = Placer(view, t).place_shaped_job(slot, placement, out);
    if (n > 0) return n;
  }
  return 0;
}

// Returns whether place() would find a placement of the job.
YARD_HD inline bool can_place(const View& view, PlacementRule placement, int32_t slot) {
  if (!view.within_tenant_limit(slot)) return false;
  if (!view.shaped(slot)) return can_place_gpus(view, placement, view.gpus(slot));
  Piece pieces[kMaxShapeTasks];
  return place(view, placement, slot, pieces) > 0;
}

}  // namespace yard
