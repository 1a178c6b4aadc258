// The lists of a state: free slots, the queue (in order of entry, overall and by request class),
// jobs that hold GPUs, and the dirty and changed slots for advance(). All operations are O(1).
#pragma once

#include "env/sim/state/state.h"

namespace yard {

YARD_HD inline void mark_next_event_stale(SimState& s, int32_t slot) {
  if (s.is_dirty[slot]) return;
  s.is_dirty[slot] = 1;
  s.dirty[s.head->num_dirty++] = slot;
}

YARD_HD inline void mark_changed(SimState& s, int32_t slot) {
  if (s.is_changed[slot]) return;
  s.is_changed[slot] = 1;
  s.changed[s.head->num_changed++] = slot;
}

// Links `slot` into the queue and its class's queue, between slots in its prev and next columns,
// or removes it. A removed slot keeps these columns, so that undoing in reverse order relinks it.
template <bool kLink>
YARD_HD void queue_link_or_remove(SimState& s, int32_t slot) {
  const int32_t k = s.request_class[slot], sign = kLink ? 1 : -1;
  const int32_t qp = s.queue_prev[slot], qn = s.queue_next[slot];
  const int32_t cp = s.class_prev[slot], cn = s.class_next[slot];
  (qp == kNone ? s.head->queue_head : s.queue_next[qp]) = kLink ? slot : qn;
  (qn == kNone ? s.head->queue_tail : s.queue_prev[qn]) = kLink ? slot : qp;
  (cp == kNone ? s.class_head[k] : s.class_next[cp]) = kLink ? slot : cn;
  (cn == kNone ? s.class_tail[k] : s.class_prev[cn]) = kLink ? slot : cp;
  s.class_count[k] += sign;
  s.head->waiting += sign;
  s.head->waiting_gpus += sign * s.gpus[slot];
}
YARD_HD inline void queue_link(SimState& s, int32_t slot) { queue_link_or_remove<true>(s, slot); }
YARD_HD inline void queue_remove(SimState& s, int32_t slot) {
  queue_link_or_remove<false>(s, slot);
}

YARD_HD inline void queue_append(SimState& s, int32_t slot) {
  s.queue_prev[slot] = s.head->queue_tail;
  s.queue_next[slot] = kNone;
  s.class_prev[slot] = s.class_tail[s.request_class[slot]];
  s.class_next[slot] = kNone;
  s.queue_rank[slot] = (*s.next_rank)++;
  queue_link(s, slot);
}

YARD_HD inline void add_gpu_holder(SimState& s, int32_t slot) {
  s.held_pos[slot] = s.head->held;
  s.holder_slots[s.head->held++] = slot;
}

YARD_HD inline void remove_gpu_holder(SimState& s, int32_t slot) {
  const int32_t hole = s.held_pos[slot];
  const int32_t last = s.holder_slots[--s.head->held];
  s.holder_slots[hole] = last;
  s.held_pos[last] = hole;
}

// Returns an unused slot. Requires: a slot is unused.
YARD_HD inline int32_t take_slot(const SimModel& f, SimState& s) {
  int32_t slot = s.head->free_slot;
  if (slot != kNone) {
    s.head->free_slot = s.queue_next[slot];
  } else {
    slot = s.head->high_water++;
    s.generation[slot] = 0;
    s.is_changed[slot] = 0;
    s.is_dirty[slot] = 0;
    if (f.rated) s.is_stale[slot] = 0;
  }
  return slot;
}

YARD_HD inline void release_slot(SimState& s, int32_t slot) {
  ++s.generation[slot];
  s.phase[slot] = Phase::kFree;
  s.queue_next[slot] = s.head->free_slot;
  s.head->free_slot = slot;
}

YARD_HD inline int32_t allocate_part(SimState& s, int32_t node, uint64_t mask, int32_t next,
                                     int32_t group = 0, int32_t tasks = 0) {
  int32_t part = s.head->free_part;
  if (part != kNone) {
    s.head->free_part = s.part_next[part];
  } else {
    part = s.head->part_high_water++;
  }
  s.part_node[part] = node;
  s.part_mask[part] = mask;
  s.part_next[part] = next;
  s.part_role_group[part] = group;
  s.part_tasks[part] = tasks;
  return part;
}

YARD_HD inline void free_part_record(SimState& s, int32_t part) {
  s.part_next[part] = s.head->free_part;
  s.head->free_part = part;
}

}  // namespace yard
