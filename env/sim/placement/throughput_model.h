// Predicts a job's throughput on a placement from speed tables and co-location slowdowns
// (colocation.h), without CPU contention. With link contention if schedulers may choose
// all-reduces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/rules/colocation.h"
#include "env/sim/rules/link_loads.h"
#include "env/sim/rules/rates.h"
#include "env/sim/view/view.h"

namespace yard {

// A job which holds GPUs on a node.
struct NodeOccupant {
  int32_t slot;
  int32_t gpus;  // on this node
  bool spread;   // whether it holds GPUs on other nodes, too
};

// A job on a placement with no other job on its nodes and links.
struct IsolatedThroughput {
  double speed = 0;              // isolated throughput
  double exchange_share = 0;     // growth of an iteration if its exchange takes twice as long
  int64_t link_bytes_per_s = 0;  // sent over each link that the job spans
};

// Returns the pieces that the job holds.
std::vector<Piece> held_pieces(const View& view, int32_t slot);

class ThroughputModel {
 public:
  // Requires: `view` outlives this, and refresh() is called after every edit of the draft.
  explicit ThroughputModel(const View& view);
  void refresh();

  // Returns the jobs which hold GPUs on the node, in order of submission.
  std::span<const NodeOccupant> occupants(int32_t node) const {
    return occupants_[static_cast<size_t>(node)];
  }
  // Returns the nodes with GPUs of a type which no tenant owns exclusively, in ascending order.
  std::span<const int32_t> nodes_of(int32_t type) const {
    return nodes_[static_cast<size_t>(type)];
  }
  int32_t num_types() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t node_type(int32_t node) const { return view_.spec().node_type[node]; }

  // Returns whether the job's model was measured and its demand is within the speed tables.
  bool modelled(int32_t slot) const;
  // Returns a number for the model, batch size and number of servers; kNone if unknown.
  int32_t model(int32_t slot) const;
  // Returns whether throughput depends on the placement of jobs.
  bool depends_on_placement() const { return fixed().rated && view_.speeds().num_classes > 1; }

  // Returns the job's consolidated throughput on a GPU type; 0 if it may not or cannot run there.
  double consolidated_throughput(int32_t slot, int32_t type) const;
  // Returns the highest consolidated throughput over all types.
  double best_throughput(int32_t slot) const;

  // Returns the job's throughput on `pieces` with `exchange`, slowed down by other jobs on the
  // nodes, except `without`. The slowest GPU type sets the pace. Pieces without GPUs
  // have no effect. Returns 0 if no piece has a GPU.
  double throughput(int32_t slot, std::span<const Piece> pieces, std::span<const int32_t> without,
                    const AllReduceSettings& exchange = {}) const;
  // Returns the isolated values on `pieces` with that all-reduce. Requires: a plain job.
  IsolatedThroughput isolated_throughput(int32_t slot, std::span<const Piece> pieces,
                                         Pattern by) const;
  // Returns the consolidated throughput on a type with `tasks` (groups); 0 if the job may not use
  // the type. Requires: shaped(slot).
  double throughput_at_size(int32_t slot, int32_t type, std::span<const int32_t> tasks) const;
  // Returns the throughput on the present placement and exchange; 1 if the job holds no GPU.
  double current_throughput(int32_t slot) const;

  // Returns the interference cost, in GPUs, of placing the job on `pieces`: for the other jobs on
  // those nodes and links, GPUs times the share of throughput lost. Ignores `without`.
  double interference_cost(int32_t slot, std::span<const Piece> pieces,
                           std::span<const int32_t> without,
                           const AllReduceSettings& exchange = {}) const;

 private:
  // Topology of a placement, for a job with a measured model.
  struct PlacementTopology {
    int32_t nodes = 0;
    Tier tier = Tier::kIsland;  // widest tier spanned
    double rate = 0;            // isolated throughput
    int32_t slowest = kNone;    // the node that sets the pace
  };

  const SimModel& fixed() const { return *view_.fixed_; }
  int32_t job_class(int32_t slot) const { return view_.entry(fixed().jobs.speed_class, slot, 0); }
  bool has_measured_model(int32_t slot) const;  // whether its model was measured
  int32_t servers(int32_t slot) const;          // number of tasks without GPUs in its request
  // Returns the pieces with GPUs of a job with a shape, merged to one per node.
  std::vector<Piece> gpu_pieces(int32_t slot, std::span<const Piece> pieces) const;
  // Returns the consolidated throughput on nodes of the same type as `node`.
  double consolidated_throughput_on(int32_t slot, int32_t node, int32_t gpus, int32_t servers,
                                    Pattern by = Pattern::kNone) const;
  PlacementTopology placement_topology(int32_t slot, std::span<const Piece> pieces,
                                       Pattern by) const;
  // Return the load which the job would put on links, and all loads without it and `without`.
  LinkTraffic link_traffic(int32_t slot, std::span<const Piece> pieces,
                           const PlacementTopology& placement_topology,
                           const AllReduceSettings& exchange) const;
  LinkLoads loads_without(int32_t slot, std::span<const int32_t> without) const;
  double link_interference_cost(int32_t slot, std::span<const Piece> pieces,
                                std::span<const int32_t> without,
                                const AllReduceSettings& exchange) const;
  int32_t slowest_type(int32_t slot, const Footprint& at) const;

  const View& view_;
  std::vector<std::vector<int32_t>> nodes_;           // (types)
  std::vector<std::vector<NodeOccupant>> occupants_;  // (M)
};

}  // namespace yard
