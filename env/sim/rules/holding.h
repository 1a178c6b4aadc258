// Tracks resources that jobs hold on nodes, and resources that stopping jobs still use. A preempted
// job releases its resources at once, but uses them while it saves, and the next holder waits.
// Resources used by stopping jobs count until the last stopping job has left the GPU or node.
#pragma once

#include "env/sim/rules/shape.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/free_map.h"
#include "env/sim/state/queue.h"
#include "env/sim/state/state.h"

namespace yard {

// Returns whether the job's demand fits within its tenant's limit.
YARD_HD inline bool within_tenant_limit(const SimModel& f, const SimState& s, int32_t slot) {
  const int32_t t = s.tenant[slot];
  return t == kNone || s.tenant_gpus[t] + s.gpus[slot] <= f.spec.tenant_limit[t];
}

// Sets the node's free GPUs to `mask`, and updates the index of free GPUs and the counters.
YARD_HD inline void set_free_gpus(const SimModel& f, SimState& s, int32_t node, uint64_t mask) {
  const FreeNodeIndex map(f.spec);
  const int32_t before = s.free_count[node];
  const int32_t after = count_bits(mask);
  s.free_mask[node] = mask;
  if (before == after) return;
  map.clear(s, before, node);
  map.set(s, after, node);
  s.free_count[node] = after;
  s.head->free_gpus += after - before;
}

// Marks released GPUs as free, or as idle and down if they are down.
YARD_HD inline void return_gpus(const SimModel& f, SimState& s, int32_t node, uint64_t mask) {
  if (f.faults) {
    const uint64_t down = mask & s.down_mask[node];
    s.idle_down_mask[node] |= down;
    s.head->down_gpus += count_bits(down);
    mask &= ~down;
  }
  set_free_gpus(f, s, node, s.free_mask[node] | mask);
}

// Returns the `count` GPUs of a node's `mask` that are vacated soonest, the lowest among equals.
// Requires: `mask` has at least `count` bits.
YARD_HD inline uint64_t soonest_ready_gpus(const SimModel& f, const SimState& s, int32_t node,
                                           uint64_t mask, int32_t count) {
  const int64_t now_us = s.head->now_us;
  if (s.head->ready_horizon_us <= now_us) return lowest_bits(mask, count);
  const int64_t* ready_us = s.gpu_ready_us + f.spec.node_gpu0[node];
  uint64_t taken = 0;
  for (int32_t i = 0; i < count; ++i) {
    uint64_t best = 0;
    int64_t best_us = kNever;
    for (uint64_t rest = mask & ~taken; rest != 0 && best_us > now_us; rest &= rest - 1) {
      const int64_t at_us = ready_us[lowest_set_bit_index(rest)];
      if (at_us >= best_us) continue;
      best = rest & ~(rest - 1);
      best_us = at_us;
    }
    taken |= best;
  }
  return taken;
}

// Takes the GPUs `mask` of a node, or a share of one GPU, and the CPUs and memory of `tasks` tasks.
// Returns the new part record, chained before `next`. Requires: these resources are free.
YARD_HD inline int32_t hold_part(const SimModel& f, SimState& s, int32_t slot, int32_t node,
                                 uint64_t mask, int32_t group, int32_t tasks, int32_t next) {
  if (s.shape[slot] == kNone) {
    set_free_gpus(f, s, node, s.free_mask[node] & ~mask);
    return allocate_part(s, node, mask, next);
  }
  const TaskNeed need = need_of(f.jobs.shapes, s.shape[slot], group);
  if (need.gpu_milli > 0) {
    const int32_t gpu = f.spec.node_gpu0[node] + lowest_set_bit_index(mask);
    if ((s.shared_mask[node] & mask) == 0) {
      set_free_gpus(f, s, node, s.free_mask[node] & ~mask);
      s.shared_mask[node] |= mask;
    }
    s.share_milli[gpu] -= gpu_milli_on_node(f, node, need);
    s.share_mem_mib[gpu] -= need.gpu_mem_mib;
  } else if (mask != 0) {
    set_free_gpus(f, s, node, s.free_mask[node] & ~mask);
  }
  s.free_cpu_milli[node] -= tasks * need.cpu_milli;
  s.free_mem_mib[node] -= tasks * need.mem_mib;
  return allocate_part(s, node, mask, next, group, tasks);
}

// Frees the resources which hold_part() took, but not the part record.
YARD_HD inline void free_part_resources(const SimModel& f, SimState& s, int32_t slot,
                                        int32_t part) {
  const int32_t node = s.part_node[part];
  const uint64_t mask = s.part_mask[part];
  if (s.shape[slot] == kNone) {
    return_gpus(f, s, node, mask);
    return;
  }
  const TaskNeed need = need_of(f.jobs.shapes, s.shape[slot], s.part_role_group[part]);
  if (need.gpu_milli > 0) {
    const int32_t gpu = f.spec.node_gpu0[node] + lowest_set_bit_index(mask);
    s.share_milli[gpu] += gpu_milli_on_node(f, node, need);
    s.share_mem_mib[gpu] += need.gpu_mem_mib;
    if (s.share_milli[gpu] == kWholeGpu) {  // no share of the GPU is held now
      s.shared_mask[node] &= ~mask;
      return_gpus(f, s, node, mask);
    }
  } else if (mask != 0) {
    return_gpus(f, s, node, mask);
  }
  s.free_cpu_milli[node] += s.part_tasks[part] * need.cpu_milli;
  s.free_mem_mib[node] += s.part_tasks[part] * need.mem_mib;
}

// --- vacating ----------------------------------------------------------------------------------

// Returns when the resources of a part will be vacated: now, if stopping jobs leave enough room.
// Resources that other starting jobs wait for count as taken. Requires: the resources are free.
YARD_HD inline int64_t resources_ready_us(const SimModel& f, const SimState& s, int32_t slot,
                                          int32_t node, uint64_t mask, int32_t group,
                                          int32_t tasks) {
  int64_t ready_us = s.head->now_us;
  const auto wait_until = [&ready_us](int64_t at_us) {
    if (at_us > ready_us) ready_us = at_us;
  };
  const int32_t gpu0 = f.spec.node_gpu0[node];
  const bool plain = s.shape[slot] == kNone;
  const TaskNeed need = plain ? TaskNeed{} : need_of(f.jobs.shapes, s.shape[slot], group);
  const auto crowded = [](int64_t wanted, int64_t left, int64_t leaving) {
    return wanted > 0 && wanted > left - leaving;
  };
  if (need.gpu_milli > 0) {
    const int32_t g = gpu0 + lowest_set_bit_index(mask);
    const uint64_t conflicts = conflicting_kind_bits(f, node, need.kind);
    if ((conflicts != 0 && (s.leaving_kinds[g] & conflicts) != 0) ||
        crowded(gpu_milli_on_node(f, node, need), s.share_milli[g], s.leaving_milli[g]) ||
        crowded(need.gpu_mem_mib, s.share_mem_mib[g], s.leaving_mem_mib[g])) {
      wait_until(s.gpu_ready_us[g]);
    }
  } else {
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      wait_until(s.gpu_ready_us[gpu0 + lowest_set_bit_index(rest)]);
    }
  }
  if (plain) return ready_us;
  if (crowded(tasks * need.cpu_milli, s.free_cpu_milli[node], s.leaving_cpu_milli[node]) ||
      crowded(tasks * need.mem_mib, s.free_mem_mib[node], s.leaving_ram_mib[node])) {
    wait_until(s.node_ready_us[node]);
  }
  return ready_us;
}

// Resources being vacated on a part's node and, if the part is a share, on its GPU.
struct VacatingResourcesOfNode {
  int64_t gpu_ready_us, gpu_milli, gpu_mem_mib;
  int64_t node_ready_us, cpu_milli, ram_mib;
  uint64_t gpu_kinds;
};

YARD_HD inline VacatingResourcesOfNode vacating_resources_at(const SimModel& f, const SimState& s,
                                                             int32_t slot, int32_t part) {
  VacatingResourcesOfNode out = {};
  const int32_t node = s.part_node[part];
  if (s.shape[slot] == kNone) return out;
  if (is_gpu_share(f, s, slot, part)) {
    const int32_t g = f.spec.node_gpu0[node] + lowest_set_bit_index(s.part_mask[part]);
    out.gpu_ready_us = s.gpu_ready_us[g];
    out.gpu_milli = s.leaving_milli[g];
    out.gpu_mem_mib = s.leaving_mem_mib[g];
    if (f.jobs.shapes.num_kinds > 0) out.gpu_kinds = s.leaving_kinds[g];
  }
  out.node_ready_us = s.node_ready_us[node];
  out.cpu_milli = s.leaving_cpu_milli[node];
  out.ram_mib = s.leaving_ram_mib[node];
  return out;
}

// Sets the resources being vacated on the part's node and GPU. Clears the ready time of a running
// job's whole GPUs, since no other job vacates them.
YARD_HD inline void restore_vacating_resources(const SimModel& f, SimState& s, int32_t slot,
                                               int32_t part,
                                               const VacatingResourcesOfNode& leaving) {
  const int32_t node = s.part_node[part], gpu0 = f.spec.node_gpu0[node];
  if (is_gpu_share(f, s, slot, part)) {
    const int32_t g = gpu0 + lowest_set_bit_index(s.part_mask[part]);
    s.gpu_ready_us[g] = leaving.gpu_ready_us;
    s.leaving_milli[g] = leaving.gpu_milli;
    s.leaving_mem_mib[g] = leaving.gpu_mem_mib;
    if (f.jobs.shapes.num_kinds > 0) s.leaving_kinds[g] = leaving.gpu_kinds;
  } else if (s.phase[slot] == Phase::kRunning) {
    for (uint64_t rest = s.part_mask[part]; rest != 0; rest &= rest - 1) {
      s.gpu_ready_us[gpu0 + lowest_set_bit_index(rest)] = 0;
    }
  }
  if (s.shape[slot] == kNone) return;
  s.node_ready_us[node] = leaving.node_ready_us;
  s.leaving_cpu_milli[node] = leaving.cpu_milli;
  s.leaving_ram_mib[node] = leaving.ram_mib;
}

// Records that a stopped job vacates the part at `ready_us`, even if that is now, so that starts of
// the same plan wait equally long in any order. Requires: the job holds the part.
YARD_HD inline void record_vacating_part(const SimModel& f, SimState& s, int32_t slot, int32_t part,
                                         int64_t ready_us) {
  const int64_t now_us = s.head->now_us;
  if (ready_us > s.head->ready_horizon_us) s.head->ready_horizon_us = ready_us;
  const int32_t node = s.part_node[part], gpu0 = f.spec.node_gpu0[node];
  const bool share = is_gpu_share(f, s, slot, part);
  for (uint64_t rest = s.part_mask[part]; !share && ready_us > now_us && rest != 0;
       rest &= rest - 1) {
    const int32_t g = gpu0 + lowest_set_bit_index(rest);
    s.gpu_ready_us[g] = ready_us;
    if (f.jobs.shapes.max_loose_tasks == 0) continue;
    s.leaving_milli[g] = kWholeGpu;
    s.leaving_mem_mib[g] = 0;
    if (f.jobs.shapes.num_kinds > 0) s.leaving_kinds[g] = 0;  // every kind waits for the whole GPU
  }
  if (s.shape[slot] == kNone) return;
  const TaskNeed need = need_of(f.jobs.shapes, s.shape[slot], s.part_role_group[part]);
  // Adds to the sums `a` and `b` of vacated resources, which are valid until `last_us`.
  const auto leave = [&](int64_t& last_us, int64_t& a, int64_t& b, int64_t more_a, int64_t more_b) {
    if (last_us <= now_us) a = b = 0;
    if (ready_us > last_us) last_us = ready_us;
    a += more_a;
    b += more_b;
  };
  if (share) {
    const int32_t g = gpu0 + lowest_set_bit_index(s.part_mask[part]);
    if (f.jobs.shapes.num_kinds > 0) {
      if (s.gpu_ready_us[g] <= now_us) s.leaving_kinds[g] = 0;
      if (need.kind != kNone) s.leaving_kinds[g] |= uint64_t{1} << need.kind;
    }
    leave(s.gpu_ready_us[g], s.leaving_milli[g], s.leaving_mem_mib[g],
          gpu_milli_on_node(f, node, need), need.gpu_mem_mib);
  }
  if (need.cpu_milli == 0 && need.mem_mib == 0) return;
  leave(s.node_ready_us[node], s.leaving_cpu_milli[node], s.leaving_ram_mib[node],
        s.part_tasks[part] * need.cpu_milli, s.part_tasks[part] * need.mem_mib);
}

}  // namespace yard
