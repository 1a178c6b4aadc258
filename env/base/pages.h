// An allocator for large blocks that come from the system and go back to it when they are freed:
// the heap may keep what others lie behind of.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace yard {

template <class T>
struct Pages {
  using value_type = T;

  Pages() = default;
  template <class U>
  explicit Pages(const Pages<U>&) {}

  T* allocate(size_t n) {
    void* block =
        ::mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t n) { ::munmap(block, n * sizeof(T)); }

  friend bool operator==(const Pages&, const Pages&) { return true; }
};

}  // namespace yard
