// How a job's all-reduce runs, where the scheduler may say it as it starts the job: by which
// algorithm, and who goes first on a link that is full. Only where some job of the world has that
// choice do states keep what this needs; elsewhere every job exchanges as it likes, all alike.
#pragma once

#include "env/sim/speed/contention.h"
#include "env/sim/speed/speed.h"
#include "env/sim/state.h"

namespace yard {

struct Exchange {
  Pattern all_reduce = Pattern::kNone;  // ring, tree, two levels; kNone: the job's own
  uint8_t priority = 0;                 // on links; higher goes first, below kLinkPriorities
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

// Whether any job of the world has the choice.
YARD_HD inline bool anybody_chooses(const Fixed& f) { return f.speed.kind_by != nullptr; }

// Whether this one has: it exchanges by an all-reduce, of which the size is known.
YARD_HD inline bool may_choose(const Fixed& f, const ClusterState& s, int32_t slot) {
  return anybody_chooses(f) && has_choice(f.speed, f.jobs.speed_class[s.job[slot]]);
}

YARD_HD inline bool legal_exchange(const Fixed& f, const ClusterState& s, int32_t slot,
                                   const Exchange& e) {
  if (e.all_reduce == Pattern::kNone && e.priority == 0) return true;
  return may_choose(f, s, slot) && e.all_reduce <= Pattern::kHierarchical &&
         e.priority < kLinkPriorities;
}

// Of a job that holds GPUs; of others it means nothing.
YARD_HD inline Exchange exchange_of(const Fixed& f, const ClusterState& s, int32_t slot) {
  if (!anybody_chooses(f)) return {};
  return {s.all_reduce[slot], s.link_priority[slot]};
}

YARD_HD inline void set_exchange(const Fixed& f, ClusterState& s, int32_t slot, const Exchange& e) {
  if (!anybody_chooses(f)) return;
  s.all_reduce[slot] = e.all_reduce;
  s.link_priority[slot] = e.priority;
}

// Nodes' uplinks first, then racks', then pods'.
YARD_HD inline int32_t num_links(const SpecColumns& spec) {
  return spec.num_nodes + spec.num_racks + spec.num_pods;
}

// How many times as long an exchange at that priority takes over the link, of whose loads
// load(priority) tells.
template <class Load>
YARD_HD double crowding_among(int32_t priority, int64_t capacity_bytes_per_s, const Load& load) {
  int64_t higher = 0;
  for (int32_t p = priority + 1; p < kLinkPriorities; ++p) higher += load(p);
  return crowding(load(priority), left_by_higher(higher, capacity_bytes_per_s));
}

// The same of a running job's.
YARD_HD inline double crowding_of(const Fixed& f, const ClusterState& s, int32_t slot, int32_t link,
                                  int64_t capacity_bytes_per_s) {
  if (!anybody_chooses(f)) return crowding(s.link_load[link], capacity_bytes_per_s);
  const int32_t links = num_links(f.spec);
  return crowding_among(s.link_priority[slot], capacity_bytes_per_s,
                        [&](int32_t priority) { return s.priority_load[priority * links + link]; });
}

}  // namespace yard
