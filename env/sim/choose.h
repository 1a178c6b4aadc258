// Where a job's GPUs come from: placements as free functions that policies compose and tasks use.
// Each writes the pieces and returns how many there are, 0 where it finds no place it accepts.
#pragma once

#include "env/sim/free_map.h"
#include "env/sim/view.h"

namespace yard {

enum class Placement : uint8_t { kFirstFit, kBestFit, kConsolidate };
constexpr const char* kPlacementNames[] = {"first-fit", "best-fit", "consolidate"};

// Reads the free-count bitmaps behind a view; hands out nothing else of the state.
class Placer {
 public:
  YARD_HD explicit Placer(const View& view)
      : spec(view.fixed_->spec), map_(view.fixed_->spec), s_(*view.state_) {}

  // The lowest node with at least `gpus` free; never spreads what one node can hold.
  YARD_HD int32_t first_at_least(int32_t gpus) const {
    return map_.first_of(s_, gpus, spec.max_node_gpus);
  }

  // The node with the fewest free GPUs that suffice, the lowest among equals.
  YARD_HD int32_t tightest(int32_t gpus) const {
    for (int32_t c = gpus; c <= spec.max_node_gpus; ++c) {
      const int32_t node = map_.first(s_, c);
      if (node != kNone) return node;
    }
    return kNone;
  }

  // On how few nodes could `gpus` go now? Requires: that many are free.
  YARD_HD int32_t nodes_needed(int32_t gpus) const {
    int32_t n = 0;
    for (int32_t c = spec.max_node_gpus; c > 0 && gpus > 0; --c) {
      for (int32_t m = map_.first(s_, c); m != kNone && gpus > 0; m = map_.first(s_, c, m + 1)) {
        gpus -= c;
        ++n;
      }
    }
    return n;
  }

  // Free GPUs in node order, split as need be.
  YARD_HD int32_t scatter(int32_t gpus, Piece* out) const {
    int32_t n = 0;
    for (int32_t node = 0; gpus > 0 && node < spec.num_nodes; ++node) {
      const int32_t take = s_.free_count[node] < gpus ? s_.free_count[node] : gpus;
      if (take == 0) continue;
      out[n++] = {node, take};
      gpus -= take;
    }
    return n;
  }

  // Emptiest nodes first (the fewest nodes), the last piece on the tightest node that still fits.
  YARD_HD int32_t fewest_nodes(int32_t gpus, Piece* out) const {
    int32_t n = 0;
    int32_t from = 0;
    for (int32_t c = spec.max_node_gpus; c > 0 && gpus > 0;) {
      if (c > gpus) {
        // One more node suffices: the tightest that was not taken yet (all of those have <= c
        // free).
        for (int32_t t = gpus; t <= c; ++t) {
          const int32_t node = map_.first(s_, t, t == c ? from : 0);
          if (node != kNone) {
            out[n++] = {node, gpus};
            return n;
          }
        }
      }
      const int32_t node = map_.first(s_, c, from);
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
  FreeMap map_;
  const ClusterState& s_;
};

// The least number of nodes that hold `gpus` while the cluster is empty. Requires: it has that
// many.
YARD_HD inline int32_t least_nodes(const SpecColumns& spec, int32_t gpus) {
  int32_t n = 0;
  for (int32_t c = spec.max_node_gpus; c > 0 && gpus > 0; --c) {
    const int32_t full = (gpus + c - 1) / c;
    const int32_t take = full < spec.nodes_of_size[c] ? full : spec.nodes_of_size[c];
    gpus -= take * c;
    n += take;
  }
  return n;
}

// Writes where a job of `gpus` GPUs would go. Requires: room for spec().num_nodes pieces in `out`.
//   first-fit    the first node that holds it whole, else free GPUs in node order: never blocked
//                while enough GPUs are free anywhere
//   best-fit     the tightest node that holds it whole, else the fewest nodes: never blocked either
//   consolidate  as best-fit, but waits rather than span more nodes than an empty cluster would
//   need
YARD_HD inline int32_t place(const View& view, Placement placement, int32_t gpus, Piece* out) {
  if (gpus > view.free_gpus()) return 0;
  const Placer placer(view);
  if (gpus <= placer.spec.max_node_gpus) {
    const int32_t node =
        placement == Placement::kFirstFit ? placer.first_at_least(gpus) : placer.tightest(gpus);
    if (node != kNone) {
      out[0] = {node, gpus};
      return 1;
    }
  }
  if (placement == Placement::kFirstFit) return placer.scatter(gpus, out);
  const int32_t n = placer.fewest_nodes(gpus, out);
  if (placement == Placement::kConsolidate && n > least_nodes(placer.spec, gpus)) return 0;
  return n;
}

// Would place() find a place? Without writing it.
YARD_HD inline bool can_place(const View& view, Placement placement, int32_t gpus) {
  if (gpus > view.free_gpus()) return false;
  if (placement != Placement::kConsolidate) return true;
  const Placer placer(view);
  return placer.nodes_needed(gpus) <= least_nodes(placer.spec, gpus);
}

}  // namespace yard
