// Faults of GPUs during a simulation, read from a file or drawn from mean times between failures.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/sim/state/truth.h"

namespace yard {

// Rates of random faults. Times to failure and to repair are exponential and independent for each
// GPU, node, rack, pod and zone. Only spot nodes are reclaimed, or all nodes if the cluster has no
// spot nodes. The nodes of a zone are reclaimed together if its number is above 0.
struct FaultModel {
  double gpu_mtbf_h = 0;  // [h] mean time between failures of one GPU; 0: no GPU fails
  double node_mtbf_h = 0;
  double rack_mtbf_h = 0;
  double pod_mtbf_h = 0;
  double zone_mtbf_h = 0;
  double reclaim_mtbf_h = 0;  // [h] mean time between reclaims of one spot node or zone
  double gpu_repair_h = 4;    // [h] mean time to repair a GPU
  double node_repair_h = 4;
  double rack_repair_h = 1;
  double pod_repair_h = 1;
  double zone_repair_h = 1;
  double reclaim_repair_h = 2;
  double reclaim_notice_s = 120;  // [s] Amazon EC2 gives 120 s of notice, other clouds 30 s
  double until_h = 0;  // [h] faults begin within this time of the first arrival; 0: until jobs end

  void fields(FieldList& f) {
    f("gpu_mtbf_h", gpu_mtbf_h, 0, 1e9, "mean hours between failures of one GPU; 0: none");
    f("node_mtbf_h", node_mtbf_h, 0, 1e9, "mean hours between failures of one node; 0: none");
    f("rack_mtbf_h", rack_mtbf_h, 0, 1e9, "mean hours between failures of one rack; 0: none");
    f("pod_mtbf_h", pod_mtbf_h, 0, 1e9, "mean hours between failures of one pod; 0: none");
    f("zone_mtbf_h", zone_mtbf_h, 0, 1e9,
      "mean hours between failures of one zone with a number above 0; 0: none");
    f("reclaim_mtbf_h", reclaim_mtbf_h, 0, 1e9,
      "mean hours between reclaims of one spot node, or of all spot nodes of a zone; 0: none");
    f("gpu_repair_h", gpu_repair_h, 1e-3, 1e6, "mean hours to repair a GPU");
    f("node_repair_h", node_repair_h, 1e-3, 1e6, "mean hours to repair a node");
    f("rack_repair_h", rack_repair_h, 1e-3, 1e6, "mean hours to repair a rack");
    f("pod_repair_h", pod_repair_h, 1e-3, 1e6, "mean hours to repair a pod");
    f("zone_repair_h", zone_repair_h, 1e-3, 1e6, "mean hours to repair a zone");
    f("reclaim_repair_h", reclaim_repair_h, 1e-3, 1e6, "mean hours until a reclaimed node returns");
    f("reclaim_notice_s", reclaim_notice_s, 0, 1e6,
      "seconds from the notice of a reclaim to the end of the jobs on the reclaimed GPUs, for "
      "recorded and drawn reclaims");
    f("until_h", until_h, 0, 1e6,
      "faults begin within this many hours of the first arrival; 0: until all jobs end");
  }
  bool any() const {
    return gpu_mtbf_h + node_mtbf_h + rack_mtbf_h + pod_mtbf_h + zone_mtbf_h + reclaim_mtbf_h > 0;
  }
  int64_t reclaim_notice_us() const { return std::llround(1e6 * reclaim_notice_s); }
};

// Draws the faults which begin in [from_us, to_us), unsorted. The same `rng` gives the same faults.
std::vector<Fault> draw_faults(const ClusterSpec& spec, const FaultModel& model, int64_t from_us,
                               int64_t to_us, const Rng& rng);

// Sets the notice time of all reclaims.
void set_reclaim_notice(std::vector<Fault>& faults, int64_t notice_us);

// Reads faults from a CSV file with the columns at_s, until_s (empty: no end), kind (fail, reclaim,
// drain), node (name or index), gpus ("all", or indices on the node joined by +). Throws InputError
// with file, line and column.
std::vector<Fault> read_faults(const std::string& path, const ClusterSpec& spec);

}  // namespace yard
