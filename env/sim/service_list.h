// All live jobs in the order in which a preemptive scheduler of a published rule set serves them.
// GPUs are given out by counting, from the top, skipping who does not fit.
#pragma once

#include <cstdint>
#include <vector>

namespace yard {

// An Entry has `key` (compared by >), `slot`, `gpus` and `runs`.
template <class Entry>
class ServiceList {
 public:
  ServiceList() { list_.reserve(256); }

  bool empty() const { return list_.empty(); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }

  // Behind all of an equal key.
  void add(const Entry& entry) {
    list_.emplace_back();
    put(Entry(entry), list_.size() - 1);
  }

  // `update` changes an entry, or returns false where its job is gone. The list is sorted again on
  // the way: stably, so that what ties keeps its order. Quick where keys change little.
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

  // Calls gets(entry) for everybody who gets GPUs, and loses(entry) for whoever runs and does not;
  // both may change `runs`. Requires: `running` entries run.
  template <class Gets, class Loses>
  void give_out(int32_t gpus, int32_t running, Gets&& gets, Loses&& loses) {
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
