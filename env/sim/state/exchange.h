// A job's all-reduce settings: the algorithm, and the priority on congested links. A scheduler may
// choose algorithm and priority when it starts the job. States have columns for these settings only
// if some job permits the choice. If no job permits a choice, jobs use their own algorithms at
// equal priority.
#pragma once

#include "env/sim/speed/contention.h"
#include "env/sim/speed/speed.h"
#include "env/sim/state/state.h"

namespace yard {

struct AllReduceSettings {
  Pattern all_reduce = Pattern::kNone;  // ring, tree, hierarchical; kNone: the job's own
  uint8_t priority = 0;  // priority on links, below kLinkPriorities; higher goes first
  friend bool operator==(const AllReduceSettings&, const AllReduceSettings&) = default;
};

// Returns whether the scheduler may choose the exchange of any job.
YARD_HD inline bool any_job_may_choose_all_reduce(const SimModel& f) {
  return f.speed.kind_by_all_reduce != nullptr;
}

// Returns whether the scheduler may choose this job's exchange: an all-reduce of known size.
YARD_HD inline bool job_may_choose_all_reduce(const SimModel& f, const SimState& s, int32_t slot) {
  return any_job_may_choose_all_reduce(f) &&
         may_choose_all_reduce(f.speed, f.jobs.speed_class[s.job[slot]]);
}

// Returns whether the job may run with the settings `e`. The default settings are always legal.
YARD_HD inline bool are_legal_all_reduce_settings(const SimModel& f, const SimState& s,
                                                  int32_t slot, const AllReduceSettings& e) {
  if (e.all_reduce == Pattern::kNone && e.priority == 0) return true;
  return job_may_choose_all_reduce(f, s, slot) && e.all_reduce <= Pattern::kHierarchical &&
         e.priority < kLinkPriorities;
}

// Returns the settings of a job which holds GPUs. Requires: the job holds GPUs.
YARD_HD inline AllReduceSettings all_reduce_settings_of(const SimModel& f, const SimState& s,
                                                        int32_t slot) {
  if (!any_job_may_choose_all_reduce(f)) return {};
  return {s.all_reduce[slot], s.link_priority[slot]};
}

YARD_HD inline void set_all_reduce_settings(const SimModel& f, SimState& s, int32_t slot,
                                            const AllReduceSettings& e) {
  if (!any_job_may_choose_all_reduce(f)) return;
  s.all_reduce[slot] = e.all_reduce;
  s.link_priority[slot] = e.priority;
}

// Returns the number of links, which are uplinks of nodes, then of racks, then of pods.
YARD_HD inline int32_t num_links(const SpecColumns& spec) {
  return spec.num_nodes + spec.num_racks + spec.num_pods;
}

// Returns the factor, at least 1, by which a link's load lengthens an exchange of `priority`.
// load(p) returns the link's load of priority p in bytes/s.
template <class Load>
YARD_HD double exchange_slowdown_at(int32_t priority, int64_t capacity_bytes_per_s,
                                    const Load& load) {
  int64_t higher = 0;
  for (int32_t p = priority + 1; p < kLinkPriorities; ++p) higher += load(p);
  return exchange_slowdown(load(priority), capacity_left(higher, capacity_bytes_per_s));
}

// Returns exchange_slowdown_at() for a running job on `link`, with the loads of the state.
YARD_HD inline double exchange_slowdown_of(const SimModel& f, const SimState& s, int32_t slot,
                                           int32_t link, int64_t capacity_bytes_per_s) {
  if (!any_job_may_choose_all_reduce(f))
    return exchange_slowdown(s.link_load[link], capacity_bytes_per_s);
  const int32_t links = num_links(f.spec);
  return exchange_slowdown_at(s.link_priority[slot], capacity_bytes_per_s, [&](int32_t priority) {
    return s.priority_load[priority * links + link];
  });
}

}  // namespace yard
