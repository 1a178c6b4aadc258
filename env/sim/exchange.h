// A job's all-reduce settings: its algorithm, and its priority on congested links. A scheduler may
// choose them when it starts the job. States have the columns for it only if some job of the world
// has the choice; otherwise each job uses its own algorithm, all at equal priority.
#pragma once

#include "env/sim/speed/contention.h"
#include "env/sim/speed/speed.h"
#include "env/sim/state.h"

namespace yard {

struct Exchange {
  Pattern all_reduce = Pattern::kNone;  // ring, tree, hierarchical; kNone: the job's own
  uint8_t priority = 0;                 // on links, below kLinkPriorities; higher goes first
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

// Returns whether the scheduler may choose the exchange of any job of the world.
YARD_HD inline bool anybody_chooses(const Fixed& f) { return f.speed.kind_by != nullptr; }

// Returns whether the scheduler may choose this job's exchange: an all-reduce of known size.
YARD_HD inline bool may_choose(const Fixed& f, const ClusterState& s, int32_t slot) {
  return anybody_chooses(f) && has_choice(f.speed, f.jobs.speed_class[s.job[slot]]);
}

// Returns whether the job may run with `e`. The default is always legal.
YARD_HD inline bool legal_exchange(const Fixed& f, const ClusterState& s, int32_t slot,
                                   const Exchange& e) {
  if (e.all_reduce == Pattern::kNone && e.priority == 0) return true;
  return may_choose(f, s, slot) && e.all_reduce <= Pattern::kHierarchical &&
         e.priority < kLinkPriorities;
}

// Returns the exchange of a job which holds GPUs; undefined for others.
YARD_HD inline Exchange exchange_of(const Fixed& f, const ClusterState& s, int32_t slot) {
  if (!anybody_chooses(f)) return {};
  return {s.all_reduce[slot], s.link_priority[slot]};
}

YARD_HD inline void set_exchange(const Fixed& f, ClusterState& s, int32_t slot, const Exchange& e) {
  if (!anybody_chooses(f)) return;
  s.all_reduce[slot] = e.all_reduce;
  s.link_priority[slot] = e.priority;
}

// Returns the number of links. Order: uplinks of nodes, of racks, of pods.
YARD_HD inline int32_t num_links(const SpecColumns& spec) {
  return spec.num_nodes + spec.num_racks + spec.num_pods;
}

// Returns the factor, at least 1, by which a link's load lengthens an exchange at that priority.
// load(priority) returns the link's load at a priority in bytes/s.
template <class Load>
YARD_HD double crowding_among(int32_t priority, int64_t capacity_bytes_per_s, const Load& load) {
  int64_t higher = 0;
  for (int32_t p = priority + 1; p < kLinkPriorities; ++p) higher += load(p);
  return crowding(load(priority), left_by_higher(higher, capacity_bytes_per_s));
}

// Returns crowding_among() for a running job on a link, by the state's loads.
YARD_HD inline double crowding_of(const Fixed& f, const ClusterState& s, int32_t slot, int32_t link,
                                  int64_t capacity_bytes_per_s) {
  if (!anybody_chooses(f)) return crowding(s.link_load[link], capacity_bytes_per_s);
  const int32_t links = num_links(f.spec);
  return crowding_among(s.link_priority[slot], capacity_bytes_per_s,
                        [&](int32_t priority) { return s.priority_load[priority * links + link]; });
}

}  // namespace yard
