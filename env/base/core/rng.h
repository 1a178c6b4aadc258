// Random number streams as values: a seed and split keys identify a stream, and a counter the draw.
//   Rng env_rng = Rng{seed}.split(env).split(episode);
// The generator is Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC
// 2011): it computes with integers only, so that CPU and GPU draw the same numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

// Replaces `counter` by the four words of Philox4x32-10 under `key`.
YARD_HD inline void philox4x32(uint32_t (&counter)[4], uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter[0] = static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ k0;
    counter[1] = static_cast<uint32_t>(p1);
    counter[2] = static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ k1;
    counter[3] = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

// State of a random number stream, without padding. A copy of an Rng continues its stream.
struct Rng {
  uint64_t key;         // key and stream, 128 bits in sum, identify the stream,
  uint64_t stream = 0;  // so that billions of splits do not collide
  uint64_t drawn = 0;   // number of words drawn so far; the present four are in `block`
  uint32_t block[4] = {};

  YARD_HD explicit Rng(uint64_t seed) : key(seed) {}

  // Returns the sub-stream `child`, which does not depend on the draws from this stream so far.
  YARD_HD Rng split(uint64_t child) const {
    // Splits and draws use different keys, so that a child never repeats its parent's words.
    constexpr uint64_t kSplit = 0x5851F42D4C957F2Du;
    uint32_t words[4];
    pack_words(words, child, stream);
    philox4x32(words, key ^ kSplit);
    Rng rng(uint64_t{words[1]} << 32 | words[0]);
    rng.stream = uint64_t{words[3]} << 32 | words[2];
    return rng;
  }

  YARD_HD uint32_t next() {
    const uint32_t lane = static_cast<uint32_t>(drawn & 3);
    if (lane == 0) {
      pack_words(block, drawn >> 2, stream);
      philox4x32(block, key);
    }
    ++drawn;
    return block[lane];
  }

  YARD_HD uint64_t next64() {
    const uint64_t low = next();
    return uint64_t{next()} << 32 | low;
  }

  // Returns a uniform number in [0, bound). Requires: bound > 0. (Lemire, "Fast Random Integer
  // Generation in an Interval", 2019: redraws in the rare uneven part.)
  YARD_HD uint32_t below(uint32_t bound) {
    YARD_CHECK(bound > 0, "below() needs a positive bound");
    uint64_t product = uint64_t{next()} * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t uneven = (0u - bound) % bound;
      while (static_cast<uint32_t>(product) < uneven) product = uint64_t{next()} * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // Returns a uniform number in [0, 1), a multiple of 2^-53.
  YARD_HD double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

  // normal() and exponential() are for CPU code only: logarithm and cosine differ on GPUs.

  // Returns a normal number of mean 0 and standard deviation 1 (one of Box and Muller's pair).
  double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(6.283185307179586 * uniform());
  }

  // Mean 1.
  double exponential() { return -std::log1p(-uniform()); }

 private:
  YARD_HD static void pack_words(uint32_t (&words)[4], uint64_t low, uint64_t high) {
    words[0] = static_cast<uint32_t>(low);
    words[1] = static_cast<uint32_t>(low >> 32);
    words[2] = static_cast<uint32_t>(high);
    words[3] = static_cast<uint32_t>(high >> 32);
  }
};

}  // namespace yard
