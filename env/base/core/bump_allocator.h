// Bump allocator: divides a block of memory into columns, each aligned to 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace yard {

// Allocates columns one after the other. Callers must allocate them in the same order every time.
class BumpAllocator {
 public:
  explicit BumpAllocator(std::byte* at) : at_(at) {}

  template <class T>
  T* allocate(int64_t length) {
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
