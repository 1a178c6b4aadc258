// What a policy remembers between decisions: one flat block that snapshots, forks and logs can
// copy. The policy says how long each column is; the block is zero at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "env/base/check.h"

namespace yard {

class Memory {
 public:
  // Forgets everything; `bytes` zero bytes from now on.
  void reset(size_t bytes) { words_.assign((bytes + 7) / 8, 0); }
  size_t bytes() const { return words_.size() * 8; }
  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_.data()); }

  friend bool operator==(const Memory&, const Memory&) = default;

 private:
  std::vector<uint64_t> words_;
};

// Hands out the columns of a memory one after the other, in the same order every time.
class Carver {
 public:
  explicit Carver(std::byte* at) : at_(at) {}

  template <class T>
  T* take(int64_t length) {
    auto* column = reinterpret_cast<T*>(at_);
    at_ += bytes<T>(length);
    return column;
  }

  template <class T>
  static size_t bytes(int64_t length) {
    return (static_cast<size_t>(length) * sizeof(T) + 7) / 8 * 8;
  }

 private:
  std::byte* at_;
};

}  // namespace yard
