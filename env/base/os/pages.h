// Allocator for large blocks, mapped directly from the system and unmapped when freed. Freed blocks
// of the heap may stay with the process, because of later allocations behind them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace yard {

template <class T>
struct MmapAllocator {
  using value_type = T;

  MmapAllocator() = default;
  template <class U>
  explicit MmapAllocator(const MmapAllocator<U>&) {}

  T* allocate(size_t n) {
    void* block =
        ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t n) { ::munmap(block, n * sizeof(T)); }

  friend bool operator==(const MmapAllocator&, const MmapAllocator&) { return true; }
};

}  // namespace yard
