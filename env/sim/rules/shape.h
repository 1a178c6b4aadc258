// Jobs whose tasks need CPUs, memory, a share of one GPU, or certain GPU types. A `NodeLedger` has
// a node's free resources. Placements, legal_start() and start() subtract tasks from ledgers.
#pragma once

#include "env/sim/state/free_map.h"
#include "env/sim/state/state.h"

namespace yard {

// Resources that one task of a role group needs.
struct TaskNeed {
  int32_t gpus, gpu_milli, gpu_mem_mib;
  int64_t cpu_milli, mem_mib;
  int32_t kind;  // kind of the job, for conflicts on shared GPUs
};

YARD_HD inline int32_t sharing_kind_of_shape(const ShapeColumns& h, int32_t shape) {
  return h.num_kinds == 0 || shape == kNone ? kNone : h.kind[shape];
}

YARD_HD inline TaskNeed need_of(const ShapeColumns& h, int32_t shape, int32_t group) {
  const int32_t r = h.first_group[shape] + group;
  return {h.gpus[r],      h.gpu_milli[r], h.gpu_mem_mib[r],
          h.cpu_milli[r], h.mem_mib[r],   sharing_kind_of_shape(h, shape)};
}

YARD_HD inline int32_t num_groups(const ShapeColumns& h, int32_t shape) {
  return h.first_group[shape + 1] - h.first_group[shape];
}

// Returns whether a job of this shape can run with `tasks` tasks of the group.
YARD_HD inline bool is_legal_task_count(const ShapeColumns& h, int32_t shape, int32_t group,
                                        int32_t tasks) {
  const int32_t r = h.first_group[shape] + group;
  return tasks >= h.min_tasks[r] && tasks <= h.max_tasks[r];
}

YARD_HD inline int32_t tasks_of(const ShapeColumns& h, int32_t shape, int32_t group) {
  return h.tasks[h.first_group[shape] + group];
}

// Returns the thousandths of a GPU that a share takes on the node: 1000 if the node's GPUs cannot
// be shared.
YARD_HD inline int32_t gpu_milli_on_node(const SimModel& f, int32_t node, const TaskNeed& need) {
  return f.spec.type_shares[f.spec.node_type[node]] != 0 ? need.gpu_milli : kWholeGpu;
}

// Returns the number of tasks of its first group that a job holds, divided by the requested number.
YARD_HD inline double held_fraction_of_first_task_group(const ShapeColumns& h, const SimState& s,
                                                        int32_t slot) {
  const int32_t asked = tasks_of(h, s.shape[slot], 0);
  int32_t given = 0;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_role_group[p] == 0) given += s.part_tasks[p];
  }
  return given == asked ? 1.0 : static_cast<double>(given) / asked;
}

// Returns whether this part of a job is a share of one GPU.
YARD_HD inline bool is_gpu_share(const SimModel& f, const SimState& s, int32_t slot, int32_t part) {
  const int32_t shape = s.shape[slot];
  return shape != kNone && need_of(f.jobs.shapes, shape, s.part_role_group[part]).gpu_milli > 0;
}

// Returns the kinds, as bits, which do not fit on one GPU of the node together with `kind`.
YARD_HD inline uint64_t conflicting_kind_bits(const SimModel& f, int32_t node, int32_t kind) {
  const ShapeColumns& h = f.jobs.shapes;
  return kind == kNone ? 0 : h.conflicts[f.spec.node_type[node] * h.num_kinds + kind];
}

// Returns whether `mask` has all GPUs of a node: a fault of all GPUs is a fault of the node.
YARD_HD inline bool is_whole_node(const SimModel& f, int32_t node, uint64_t mask) {
  return mask == mask_of_low_bits(f.spec.node_gpus[node]);
}

struct NodeLedger {
  int32_t node;
  bool down = false;     // whether the node as a whole is down
  uint64_t free;         // whole GPUs
  uint64_t shared;       // GPUs with a share taken
  uint64_t touched = 0;  // GPUs of `shared` that are loaded into milli and mem_mib
  int32_t milli[kMaxNodeGpus];
  int32_t mem_mib[kMaxNodeGpus];
  int64_t cpu_milli_left, mem_mib_left;

  YARD_HD NodeLedger(const SimModel& f, const SimState& s, int32_t m)
      : node(m),
        free(s.free_mask[m]),
        shared(f.jobs.shapes.max_loose_tasks > 0 ? s.shared_mask[m] : 0),
        cpu_milli_left(f.jobs.shapes.num_shapes > 0 ? s.free_cpu_milli[m] : kUnlimited),
        mem_mib_left(f.jobs.shapes.num_shapes > 0 ? s.free_mem_mib[m] : kUnlimited) {
    if (!f.faults) return;
    shared &= ~s.down_mask[m];  // held shares of a down GPU stay, but no new share may be taken
    down = s.node_down_until_us[m] > s.head->now_us;
  }

  // Loads the free share and memory of a shared GPU.
  YARD_HD void load_free_gpu_share(const SimModel& f, const SimState& s, int32_t gpu) {
    if (touched >> gpu & 1) return;
    touched |= uint64_t{1} << gpu;
    milli[gpu] = s.share_milli[f.spec.node_gpu0[node] + gpu];
    mem_mib[gpu] = s.share_mem_mib[f.spec.node_gpu0[node] + gpu];
  }

  // Returns whether the node is up, open to the job, and of a GPU type on which the task can run.
  YARD_HD bool suits_task(const SimModel& f, int32_t shape, const TaskNeed& need) const {
    if (down) return false;
    const int32_t owner = f.spec.node_owner[node];
    if (owner != kNone && owner != f.jobs.shapes.tenant[shape]) return false;
    if (need.gpus + need.gpu_milli == 0) return true;
    const uint64_t types = f.jobs.shapes.types[shape];
    const int32_t type = f.spec.node_type[node];
    return (types >> type & 1) != 0 && need.gpu_mem_mib <= f.spec.type_mem_mib[type];
  }

  // Takes the resources of one task with a share of a GPU. Returns false and changes nothing if the
  // node lacks CPU, memory or a GPU with room. `mask` gets the task's GPU: the fullest shared GPU
  // with room, the lowest among equals; or, if no shared GPU has room, the free GPU pick(free, 1).
  template <class Pick>
  YARD_HD bool take_gpu_share(const SimModel& f, const SimState& s, const TaskNeed& need, Pick pick,
                              uint64_t& mask) {
    if (need.cpu_milli > cpu_milli_left || need.mem_mib > mem_mib_left) return false;
    const int32_t wanted = gpu_milli_on_node(f, node, need), gpu0 = f.spec.node_gpu0[node];
    // Tasks of the same job never conflict, because conflicts were measured between two jobs.
    const uint64_t conflicts = conflicting_kind_bits(f, node, need.kind);
    int32_t best = kNone;
    for (uint64_t rest = shared; rest != 0; rest &= rest - 1) {
      const int32_t gpu = lowest_set_bit_index(rest);
      load_free_gpu_share(f, s, gpu);
      if (milli[gpu] < wanted || mem_mib[gpu] < need.gpu_mem_mib) continue;
      if (conflicts != 0 && (s.share_kinds[gpu0 + gpu] & conflicts) != 0) continue;
      if (best == kNone || milli[gpu] < milli[best]) best = gpu;
    }
    if (best == kNone) {
      if (free == 0) return false;
      const uint64_t bit = pick(free, 1);
      best = lowest_set_bit_index(bit);
      free &= ~bit;
      shared |= bit;
      touched |= bit;
      milli[best] = kWholeGpu;
      mem_mib[best] = f.spec.type_mem_mib[f.spec.node_type[node]];
    }
    milli[best] -= wanted;
    mem_mib[best] -= need.gpu_mem_mib;
    mask = uint64_t{1} << best;
    cpu_milli_left -= need.cpu_milli;
    mem_mib_left -= need.mem_mib;
    return true;
  }
};

// Returns the `count` lowest set bits of `mask`. Requires: `mask` has at least `count` bits.
YARD_HD inline uint64_t lowest_bits(uint64_t mask, int32_t count) {
  uint64_t rest = mask;
  for (int32_t i = 0; i < count; ++i) rest &= rest - 1;
  return mask & ~rest;
}

// Picks the lowest bits, for uses in which it does not matter which GPUs are vacated sooner.
struct PickLowestGpus {
  YARD_HD uint64_t operator()(uint64_t mask, int32_t n) const { return lowest_bits(mask, n); }
};

// Takes the resources of up to `most` tasks. Returns the number of tasks that fitted.
YARD_HD inline int32_t take_tasks(const SimModel& f, const SimState& s, NodeLedger& ledger,
                                  const TaskNeed& need, int32_t most) {
  // The number of tasks without shares that fit is found by division, since all need the same.
  if (need.gpu_milli == 0) {
    int64_t n = most;
    const auto at_most = [&n](int64_t left, int64_t each) {
      if (each > 0 && left / each < n) n = left / each;
    };
    at_most(count_bits(ledger.free), need.gpus);
    at_most(ledger.cpu_milli_left, need.cpu_milli);
    at_most(ledger.mem_mib_left, need.mem_mib);
    if (n <= 0) return 0;
    const auto taken = static_cast<int32_t>(n);
    ledger.free &= ~lowest_bits(ledger.free, taken * need.gpus);
    ledger.cpu_milli_left -= n * need.cpu_milli;
    ledger.mem_mib_left -= n * need.mem_mib;
    return taken;
  }
  uint64_t mask = 0;
  int32_t n = 0;
  while (n < most && ledger.take_gpu_share(f, s, need, PickLowestGpus{}, mask)) ++n;
  return n;
}

// Takes the resources of a piece, on the GPUs that the piece names, if any. Returns false if the
// node has no room for the piece.
YARD_HD inline bool take_piece(const SimModel& f, const SimState& s, NodeLedger& ledger,
                               const TaskNeed& need, const Piece& p) {
  if (p.mask == 0) return take_tasks(f, s, ledger, need, p.tasks) == p.tasks;
  if (need.gpu_milli > 0) {
    if (p.tasks != 1 || (p.mask & (p.mask - 1)) != 0) return false;
    // All other GPUs are hidden, so that the task takes the named GPU or none.
    const uint64_t free = ledger.free, shared = ledger.shared;
    ledger.free &= p.mask;
    ledger.shared &= p.mask;
    uint64_t mask = 0;
    const bool fits = ledger.take_gpu_share(f, s, need, PickLowestGpus{}, mask);
    ledger.shared |= shared;
    ledger.free = free & ~ledger.shared;
    return fits;
  }
  if (count_bits(p.mask) != p.gpus || (p.mask & ~ledger.free) != 0) return false;
  if (p.tasks * need.cpu_milli > ledger.cpu_milli_left) return false;
  if (p.tasks * need.mem_mib > ledger.mem_mib_left) return false;
  ledger.free &= ~p.mask;
  ledger.cpu_milli_left -= p.tasks * need.cpu_milli;
  ledger.mem_mib_left -= p.tasks * need.mem_mib;
  return true;
}

// Returns whether `pieces` have enough tasks of every group of the shape, on nodes with enough
// room. Two pieces of a group may be on the same node only if both pieces name their GPUs.
YARD_HD inline bool fits_shape(const SimModel& f, const SimState& s, int32_t shape,
                               const Piece* pieces, int32_t num_pieces) {
  const ShapeColumns& h = f.jobs.shapes;
  for (int32_t g = 0; g < num_groups(h, shape); ++g) {
    int32_t sum = 0;
    for (int32_t i = 0; i < num_pieces; ++i) {
      if (pieces[i].group == g) sum += pieces[i].tasks;
    }
    if (!is_legal_task_count(h, shape, g, sum)) return false;
  }
  for (int32_t i = 0; i < num_pieces; ++i) {
    const Piece& p = pieces[i];
    if (p.node < 0 || p.node >= f.spec.num_nodes || p.tasks < 1) return false;
    if (p.group < 0 || p.group >= num_groups(h, shape)) return false;
    if (p.gpus != p.tasks * need_of(h, shape, p.group).gpus) return false;
    bool seen = false;  // all pieces on a node are checked together, at the first piece
    for (int32_t k = 0; k < i; ++k) {
      if (pieces[k].node != p.node) continue;
      if (pieces[k].group == p.group && (p.mask == 0 || pieces[k].mask == 0)) return false;
      seen = true;
    }
    if (seen) continue;
    NodeLedger ledger(f, s, p.node);
    for (int32_t k = i; k < num_pieces; ++k) {
      if (pieces[k].node != p.node) continue;
      const TaskNeed need = need_of(h, shape, pieces[k].group);
      if (!ledger.suits_task(f, shape, need)) return false;
      if (!take_piece(f, s, ledger, need, pieces[k])) return false;
    }
  }
  return true;
}

}  // namespace yard
