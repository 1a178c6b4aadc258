// Memories of the served policies, one for each cluster and model, bounded in number and bytes. The
// least recently used memory is dropped first. Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "serving/snapshot/cluster_memory.h"

namespace yard {

class ClusterMemoryStore {
 public:
  ClusterMemoryStore(size_t max_count, size_t max_bytes)
      : max_count_(max_count), max_bytes_(max_bytes) {}

  // Returns the memory of a cluster and model, for one decision at `now_us`. Returns a new
  // memory if none is stored, another decision uses it, or the stored memory is of a later time.
  std::unique_ptr<ClusterMemory> take_or_create(const std::string& key, int64_t now_us);
  // Stores a memory after its decision, unless the store has a later one by now.
  void give_back(const std::string& key, std::unique_ptr<ClusterMemory> memory);

  size_t count() const;
  size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<ClusterMemory> memory;
    size_t bytes;
  };
  std::list<Entry>::iterator find(const std::string& key);

  const size_t max_count_, max_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the entry used last comes first
  size_t bytes_ = 0;
};

}  // namespace yard
