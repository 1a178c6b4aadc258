#include "env/base/os/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace yard {
namespace {

constexpr size_t kPage = size_t{2} << 20;

constexpr size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

HugePages::~HugePages() {
  for (const Block& block : blocks_) std::free(block.begin);
}

void* HugePages::do_allocate(size_t bytes, size_t alignment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t at = rounded(used_, alignment);
  if (blocks_.empty() || at + bytes > blocks_.back().bytes) {
    const size_t size = rounded(bytes, kPage);
    auto* block = static_cast<std::byte*>(std::aligned_alloc(std::max(kPage, alignment), size));
    if (block == nullptr) throw std::bad_alloc();
    ::madvise(block, size, MADV_HUGEPAGE);  // falls back to small pages
    blocks_.push_back({block, size});
    at = 0;
  }
  used_ = at + bytes;
  return blocks_.back().begin + at;
}

}  // namespace yard
