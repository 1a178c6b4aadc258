// Memory resource that uses huge pages, for data accessed often and at random: the states of many
// simulations span more pages than the TLB holds. The destructor frees all blocks together, and
// deallocate() does nothing. Thread-safe.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <vector>

namespace yard {

class HugePages : public std::pmr::memory_resource {
 public:
  HugePages() = default;
  ~HugePages() override;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

 private:
  struct Block {
    std::byte* begin;
    size_t bytes;
  };

  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::mutex mutex_;
  std::vector<Block> blocks_;  // free space is at the end of the last block
  size_t used_ = 0;            // bytes used of the last block
};

}  // namespace yard
