// A policy's memory between decisions: one flat block that snapshots, forks and logs can copy. The
// policy divides the block into columns. All bytes are zero before the first decision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/core/bump_allocator.h"

namespace yard {

class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes) { reset(bytes); }
  // Resizes the memory to `bytes`, rounded up to a multiple of 8, and fills it with zeros.
  void reset(size_t bytes) { words_.assign((bytes + 7) / 8, 0); }
  // Resizes the memory to `bytes`, keeps the first `lasting` bytes and sets all bytes after them to
  // zero. Requires: lasting <= bytes.
  void keep(size_t lasting, size_t bytes) {
    words_.resize((bytes + 7) / 8, 0);
    std::fill(data() + lasting, data() + this->bytes(), std::byte{0});
  }
  size_t bytes() const { return words_.size() * 8; }
  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_.data()); }

  friend bool operator==(const Memory&, const Memory&) = default;

 private:
  std::vector<uint64_t> words_;
};

}  // namespace yard
