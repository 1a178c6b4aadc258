// Predicts a job's throughput on a placement from speed tables and co-location slowdowns
// (colocation.h). The prediction ignores CPU contention, and includes link contention only if
// schedulers may choose all-reduces.
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
  int32_t gpus;  // GPUs on this node
  bool spread;   // whether the job also holds GPUs on other nodes
};

// Throughput of a job on a placement with no other job on its nodes and links.
struct UncontendedThroughput {
  double speed = 0;              // isolated throughput
  double exchange_share = 0;     // growth of the iteration time if the exchange takes twice as long
  int64_t link_bytes_per_s = 0;  // bytes per second that the job sends over each of its links
};

// Returns the pieces that the job holds.
std::vector<Piece> held_pieces(const View& view, int32_t slot);

class ThroughputModel {
 public:
  // Requires: `view` outlives this object, and update_occupants() is called after every edit of the
  // draft.
  explicit ThroughputModel(const View& view);
  void update_occupants();

  // Returns the jobs which hold GPUs on the node, in order of submission.
  std::span<const NodeOccupant> occupants(int32_t node) const {
    return occupants_[static_cast<size_t>(node)];
  }
  // Returns the nodes with GPUs of `type` that no tenant owns exclusively, in ascending order.
  std::span<const int32_t> nodes_of_type(int32_t type) const {
    return nodes_[static_cast<size_t>(type)];
  }
  int32_t num_types() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t node_type(int32_t node) const { return view_.spec().node_type[node]; }

  // Returns whether the speed tables cover the job: its model was measured, at its demand.
  bool has_speed_in_tables(int32_t slot) const;
  // Returns the index of the job's model, batch size and number of servers; kNone if unknown.
  int32_t model_variant_index(int32_t slot) const;
  // Returns whether throughput depends on the placement of jobs.
  bool depends_on_placement() const { return fixed().rated && view_.speeds().num_classes > 1; }

  // Returns the job's consolidated throughput on a GPU type; 0 if the job cannot use the type.
  double consolidated_throughput(int32_t slot, int32_t type) const;
  // Returns the job's highest consolidated throughput over all GPU types.
  double best_throughput(int32_t slot) const;

  // Returns the job's throughput on `pieces` with `exchange`, slowed down by the other jobs on the
  // nodes except those in `without`. The slowest GPU type sets the pace. Pieces without GPUs have
  // no effect on throughput. Returns 0 if no piece has a GPU.
  double throughput(int32_t slot, std::span<const Piece> pieces, std::span<const int32_t> without,
                    const AllReduceSettings& exchange = {}) const;
  // Returns the isolated throughput on `pieces` with all-reduce `by`. Requires: !shaped(slot).
  UncontendedThroughput isolated_throughput(int32_t slot, std::span<const Piece> pieces,
                                            Pattern by) const;
  // Returns the job's consolidated throughput on a GPU type with `tasks` tasks by role group; 0 if
  // the job may not use the type. Requires: shaped(slot).
  double throughput_at_size(int32_t slot, int32_t type, std::span<const int32_t> tasks) const;
  // Returns the job's throughput on its present placement and exchange; 1 if the job holds no GPU.
  double current_throughput(int32_t slot) const;

  // Returns the interference cost, in GPUs, of placing the job on `pieces`: the sum over other jobs
  // on the same nodes and links, except `without`, of GPUs times lost share of throughput.
  double interference_cost(int32_t slot, std::span<const Piece> pieces,
                           std::span<const int32_t> without,
                           const AllReduceSettings& exchange = {}) const;

 private:
  // Topology of a placement of a job whose model was measured.
  struct PlacementTopology {
    int32_t nodes = 0;
    Tier tier = Tier::kIsland;  // widest tier spanned
    double rate = 0;            // isolated throughput
    int32_t slowest = kNone;    // the node that sets the pace
  };

  const SimModel& fixed() const { return *view_.fixed_; }
  int32_t job_class(int32_t slot) const {
    return view_.job_column_entry(fixed().jobs.speed_class, slot, 0);
  }
  bool has_measured_model(int32_t slot) const;        // whether the job's model was measured
  int32_t num_requested_servers(int32_t slot) const;  // number of tasks without GPUs in the request
  // Returns those `pieces` of a job with a shape that have GPUs, merged to one piece per node.
  std::vector<Piece> gpu_pieces(int32_t slot, std::span<const Piece> pieces) const;
  // Returns the job's consolidated throughput on nodes of the same GPU type as `node`.
  double consolidated_throughput_on_type_of(int32_t slot, int32_t node, int32_t gpus,
                                            int32_t servers, Pattern by = Pattern::kNone) const;
  PlacementTopology placement_topology(int32_t slot, std::span<const Piece> pieces,
                                       Pattern by) const;
  // link_traffic() returns the job's load on links; link_loads_of_other_jobs() the loads of all
  // other jobs.
  JobLinkTraffic link_traffic(int32_t slot, std::span<const Piece> pieces,
                              const PlacementTopology& placement_topology,
                              const AllReduceSettings& exchange) const;
  LinkLoads link_loads_of_other_jobs(int32_t slot, std::span<const int32_t> without) const;
  double link_interference_cost_to_others(int32_t slot, std::span<const Piece> pieces,
                                          std::span<const int32_t> without,
                                          const AllReduceSettings& exchange) const;
  int32_t slowest_type(int32_t slot, const PlacementFootprint& at) const;

  const View& view_;
  std::vector<std::vector<int32_t>> nodes_;           // (types)
  std::vector<std::vector<NodeOccupant>> occupants_;  // (M)
};

}  // namespace yard
