// When each active job's next event comes: an indexed 4-ary heap over slots. Derived from state and
// truth (a copied state gets a fresh one by marking its slots dirty), and never shown to a policy:
// it knows the future.
// Dims: S slots.
#pragma once

#include <cstddef>
#include <cstdint>

#include "env/sim/state.h"

namespace yard {

struct Agenda {
  int32_t* size = nullptr;     // (1)
  int64_t* time_us = nullptr;  // (S)  by slot
  int32_t* job = nullptr;      // (S)  by slot; equal times go by job, whatever the slots
  int32_t* heap = nullptr;     // (S)  slots
  int32_t* pos = nullptr;      // (S)  by slot, kNone when not in the heap

  YARD_HD static size_t bytes(int32_t slots) { return 64 + static_cast<size_t>(slots) * 24; }

  // Requires: `block` holds bytes(slots) bytes, aligned to 8.
  YARD_HD static Agenda at(std::byte* block, int32_t slots) {
    Agenda a;
    a.size = reinterpret_cast<int32_t*>(block);
    a.time_us = reinterpret_cast<int64_t*>(block + 64);
    a.job = reinterpret_cast<int32_t*>(a.time_us + slots);
    a.heap = a.job + slots;
    a.pos = a.heap + slots;
    return a;
  }

  YARD_HD void clear(int32_t slots) {
    *size = 0;
    for (int32_t i = 0; i < slots; ++i) pos[i] = kNone;
  }

  YARD_HD int64_t next_us() const { return *size == 0 ? kNever : time_us[heap[0]]; }
  YARD_HD int32_t top() const { return heap[0]; }

  YARD_HD bool before(int32_t a, int32_t b) const {
    return time_us[a] != time_us[b] ? time_us[a] < time_us[b] : job[a] < job[b];
  }

  YARD_HD void put(int32_t slot, int32_t job_index, int64_t at_us) {
    const bool present = pos[slot] != kNone;
    time_us[slot] = at_us;
    job[slot] = job_index;
    if (!present) {
      heap[*size] = slot;
      pos[slot] = (*size)++;
    }
    up(pos[slot]);
    down(pos[slot]);
  }

  YARD_HD void remove(int32_t slot) {
    const int32_t hole = pos[slot];
    if (hole == kNone) return;
    pos[slot] = kNone;
    const int32_t last = heap[--(*size)];
    if (last == slot) return;
    heap[hole] = last;
    pos[last] = hole;
    up(hole);
    down(pos[last]);
  }

 private:
  YARD_HD void place(int32_t slot, int32_t i) {
    heap[i] = slot;
    pos[slot] = i;
  }

  YARD_HD void up(int32_t i) {
    const int32_t slot = heap[i];
    while (i > 0) {
      const int32_t parent = (i - 1) / 4;
      if (!before(slot, heap[parent])) break;
      place(heap[parent], i);
      i = parent;
    }
    place(slot, i);
  }

  YARD_HD void down(int32_t i) {
    const int32_t slot = heap[i];
    for (;;) {
      int32_t best = kNone;
      for (int32_t c = 4 * i + 1; c <= 4 * i + 4 && c < *size; ++c) {
        if (best == kNone || before(heap[c], heap[best])) best = c;
      }
      if (best == kNone || !before(heap[best], slot)) break;
      place(heap[best], i);
      i = best;
    }
    place(slot, i);
  }
};

}  // namespace yard
