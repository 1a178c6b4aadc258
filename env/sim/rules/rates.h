// Computes the rate of a running job: its isolated rate times slowdowns by jobs on the same nodes
// and links. The start or end of a job marks jobs with shared nodes or links as stale.
// refresh_rates() updates stale jobs before time passes. If SimModel::rated is false, the slowest
// GPU sets the rate.
#pragma once

#include "env/sim/rules/colocation.h"
#include "env/sim/rules/shape.h"
#include "env/sim/speed/contention.h"
#include "env/sim/speed/speed.h"
#include "env/sim/state/exchange.h"
#include "env/sim/state/free_map.h"
#include "env/sim/state/state.h"

namespace yard {

// Properties of a job's placement that affect its speed.
struct PlacementFootprint {
  int32_t gpus = 0;  // each share of a GPU counts as one
  int32_t nodes = 0;
  Tier tier = Tier::kIsland;
  int32_t servers = 0;          // number of tasks without GPUs
  Pattern by = Pattern::kNone;  // the all-reduce that the scheduler chose, if any
};

// Returns whether an earlier part of the job has GPUs on the same node as `part`.
YARD_HD inline bool earlier_part_on_same_node(const SimState& s, int32_t slot, int32_t part) {
  for (int32_t p = s.first_part[slot]; p != part; p = s.part_next[p]) {
    if (s.part_node[p] == s.part_node[part] && s.part_mask[p] != 0) return true;
  }
  return false;
}

YARD_HD inline PlacementFootprint footprint_of(const SimModel& f, const SimState& s, int32_t slot) {
  PlacementFootprint at;
  at.by = all_reduce_settings_of(f, s, slot).all_reduce;
  int32_t first_node = kNone;
  uint64_t mask = 0;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_mask[p] == 0) {
      at.servers += s.part_tasks[p];
      continue;
    }
    const int32_t node = s.part_node[p];
    at.gpus += count_bits(s.part_mask[p]);
    if (first_node == kNone) first_node = node;
    if (node == first_node) mask |= s.part_mask[p];
    if (earlier_part_on_same_node(s, slot, p)) continue;
    ++at.nodes;
    if (node == first_node) continue;
    Tier tier = Tier::kRack;
    if (f.spec.node_rack[node] != f.spec.node_rack[first_node]) tier = Tier::kPod;
    if (f.spec.node_pod[node] != f.spec.node_pod[first_node]) tier = Tier::kCore;
    if (tier > at.tier) at.tier = tier;
  }
  if (at.nodes == 1) {
    const int32_t size = f.spec.node_island_gpus[first_node];
    const int32_t island = lowest_set_bit_index(mask) / size * size;
    const uint64_t inside = mask_of_low_bits(size) << island;
    at.tier = (mask & ~inside) == 0 ? Tier::kIsland : Tier::kNode;
  }
  return at;
}

// A job's rate with no other job on its nodes and links, and its slowest GPU type.
struct IsolatedRate {
  double rate = 1;
  int32_t slowest_type = 0;
};

YARD_HD inline IsolatedRate find_isolated_rate(const SimModel& f, const SimState& s, int32_t slot,
                                               const PlacementFootprint& at) {
  IsolatedRate out;
  bool any = false;
  const int32_t job_class = f.jobs.speed_class == nullptr ? 0 : f.jobs.speed_class[s.job[slot]];
  const bool modelled = f.speed.num_classes > 0 && f.speed.class_kind[job_class] >= 0;
  const int32_t gpus = at.gpus < f.speed.max_gpus ? at.gpus : f.speed.max_gpus;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_mask[p] == 0) continue;
    const int32_t node = s.part_node[p], type = f.spec.node_type[node];
    const double speed =
        modelled ? speed_of(f.speed, job_class, type, gpus, at.tier, at.nodes, at.servers, at.by)
                 : f.speed_on(s.job[slot], node);
    const bool slower = speed < out.rate || (speed == out.rate && type < out.slowest_type);
    if (!any || slower) out = {speed, type};
    any = true;
  }
  // The rate of a job without a measured model is proportional to its number of workers.
  if (!modelled && s.shape[slot] != kNone)
    out.rate *= held_fraction_of_first_task_group(f.jobs.shapes, s, slot);
  // The rate is 0 if the job's neural network does not fit on the GPUs. Schedulers should not start
  // a job on GPUs on which its network does not fit; a job started there runs slowly but ends.
  if (!(out.rate > kMinRate)) out.rate = kMinRate;
  return out;
}

YARD_HD inline void mark_rate_stale(SimState& s, int32_t slot) {
  if (s.is_stale[slot]) return;
  s.is_stale[slot] = 1;
  s.stale[s.head->num_stale++] = slot;
}

// Adds the job's traffic to the links that it spans (`sign` 1), or removes the traffic (-1).
YARD_HD inline void add_job_traffic_to_links(const SimModel& f, SimState& s, int32_t slot,
                                             int64_t sign) {
  const int64_t bytes = sign * s.traffic[slot];
  const SpecColumns& spec = f.spec;
  const Tier tier = static_cast<Tier>(s.tier[slot]);
  int64_t* own = any_job_may_choose_all_reduce(f)
                     ? s.priority_load + s.link_priority[slot] * num_links(spec)
                     : nullptr;
  const auto load = [&](int32_t link) {
    s.link_load[link] += bytes;
    if (own != nullptr) own[link] += bytes;
  };
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_mask[p] == 0 || earlier_part_on_same_node(s, slot, p)) continue;
    const int32_t node = s.part_node[p];
    load(node);
    bool rack_before = false, pod_before = false;
    for (int32_t q = s.first_part[slot]; q != p; q = s.part_next[q]) {
      if (s.part_mask[q] == 0) continue;
      rack_before = rack_before || spec.node_rack[s.part_node[q]] == spec.node_rack[node];
      pod_before = pod_before || spec.node_pod[s.part_node[q]] == spec.node_pod[node];
    }
    if (tier >= Tier::kPod && !rack_before) load(spec.num_nodes + spec.node_rack[node]);
    if (tier >= Tier::kCore && !pod_before) {
      load(spec.num_nodes + spec.num_racks + spec.node_pod[node]);
    }
  }
}

// Marks other running jobs as stale: if the job sends traffic over links, all jobs that do; and if
// jobs on one node slow each other down, all jobs that share a node with the job.
YARD_HD inline void mark_neighbours_stale(const SimModel& f, SimState& s, int32_t slot) {
  const bool sends = s.traffic[slot] > 0;
  const bool shares = f.jobs.shapes.max_loose_tasks > 0 || f.spec.overloads ||
                      f.spec.neighbour_weight > 0 || f.spec.shared_exchange;
  if (!sends && !shares) return;
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t other = s.holder_slots[i];
    if (other == slot || s.phase[other] != Phase::kRunning) continue;
    if (sends && s.traffic[other] > 0) {
      mark_rate_stale(s, other);
      continue;
    }
    bool meets = false;
    for (int32_t p = s.first_part[slot]; shares && !meets && p != kNone; p = s.part_next[p]) {
      for (int32_t q = s.first_part[other]; !meets && q != kNone; q = s.part_next[q]) {
        meets = s.part_node[p] == s.part_node[q];
      }
    }
    if (meets) mark_rate_stale(s, other);
  }
}

// Requires: the job holds its GPUs, and its phase has just become kRunning.
YARD_HD inline void begin_contention(const SimModel& f, SimState& s, int32_t slot) {
  if (!f.rated) return;
  const PlacementFootprint at = footprint_of(f, s, slot);
  const IsolatedRate alone = find_isolated_rate(f, s, slot, at);
  s.isolated_rate[slot] = alone.rate;
  s.tier[slot] = static_cast<uint8_t>(at.tier);
  if (f.speed.num_classes > 0 && at.gpus <= f.speed.max_gpus) {
    s.traffic[slot] = link_bytes_per_s(f.speed, f.jobs.speed_class[s.job[slot]], alone.slowest_type,
                                       at.gpus, at.tier, at.nodes, at.servers, at.by);
  }
  s.nodes_with_gpus[slot] = at.nodes;
  if (s.traffic[slot] > 0) add_job_traffic_to_links(f, s, slot, 1);
  mark_rate_stale(s, slot);
  mark_neighbours_stale(f, s, slot);
}

// Requires: the job ran and still holds its GPUs.
YARD_HD inline void end_contention(const SimModel& f, SimState& s, int32_t slot) {
  if (!f.rated) return;
  mark_neighbours_stale(f, s, slot);
  if (s.traffic[slot] > 0) add_job_traffic_to_links(f, s, slot, -1);
  s.traffic[slot] = 0;
}

// Returns the number of parts of the job `other` that share the GPU of the part `part`.
YARD_HD inline int32_t num_parts_sharing_gpu(const SimState& s, int32_t other, int32_t part) {
  int32_t n = 0;
  for (int32_t q = s.first_part[other]; q != kNone; q = s.part_next[q]) {
    n += s.part_node[q] == s.part_node[part] && (s.part_mask[q] & s.part_mask[part]) != 0;
  }
  return n;
}

// Returns the factor by which other jobs on its GPU slow the part down. Factors are multiplied in
// order of submission, since the order of holder_slots depends on history.
YARD_HD inline double gpu_sharing_factor(const SimModel& f, const SimState& s, int32_t slot,
                                         int32_t part) {
  double left = 1;
  for (int32_t last = kNone;;) {
    int32_t next = kNone;
    for (int32_t i = 0; i < s.head->held; ++i) {
      const int32_t other = s.holder_slots[i];
      if (other == slot || s.phase[other] != Phase::kRunning || s.job[other] <= last) continue;
      if (next != kNone && s.job[other] > s.job[next]) continue;
      if (num_parts_sharing_gpu(s, other, part) > 0) next = other;
    }
    if (next == kNone) return left;
    last = s.job[next];
    const double rate =
        pair_rate(f.speed, f.jobs.speed_class[s.job[slot]], f.jobs.speed_class[s.job[next]],
                  f.spec.node_type[s.part_node[part]]);
    for (int32_t n = num_parts_sharing_gpu(s, next, part); n > 0; --n) left *= rate;
  }
}

// Returns the rate of a running job, slowed down by the jobs that run on its nodes and links.
YARD_HD inline double contended_rate(const SimModel& f, const SimState& s, int32_t slot) {
  double rate = s.isolated_rate[slot];
  if (s.traffic[slot] > 0) {
    const SpecColumns& spec = f.spec;
    const int32_t rack0 = spec.num_nodes, pod0 = rack0 + spec.num_racks;
    const Tier tier = static_cast<Tier>(s.tier[slot]);
    double worst = 1;
    const auto meet = [&](int32_t link, int64_t capacity) {
      const double c = exchange_slowdown_of(f, s, slot, link, capacity);
      if (c > worst) worst = c;
    };
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      if (s.part_mask[p] == 0) continue;
      const int32_t node = s.part_node[p], rack = spec.node_rack[node], pod = spec.node_pod[node];
      meet(node, spec.node_up_bytes[node]);
      if (tier >= Tier::kPod) meet(rack0 + rack, spec.rack_up_bytes[rack]);
      if (tier >= Tier::kCore) meet(pod0 + pod, spec.pod_up_bytes[pod]);
    }
    if (worst > 1) {
      const PlacementFootprint at = footprint_of(f, s, slot);
      const int32_t type = find_isolated_rate(f, s, slot, at).slowest_type;
      const double share = exchange_share(f.speed, f.jobs.speed_class[s.job[slot]], type, at.gpus,
                                          at.tier, at.nodes, at.servers, at.by);
      rate *= contention_throughput_factor(share, worst);
    }
  }
  if (f.jobs.shapes.max_loose_tasks > 0 && f.speed.num_classes > 0) {
    double least = 1;  // a gang runs at the pace of its slowest member
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      if ((s.shared_mask[s.part_node[p]] & s.part_mask[p]) == 0) continue;
      const double left = gpu_sharing_factor(f, s, slot, p);
      if (left < least) least = left;
    }
    rate *= least;
  }
  if ((f.spec.neighbour_weight > 0 || f.spec.shared_exchange) && f.speed.num_classes > 0 &&
      f.speed.class_kind[f.jobs.speed_class[s.job[slot]]] >= 0) {
    const PlacementFootprint at = footprint_of(f, s, slot);
    if (at.gpus > 0 && at.gpus <= f.speed.max_gpus) {
      rate *= neighbour_throughput_factor(f, s, slot,
                                          find_isolated_rate(f, s, slot, at).slowest_type, at.gpus);
    }
  }
  if (f.spec.overloads && f.jobs.shapes.num_shapes > 0) {  // without shapes no job requests CPUs
    double least = 1;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      const int32_t node = s.part_node[p];
      const int64_t demand = f.spec.node_cpu_milli[node] - s.free_cpu_milli[node];
      const double left = overload_throughput_factor(demand, f.spec.node_cores_milli[node]);
      if (left < least) least = left;
    }
    rate *= least;
  }
  return rate > kMinRate ? rate : kMinRate;
}

}  // namespace yard
