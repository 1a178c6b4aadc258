// Event queue: an indexed 4-ary heap of each active slot's next event. To rebuild the queue of a
// copied state, mark all slots of the state as dirty. Policies never see the queue. Dims: S slots.
#pragma once

#include <cstddef>
#include <cstdint>

#include "env/sim/state/state.h"

namespace yard {

struct EventQueue {
  // Time, job and slot of an event are stored together, so that four children fill a cache line.
  struct Entry {
    int64_t time_us;
    int32_t job;  // orders events of equal time, so that slot numbers do not matter
    int32_t slot;
    YARD_HD bool before(const Entry& other) const {
      return time_us != other.time_us ? time_us < other.time_us : job < other.job;
    }
  };

  // Offset of the heap: the root is at the end of a cache line, so that each group of four children
  // fills one cache line if the block is aligned to 64 bytes.
  static constexpr size_t kLine = 64, kHeap = kLine - sizeof(Entry);

  int32_t* size = nullptr;  // (1)
  Entry* heap = nullptr;    // (S)
  int32_t* pos = nullptr;   // (S)  heap position of each slot, or kNone

  YARD_HD static size_t bytes(int32_t slots) {
    return kHeap + static_cast<size_t>(slots) * (sizeof(Entry) + sizeof(int32_t));
  }

  // Returns a queue stored in `block`. Requires: `block` has bytes(slots) bytes, aligned to 8.
  YARD_HD static EventQueue at(std::byte* block, int32_t slots) {
    EventQueue a;
    a.size = reinterpret_cast<int32_t*>(block);
    a.heap = reinterpret_cast<Entry*>(block + kHeap);
    a.pos = reinterpret_cast<int32_t*>(a.heap + slots);
    return a;
  }

  YARD_HD void clear(int32_t slots) {
    *size = 0;
    for (int32_t i = 0; i < slots; ++i) pos[i] = kNone;
  }

  YARD_HD int64_t next_us() const { return *size == 0 ? kNever : heap[0].time_us; }
  YARD_HD int32_t top() const { return heap[0].slot; }  // Requires: the heap is not empty.

  // Sets the slot's next event, and replaces its previous event if it had one.
  YARD_HD void put(int32_t slot, int32_t job, int64_t at_us) {
    const int32_t i = pos[slot] == kNone ? (*size)++ : pos[slot];
    sift_into_place(i, {at_us, job, slot});
  }

  // Removes the slot's event. Does nothing if the slot has no event.
  YARD_HD void remove(int32_t slot) {
    const int32_t hole = pos[slot];
    if (hole == kNone) return;
    pos[slot] = kNone;
    const Entry last = heap[--(*size)];
    if (last.slot != slot) sift_into_place(hole, last);
  }

 private:
  YARD_HD void place(const Entry& entry, int32_t i) {
    heap[i] = entry;
    pos[entry.slot] = i;
  }

  // Moves `entry` up or down the heap from the free position `i` to its place.
  YARD_HD void sift_into_place(int32_t i, const Entry& entry) {
    while (i > 0 && entry.before(heap[(i - 1) / 4])) {
      place(heap[(i - 1) / 4], i);
      i = (i - 1) / 4;
    }
    for (;;) {
      const int32_t end = 4 * i + 5 < *size ? 4 * i + 5 : *size;
      int32_t best = 4 * i + 1;
      for (int32_t c = best + 1; c < end; ++c) {
        if (heap[c].before(heap[best])) best = c;
      }
      if (best >= end || !heap[best].before(entry)) break;
      place(heap[best], i);
      i = best;
    }
    place(entry, i);
  }
};

}  // namespace yard
