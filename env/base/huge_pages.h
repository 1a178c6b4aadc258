// Memory for what is read over and over in no order: many worlds side by side spread over more
// pages than the processor keeps addresses of, so they get the large pages that the system has. All
// of it is freed at once, at the end; deallocate() does nothing. Threads may share it.
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
  std::vector<Block> blocks_;  // what is left is at the end of the last one
  size_t used_ = 0;            // of the last one
};

}  // namespace yard
