// List of all live jobs in the order in which a preemptive scheduler serves them. GPUs are
// given to jobs from the first on; a job that needs more GPUs than are left is skipped.
#pragma once

#include <cstdint>
#include <vector>

namespace yard {

// An Entry has `key` (smallest first, compared by >), `slot`, `gpus` and `runs`.
template <class Entry>
class JobServiceOrder {
 public:
  JobServiceOrder() { list_.reserve(256); }

  bool empty() const { return list_.empty(); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }

  // Inserts an entry behind all entries with an equal key.
  void add(const Entry& entry) {
    list_.emplace_back();
    put(Entry(entry), list_.size() - 1);
  }

  // Calls update(entry) for each entry, and sorts the list stably. `update` may change the entry;
  // if `update` returns false, the entry is removed. Fast if the order changes little.
  template <class Update>
  void update(Update&& update) {
    size_t n = 0;
    for (size_t i = 0; i < list_.size(); ++i) {
      Entry& entry = list_[i];
      if (!update(entry)) continue;
      if (n > 0 && list_[n - 1].key > entry.key) {
        put(Entry(entry), n);
      } else if (n < i) {
        list_[n] = entry;
      }
      ++n;
    }
    list_.resize(n);
  }

  // Calls gets(entry) for each job that gets GPUs, and loses(entry) for each other running job. The
  // callbacks may change entry.runs. Requires: `running` is the number of running entries.
  template <class Gets, class Loses>
  void allocate_in_order(int32_t gpus, int32_t running, Gets&& gets, Loses&& loses) {
    for (Entry& entry : list_) {
      if (gpus == 0 && running == 0) return;
      running -= entry.runs;
      if (entry.gpus <= gpus) {
        gpus -= entry.gpus;
        gets(entry);
      } else if (entry.runs) {
        loses(entry);
      }
    }
  }

 private:
  // Inserts an entry at `at`, or earlier if entries before `at` have larger keys.
  void put(const Entry& entry, size_t at) {
    for (; at > 0 && list_[at - 1].key > entry.key; --at) list_[at] = list_[at - 1];
    list_[at] = entry;
  }

  std::vector<Entry> list_;
};

}  // namespace yard
