// All live jobs in the order in which a preemptive scheduler serves them. GPUs are given out by
// number from the top, and jobs that do not fit are skipped.
#pragma once

#include <cstdint>
#include <vector>

namespace yard {

// An Entry has `key` (compared by >), `slot`, `gpus` and `runs`.
template <class Entry>
class JobServiceOrder {
 public:
  JobServiceOrder() { list_.reserve(256); }

  bool empty() const { return list_.empty(); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }

  // Inserts behind all entries with an equal key.
  void add(const Entry& entry) {
    list_.emplace_back();
    put(Entry(entry), list_.size() - 1);
  }

  // Calls `update` for each entry, which changes the entry or returns false to remove it. Then
  // sorts the list stably. Fast if keys change little.
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

  // Calls gets(entry) for each job that gets GPUs and loses(entry) for each running job that does
  // not. Both may change `runs`. Requires: `running` entries run.
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
  // An entry passes only those with a larger key.
  void put(const Entry& entry, size_t at) {
    for (; at > 0 && list_[at - 1].key > entry.key; --at) list_[at] = list_[at - 1];
    list_[at] = entry;
  }

  std::vector<Entry> list_;
};

}  // namespace yard
