// Co-location slowdowns between jobs which share a node but no GPU, for clusters whose file sets
// `slowdowns`. Their formulas are assumptions, not measurements (docs/design/speed.md). Terms are
// added as integers, so that sums do not depend on the order of `holder_slots`.
#pragma once

#include "env/sim/speed/speed.h"
#include "env/sim/state/exchange.h"
#include "env/sim/state/free_map.h"
#include "env/sim/state/state.h"

namespace yard {

// Returns the factor on the isolated throughput of a job which spans more nodes than it needs. Its
// exchange shares network links with all other jobs that span several nodes: if its worst node has
// k = `spread_jobs` jobs that span several nodes, itself included, its exchange takes k times as
// long:
//   time = T (1 + (1 / u - 1) k)     T: time consolidated, T / u: time spread and isolated
YARD_HD inline double spread_factor(double consolidated_rate, double spread_rate,
                                    int32_t spread_jobs) {
  if (!(spread_rate > 0) || spread_rate >= consolidated_rate) return 1;
  const double longer = consolidated_rate / spread_rate;
  return longer / (1 + (longer - 1) * spread_jobs);
}

// Returns one co-located job's term of the sum in time = T (1 + w sum (its GPUs / node's GPUs) (1 /
// p - 1)), in billionths. Here w is `weight`, and p is `pair_rate`, the throughput left when the
// two jobs share one GPU. Returns 0 for pairs which were not measured or did not fit on one GPU.
YARD_HD inline int64_t added_time_ppb(double weight, int32_t gpus, int32_t node_gpus,
                                      double pair_rate) {
  if (!(pair_rate > 0) || pair_rate >= 1) return 0;
  return static_cast<int64_t>(1e9 * weight * gpus / node_gpus * (1 / pair_rate - 1));
}

// Returns the factor on a job's throughput, given the sum of the added_time_ppb() of other jobs.
YARD_HD inline double interference_factor(int64_t added_time_ppb) {
  return 1 / (1 + static_cast<double>(added_time_ppb) * 1e-9);
}

// Returns the number of GPUs which a running job has on a node. Each share of a GPU counts as one.
YARD_HD inline int32_t gpus_on_node(const SimState& s, int32_t slot, int32_t node) {
  int32_t n = 0;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_node[p] == node) n += count_bits(s.part_mask[p]);
  }
  return n;
}

// Returns the number of other running jobs which have GPUs on `node` and on further nodes.
YARD_HD inline int32_t spread_jobs_on_node(const SimState& s, int32_t slot, int32_t node) {
  int32_t n = 0;
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t other = s.holder_slots[i];
    if (other == slot || s.phase[other] != Phase::kRunning || s.nodes_with_gpus[other] < 2)
      continue;
    n += gpus_on_node(s, other, node) > 0;
  }
  return n;
}

// Returns the sum of added_time_ppb() over the other running jobs on `node`, for the job in
// `slot` of the class `job_class`.
YARD_HD inline int64_t added_time_ppb_on_node(const SimModel& f, const SimState& s, int32_t slot,
                                              int32_t job_class, int32_t node) {
  int64_t sum = 0;
  const int32_t type = f.spec.node_type[node];
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t other = s.holder_slots[i];
    if (other == slot || s.phase[other] != Phase::kRunning) continue;
    const int32_t gpus = gpus_on_node(s, other, node);
    if (gpus == 0) continue;
    const int32_t its = f.jobs.speed_class[s.job[other]];
    if (f.speed.class_kind[job_class] < 0 || f.speed.class_kind[its] < 0) continue;
    sum += added_time_ppb(f.spec.neighbour_weight, gpus, f.spec.node_gpus[node],
                          pair_rate(f.speed, job_class, its, type));
  }
  return sum;
}

// Returns the narrowest tier which `gpus` GPUs of one node can span.
YARD_HD inline Tier tier_on_node(const SpecColumns& spec, int32_t node, int32_t gpus) {
  return gpus <= spec.node_island_gpus[node] ? Tier::kIsland : Tier::kNode;
}

// Returns the factor on a running job's throughput by spread_factor() and interference_factor().
// Requires: SimModel::rated, a modelled job class, and 1 <= gpus <= max_gpus.
YARD_HD inline double neighbour_throughput_factor(const SimModel& f, const SimState& s,
                                                  int32_t slot, int32_t slowest_type,
                                                  int32_t gpus) {
  const int32_t job_class = f.jobs.speed_class[s.job[slot]];
  const int32_t needed = (gpus + f.spec.max_node_gpus - 1) / f.spec.max_node_gpus;
  const bool spread = f.spec.shared_exchange && s.nodes_with_gpus[slot] > needed;
  int32_t most = 1, reference_node = 0;
  int64_t worst = 0;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_mask[p] == 0) continue;
    const int32_t node = s.part_node[p];
    if (f.spec.node_type[node] == slowest_type) reference_node = node;
    if (spread) {
      const int32_t k = 1 + spread_jobs_on_node(s, slot, node);
      if (k > most) most = k;
    }
    if (f.spec.neighbour_weight > 0) {
      const int64_t sum = added_time_ppb_on_node(f, s, slot, job_class, node);
      if (sum > worst) worst = sum;
    }
  }
  double left = interference_factor(worst);
  if (spread) {
    // A consolidated job is on the fewest nodes of the slowest type, in one rack.
    const Tier tier = needed > 1 ? Tier::kRack : tier_on_node(f.spec, reference_node, gpus);
    const double consolidated =
        speed_of(f.speed, job_class, f.spec.node_type[reference_node], gpus, tier, needed, 0,
                 all_reduce_settings_of(f, s, slot).all_reduce);
    left *= spread_factor(consolidated, s.isolated_rate[slot], most);
  }
  return left;
}

}  // namespace yard
