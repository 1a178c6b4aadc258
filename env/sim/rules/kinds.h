// Kinds of jobs on shared GPUs. Measurements show that some pairs of kinds do not fit on one GPU.
// NodeLedger (shape.h) offers a job no share of a GPU with a conflicting kind.
#pragma once

#include "env/sim/rules/shape.h"
#include "env/sim/state/free_map.h"
#include "env/sim/state/state.h"

namespace yard {

// Adds the job's kind to its shared GPUs, if any kinds conflict. Requires: the job holds GPUs.
YARD_HD inline void add_sharing_kind_to_gpus(const SimModel& f, SimState& s, int32_t slot) {
  const int32_t kind = sharing_kind_of_shape(f.jobs.shapes, s.shape[slot]);
  for (int32_t p = s.first_part[slot]; kind != kNone && p != kNone; p = s.part_next[p]) {
    if (!is_gpu_share(f, s, slot, p)) continue;
    const int32_t gpu = f.spec.node_gpu0[s.part_node[p]] + lowest_set_bit_index(s.part_mask[p]);
    s.share_kinds[gpu] |= uint64_t{1} << kind;
  }
}

// Recomputes the kinds on the job's shared GPUs without the job. Requires: the job holds its GPUs.
YARD_HD inline void remove_sharing_kind_from_gpus(const SimModel& f, SimState& s, int32_t slot) {
  if (sharing_kind_of_shape(f.jobs.shapes, s.shape[slot]) == kNone) return;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (!is_gpu_share(f, s, slot, p)) continue;
    uint64_t kinds = 0;
    for (int32_t i = 0; i < s.head->held; ++i) {
      const int32_t other = s.holder_slots[i];
      const int32_t kind = sharing_kind_of_shape(f.jobs.shapes, s.shape[other]);
      if (other == slot || kind == kNone) continue;
      for (int32_t q = s.first_part[other]; q != kNone; q = s.part_next[q]) {
        const bool shares_gpu =
            s.part_node[q] == s.part_node[p] && (s.part_mask[q] & s.part_mask[p]) != 0;
        if (shares_gpu) kinds |= uint64_t{1} << kind;
      }
    }
    s.share_kinds[f.spec.node_gpu0[s.part_node[p]] + lowest_set_bit_index(s.part_mask[p])] = kinds;
  }
}

}  // namespace yard
