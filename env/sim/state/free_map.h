// Index of nodes by number of free GPUs: for each number, a bitmap of nodes and a summary bitmap
// over the words of the bitmap. The index finds the first or tightest node without a scan.
#pragma once

#include <cstdint>

#include "env/sim/state/state.h"

namespace yard {

// Returns the index of the lowest set bit. Requires: word != 0.
YARD_HD inline int32_t lowest_set_bit_index(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(word)) - 1;
#else
  return __builtin_ctzll(word);
#endif
}

YARD_HD inline int32_t count_bits(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __popcll(word);
#else
  return __builtin_popcountll(word);
#endif
}

YARD_HD inline uint64_t mask_of_low_bits(int32_t bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

struct FreeNodeIndex {
  int32_t words;
  int32_t summary_words;

  YARD_HD explicit FreeNodeIndex(const SpecColumns& spec)
      : words((spec.num_nodes + 63) / 64), summary_words((words + 63) / 64) {}

  YARD_HD void set(SimState& s, int32_t count, int32_t node) const {
    s.free_bits[count * words + (node >> 6)] |= uint64_t{1} << (node & 63);
    s.free_summary[count * summary_words + (node >> 12)] |= uint64_t{1} << (node >> 6 & 63);
  }

  YARD_HD void clear(SimState& s, int32_t count, int32_t node) const {
    uint64_t& word = s.free_bits[count * words + (node >> 6)];
    word &= ~(uint64_t{1} << (node & 63));
    if (word == 0) {
      s.free_summary[count * summary_words + (node >> 12)] &= ~(uint64_t{1} << (node >> 6 & 63));
    }
  }

  // Returns the lowest node that has `count` to `most` free GPUs, or kNone.
  YARD_HD int32_t first_node_with_free_between(const SimState& s, int32_t count,
                                               int32_t most) const {
    for (int32_t sw = 0; sw < summary_words; ++sw) {
      uint64_t summary = 0, bits = 0;
      for (int32_t c = count; c <= most; ++c) summary |= s.free_summary[c * summary_words + sw];
      if (summary == 0) continue;
      const int32_t w = sw * 64 + lowest_set_bit_index(summary);
      for (int32_t c = count; c <= most; ++c) bits |= s.free_bits[c * words + w];
      return w * 64 + lowest_set_bit_index(bits);
    }
    return kNone;
  }

  // Returns the number of nodes with exactly `free` free GPUs.
  YARD_HD int32_t count(const SimState& s, int32_t free) const {
    int32_t n = 0;
    for (int32_t w = 0; w < words; ++w) n += count_bits(s.free_bits[free * words + w]);
    return n;
  }

  // Returns the lowest node >= `from` with exactly `count` free GPUs, or kNone.
  YARD_HD int32_t first_node_with_exactly(const SimState& s, int32_t count,
                                          int32_t from = 0) const {
    const uint64_t* bits = s.free_bits + static_cast<int64_t>(count) * words;
    int32_t w = from / 64;
    if (w >= words) return kNone;
    const uint64_t here = bits[w] & ~mask_of_low_bits(from % 64);
    if (here != 0) return w * 64 + lowest_set_bit_index(here);
    const uint64_t* summary = s.free_summary + static_cast<int64_t>(count) * summary_words;
    ++w;
    for (int32_t sw = w / 64; sw < summary_words; ++sw) {
      uint64_t word = summary[sw];
      if (sw == w / 64) word &= ~mask_of_low_bits(w % 64);
      if (word != 0) {
        const int32_t found = sw * 64 + lowest_set_bit_index(word);
        return found * 64 + lowest_set_bit_index(bits[found]);
      }
    }
    return kNone;
  }
};

}  // namespace yard
