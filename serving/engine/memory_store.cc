#include "serving/engine/memory_store.h"

#include <algorithm>
#include <utility>

namespace yard {

std::list<ClusterMemoryStore::Entry>::iterator ClusterMemoryStore::find(const std::string& key) {
  return std::ranges::find(entries_, key, &Entry::key);
}

std::unique_ptr<ClusterMemory> ClusterMemoryStore::take_or_create(const std::string& key,
                                                                  int64_t now_us) {
  const std::lock_guard lock(mutex_);
  const auto it = find(key);
  if (it == entries_.end() || it->memory->now_us() > now_us) {
    return std::make_unique<ClusterMemory>();
  }
  std::unique_ptr<ClusterMemory> out = std::move(it->memory);
  bytes_ -= it->bytes;
  entries_.erase(it);
  return out;
}

void ClusterMemoryStore::give_back(const std::string& key, std::unique_ptr<ClusterMemory> memory) {
  const size_t bytes = memory->bytes();
  const std::lock_guard lock(mutex_);
  const auto it = find(key);
  if (it != entries_.end()) {
    if (it->memory->now_us() > memory->now_us()) return;
    bytes_ -= it->bytes;
    entries_.erase(it);
  }
  entries_.push_front({key, std::move(memory), bytes});
  bytes_ += bytes;
  while (entries_.size() > max_count_ || bytes_ > max_bytes_) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

size_t ClusterMemoryStore::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

size_t ClusterMemoryStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace yard
