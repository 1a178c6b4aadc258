// Rules of the simulation: which actions are legal, and their effects. Only advance.h reads
// `Truth`. Times are whole microseconds. Work is summed in doubles, in a fixed order.
#pragma once

#include "env/sim/rules/holding.h"
#include "env/sim/rules/kinds.h"
#include "env/sim/rules/rates.h"
#include "env/sim/rules/shape.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/exchange.h"
#include "env/sim/state/free_map.h"
#include "env/sim/state/queue.h"
#include "env/sim/state/state.h"

namespace yard {

// --- starting and stopping --------------------------------------------------------------------

// Returns whether all pieces with GPUs are on nodes of one GPU type.
YARD_HD inline bool pieces_have_one_type(const SimModel& f, const Piece* pieces,
                                         int32_t num_pieces) {
  int32_t type = kNone;
  for (int32_t i = 0; i < num_pieces; ++i) {
    const Piece& p = pieces[i];
    if (p.node < 0 || p.node >= f.spec.num_nodes || p.gpus == 0) continue;
    if (type != kNone && f.spec.node_type[p.node] != type) return false;
    type = f.spec.node_type[p.node];
  }
  return true;
}

// Returns whether the job may start on `pieces` now. Resources used by stopping jobs count as free.
YARD_HD inline bool legal_start(const SimModel& f, const SimState& s, int32_t slot,
                                const Piece* pieces, int32_t num_pieces,
                                const AllReduceSettings& exchange = {}) {
  if (slot < 0 || slot >= s.head->high_water) return false;
  const bool stops = s.phase[slot] == Phase::kStopping && !s.ended[slot];
  const bool moves = stops && f.allows.preempt && f.allows.move;
  if (s.phase[slot] != Phase::kWaiting && !moves) return false;
  if (!within_tenant_limit(f, s, slot) || !are_legal_all_reduce_settings(f, s, slot, exchange))
    return false;
  if (f.spec.one_type && !pieces_have_one_type(f, pieces, num_pieces)) return false;
  if (s.shape[slot] != kNone) return fits_shape(f, s, s.shape[slot], pieces, num_pieces);
  int32_t sum = 0, highest = kNone;
  for (int32_t i = 0; i < num_pieces; ++i) {
    const Piece& p = pieces[i];
    if (p.node < 0 || p.node >= f.spec.num_nodes || p.gpus < 1) return false;
    if (p.gpus > s.free_count[p.node]) return false;
    if (p.mask != 0 && (count_bits(p.mask) != p.gpus || (p.mask & ~s.free_mask[p.node]) != 0)) {
      return false;
    }
    // If nodes are in rising order, no node can occur twice.
    for (int32_t k = 0; k < i && p.node <= highest; ++k) {
      if (pieces[k].node == p.node) return false;
    }
    if (p.node > highest) highest = p.node;
    sum += p.gpus;
  }
  return sum == s.gpus[slot];
}

YARD_HD inline bool legal_preempt(const SimModel& f, const SimState& s, int32_t slot) {
  if (!f.allows.preempt) return false;
  if (slot < 0 || slot >= s.head->high_water || s.pinned[slot]) return false;
  return s.phase[slot] == Phase::kRunning || s.phase[slot] == Phase::kStarting;
}

// Returns whether the job's user and the cluster let a policy end the job before its work is done.
YARD_HD inline bool legal_end_early(const SimModel& f, const SimState& s, int32_t slot) {
  if (!f.allows.preempt) return false;
  if (slot < 0 || slot >= s.head->high_water) return false;
  return s.phase[slot] == Phase::kRunning && f.jobs.curves.may_end_early(s.job[slot]);
}

// Starts a job. The job runs as soon as its resources are vacated and, if it had run before, its
// work is restored. Requires: legal_start().
YARD_HD inline void start(const SimModel& f, SimState& s, int32_t slot, const Piece* pieces,
                          int32_t num_pieces, const AllReduceSettings& exchange = {}) {
  StateHeader& h = *s.head;
  set_all_reduce_settings(f, s, slot, exchange);
  int64_t ready_us = s.saved_us[slot] > h.now_us ? s.saved_us[slot] : h.now_us;
  if (s.phase[slot] == Phase::kWaiting) queue_remove(s, slot);
  double speed = 0;
  int32_t chain = kNone;
  const auto take = [&](int32_t node, uint64_t mask, int32_t group, int32_t tasks) {
    if (h.ready_horizon_us > h.now_us) {
      const int64_t at_us = resources_ready_us(f, s, slot, node, mask, group, tasks);
      if (at_us > ready_us) ready_us = at_us;
    }
    chain = hold_part(f, s, slot, node, mask, group, tasks, chain);
    // A gang runs at the speed of its slowest GPU.
    const double here = f.speed_on(s.job[slot], node);
    if (mask != 0 && (speed == 0 || here < speed)) speed = here;
  };
  const bool plain = s.shape[slot] == kNone;
  for (int32_t i = num_pieces - 1; plain && i >= 0; --i) {
    const Piece& p = pieces[i];
    take(p.node,
         p.mask != 0 ? p.mask : soonest_ready_gpus(f, s, p.node, s.free_mask[p.node], p.gpus), 0,
         0);
  }
  for (int32_t i = 0; !plain && i < num_pieces; ++i) {
    const Piece& p = pieces[i];
    const TaskNeed need = need_of(f.jobs.shapes, s.shape[slot], p.group);
    const auto pick = [&](uint64_t mask, int32_t count) {
      return soonest_ready_gpus(f, s, p.node, mask, count);
    };
    if (need.gpu_milli == 0) {
      take(p.node, p.mask != 0 ? p.mask : pick(s.free_mask[p.node], p.gpus), p.group, p.tasks);
      continue;
    }
    for (int32_t t = 0; t < p.tasks; ++t) {  // each share of a GPU is a part of its own
      NodeLedger ledger(f, s, p.node);
      uint64_t mask = p.mask;
      if (mask == 0) ledger.take_gpu_share(f, s, need, pick, mask);
      take(p.node, mask, p.group, 1);
    }
  }
  if (s.work_done_us[slot] > 0) ready_us += f.restore_us(s.job[slot], s.gpus[slot]);
  s.first_part[slot] = chain;
  add_sharing_kind_to_gpus(f, s, slot);
  if (speed == 0) speed = 1;  // CPUs alone
  s.rate[slot] = f.rated ? find_isolated_rate(f, s, slot, footprint_of(f, s, slot)).rate
                 : plain ? speed
                         : speed * held_fraction_of_first_task_group(f.jobs.shapes, s, slot);
  s.phase[slot] = ready_us > h.now_us ? Phase::kStarting : Phase::kRunning;
  s.since_us[slot] = h.now_us;
  s.until_us[slot] = ready_us;
  if (f.faults) s.run_start_us[slot] = ready_us;
  if (s.first_start_us[slot] == kNone) s.first_start_us[slot] = h.now_us;
  ++s.started[slot];
  ++h.starts;
  add_gpu_holder(s, slot);
  if (s.tenant[slot] != kNone) s.tenant_gpus[s.tenant[slot]] += s.gpus[slot];
  if (s.phase[slot] == Phase::kRunning) {
    begin_contention(f, s, slot);
  } else if (f.rated) {
    mark_neighbours_stale(f, s, slot);  // the starting job reserves CPUs
  }
  mark_next_event_stale(s, slot);
}

// Gives back all resources that the job holds.
YARD_HD inline void release(const SimModel& f, SimState& s, int32_t slot) {
  if (s.phase[slot] == Phase::kRunning) {
    end_contention(f, s, slot);
  } else if (f.rated) {
    mark_neighbours_stale(f, s, slot);
  }
  remove_sharing_kind_from_gpus(f, s, slot);
  for (int32_t part = s.first_part[slot]; part != kNone;) {
    const int32_t next = s.part_next[part];
    free_part_resources(f, s, slot, part);
    free_part_record(s, part);
    part = next;
  }
  s.first_part[slot] = kNone;
  if (s.tenant[slot] != kNone) s.tenant_gpus[s.tenant[slot]] -= s.gpus[slot];
  remove_gpu_holder(s, slot);
}

// Adds the work and run time of a running job since `since_us`, and sets `since_us` to now.
YARD_HD inline void update_progress_to_now(const SimModel& f, SimState& s, int32_t slot) {
  const int64_t now_us = s.head->now_us;
  const int64_t ran_us = now_us - s.since_us[slot];
  if (f.faults) {  // checkpoints are taken at multiples of checkpoint_us since the run began
    const int64_t whole = (now_us - s.run_start_us[slot]) / f.costs.checkpoint_us;
    const int64_t last_us = s.run_start_us[slot] + whole * f.costs.checkpoint_us;
    if (whole > 0 && last_us > s.since_us[slot]) {
      s.checkpointed_us[slot] =
          s.work_done_us[slot] + static_cast<double>(last_us - s.since_us[slot]) * s.rate[slot];
    }
  }
  if (f.rated && s.traffic[slot] > 0) {
    s.head->moved_bytes += 1e-6 * static_cast<double>(ran_us) *
                           static_cast<double>(s.traffic[slot] * s.nodes_with_gpus[slot]) *
                           (s.rate[slot] / s.isolated_rate[slot]);
  }
  s.attained_us[slot] += ran_us;
  s.work_done_us[slot] += static_cast<double>(ran_us) * s.rate[slot];
  s.since_us[slot] = s.head->now_us;
}

// Requeues a job that has just lost its GPUs; an unfinished save is completed first.
YARD_HD inline void requeue_job(SimState& s, int32_t slot) {
  s.since_us[slot] = s.head->now_us;
  s.until_us[slot] = s.saved_us[slot];
  if (s.saved_us[slot] > s.head->now_us) {
    s.phase[slot] = Phase::kStopping;
  } else {
    s.phase[slot] = Phase::kWaiting;
    queue_append(s, slot);
  }
}

// Updates the rates of jobs whose neighbours changed.
YARD_HD inline void refresh_rates(const SimModel& f, SimState& s) {
  StateHeader& h = *s.head;
  for (int32_t i = 0; i < h.num_stale; ++i) {
    const int32_t slot = s.stale[i];
    s.is_stale[slot] = 0;
    if (s.phase[slot] != Phase::kRunning) continue;
    const double rate = contended_rate(f, s, slot);
    if (rate == s.rate[slot]) continue;
    update_progress_to_now(f, s, slot);
    s.rate[slot] = rate;
    mark_next_event_stale(s, slot);
    mark_changed(s, slot);  // the job's remaining time as a line (work_left_line) is outdated
  }
  h.num_stale = 0;
}

// Preempts a job. A running job keeps its GPUs busy while it saves. A starting job leaves its GPUs
// at once, but waits again only when its earlier save is complete. Requires: legal_preempt().
YARD_HD inline void preempt(const SimModel& f, SimState& s, int32_t slot) {
  const int64_t now_us = s.head->now_us;
  int64_t vacated_us = now_us;
  if (s.phase[slot] == Phase::kRunning) {
    update_progress_to_now(f, s, slot);
    if (f.faults) s.checkpointed_us[slot] = s.work_done_us[slot];
    vacated_us = s.saved_us[slot] = now_us + f.save_us(s.job[slot]);
  }
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    record_vacating_part(f, s, slot, p, vacated_us);
  }
  release(f, s, slot);
  ++s.preempted[slot];
  ++s.head->preemptions;
  requeue_job(s, slot);
  mark_next_event_stale(s, slot);
}

// Ends a job early: the job leaves its GPUs at once and saves nothing. The next event, at the same
// moment, reports the end and unblocks dependent jobs. Requires: legal_end_early().
YARD_HD inline void end_early(const SimModel& f, SimState& s, int32_t slot) {
  update_progress_to_now(f, s, slot);
  release(f, s, slot);
  s.ended[slot] = 1;
  s.phase[slot] = Phase::kStopping;
  s.until_us[slot] = s.head->now_us;
  mark_next_event_stale(s, slot);
}

// --- jobs arrive ---------------------------------------------------------------------------------

// Initialises the state of a cluster without jobs. Requires: `s` has state_bytes() bytes, and a
// slot for each job that can be live at once.
YARD_HD inline void init_empty_state(const SimModel& f, SimState& s, const StateSizes& z,
                                     int64_t now_us) {
  const FreeNodeIndex map(f.spec);
  StateHeader& h = *s.head;
  h = StateHeader{};
  h.now_us = now_us;
  h.timer_us = kNever;
  h.slots = z.slots;
  h.free_slot = h.free_part = h.queue_head = h.queue_tail = h.blocked_head = h.next_fault = kNone;
  *s.next_rank = 0;
  for (int32_t k = 0; k < z.classes; ++k) {
    s.class_head[k] = s.class_tail[k] = kNone;
    s.class_count[k] = 0;
  }
  for (int32_t i = 0; i < (z.max_node_gpus + 1) * map.words; ++i) s.free_bits[i] = 0;
  for (int32_t i = 0; i < (z.max_node_gpus + 1) * map.summary_words; ++i) s.free_summary[i] = 0;
  for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
    s.free_mask[m] = mask_of_low_bits(f.spec.node_gpus[m]);
    s.free_count[m] = f.spec.node_gpus[m];
    map.set(s, s.free_count[m], m);
  }
  for (int32_t g = 0; g < f.spec.total_gpus; ++g) s.gpu_ready_us[g] = 0;
  for (int32_t t = 0; t < z.tenants; ++t) s.tenant_gpus[t] = 0;
  for (int32_t i = 0; i < z.links; ++i) s.link_load[i] = 0;
  for (int32_t i = 0; i < kLinkPriorities * z.choosing_links; ++i) s.priority_load[i] = 0;
  for (int32_t m = 0; m < z.fault_nodes; ++m) {
    s.down_mask[m] = s.idle_down_mask[m] = 0;
    s.node_down_until_us[m] = 0;
  }
  for (int32_t g = 0; g < z.fault_gpus; ++g) s.down_until_us[g] = 0;
  for (int32_t w = 0; w < z.parent_words; ++w) s.ended_bits[w] = 0;
  for (int32_t m = 0; m < z.resource_nodes; ++m) {
    s.free_cpu_milli[m] = f.spec.node_cpu_milli[m];
    s.free_mem_mib[m] = f.spec.node_mem_mib[m];
    s.node_ready_us[m] = s.leaving_cpu_milli[m] = s.leaving_ram_mib[m] = 0;
  }
  for (int32_t g = 0; g < z.shared_gpus; ++g) s.leaving_milli[g] = s.leaving_mem_mib[g] = 0;
  for (int32_t g = 0; g < z.conflict_gpus; ++g) s.share_kinds[g] = s.leaving_kinds[g] = 0;
  if (z.shared_gpus > 0) {
    for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
      s.shared_mask[m] = 0;
      for (int32_t g = 0; g < f.spec.node_gpus[m]; ++g) {
        s.share_milli[f.spec.node_gpu0[m] + g] = kWholeGpu;
        s.share_mem_mib[f.spec.node_gpu0[m] + g] = f.spec.type_mem_mib[f.spec.node_type[m]];
      }
    }
  }
  h.free_gpus = f.spec.total_gpus;
}

// Returns whether all jobs that job `j` depends on have ended or are not part of this episode.
YARD_HD inline bool has_no_pending_dependency(const SimModel& f, const SimState& s, int32_t j) {
  const JobColumns& jobs = f.jobs;
  if (jobs.first_after == nullptr) return true;
  for (int32_t i = jobs.first_after[j]; i < jobs.first_after[j + 1]; ++i) {
    const int32_t before = jobs.after_job[i], bit = jobs.parent[before];
    if (before < s.head->first_job || before >= s.head->end_job) continue;
    if ((s.ended_bits[bit >> 6] >> (bit & 63) & 1) == 0) return false;
  }
  return true;
}

// Puts job `j` of the table into the queue or the list of blocked jobs. Returns the job's slot.
YARD_HD inline int32_t arrive(const SimModel& f, SimState& s, int32_t j) {
  const int32_t slot = take_slot(f, s);
  s.phase[slot] = Phase::kWaiting;
  s.job[slot] = j;
  s.gpus[slot] = f.jobs.gpus[j];
  s.request_class[slot] = f.jobs.request_class[j];
  s.tenant[slot] = f.jobs.tenant == nullptr ? kNone : f.jobs.tenant[j];
  s.shape[slot] = f.jobs.shape == nullptr ? kNone : f.jobs.shape[j];
  s.user[slot] = f.jobs.user[j];
  s.submit_us[slot] = f.jobs.submit_us[j];
  s.first_start_us[slot] = kNone;
  s.since_us[slot] = s.until_us[slot] = s.saved_us[slot] = s.head->now_us;
  s.attained_us[slot] = 0;
  s.work_done_us[slot] = 0;
  s.rate[slot] = 0;
  s.preempted[slot] = s.started[slot] = 0;
  s.pinned[slot] = s.ended[slot] = 0;
  s.first_part[slot] = kNone;
  if (f.rated) s.traffic[slot] = 0;  // columns about rates are valid only while the job runs
  set_all_reduce_settings(f, s, slot, {});
  if (f.faults) {
    s.failed[slot] = 0;
    s.checkpointed_us[slot] = 0;
  }
  ++s.head->live;
  if (has_no_pending_dependency(f, s, j)) {
    queue_append(s, slot);
  } else {
    s.phase[slot] = Phase::kBlocked;
    s.queue_next[slot] = s.head->blocked_head;
    s.head->blocked_head = slot;
    ++s.head->blocked;
  }
  mark_changed(s, slot);
  return slot;
}

// Marks job `j` as ended. Jobs with no unfinished dependency join the queue, in submission order.
YARD_HD inline void unblock_dependents(const SimModel& f, SimState& s, int32_t j) {
  if (f.jobs.first_after == nullptr || f.jobs.parent[j] == kNone) return;
  StateHeader& h = *s.head;
  const int32_t bit = f.jobs.parent[j];
  s.ended_bits[bit >> 6] |= uint64_t{1} << (bit & 63);
  for (;;) {
    // The list of blocked jobs is short and unsorted: each pass searches it for the earliest job.
    int32_t* best = nullptr;
    for (int32_t* link = &h.blocked_head; *link != kNone; link = &s.queue_next[*link]) {
      const bool earlier = best == nullptr || s.job[*link] < s.job[*best];
      if (earlier && has_no_pending_dependency(f, s, s.job[*link])) best = link;
    }
    if (best == nullptr) return;
    const int32_t slot = *best;
    *best = s.queue_next[slot];
    --h.blocked;
    s.phase[slot] = Phase::kWaiting;
    s.since_us[slot] = h.now_us;
    queue_append(s, slot);
    mark_changed(s, slot);
  }
}

// --- GPUs go down and come back ------------------------------------------------------------------

// Returns the number of whole GPUs that a job holds, without shares of GPUs.
YARD_HD inline int32_t held_whole_gpus(const SimModel& f, const SimState& s, int32_t slot) {
  int32_t gpus = 0;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (!is_gpu_share(f, s, slot, p)) gpus += count_bits(s.part_mask[p]);
  }
  return gpus;
}

// Stops a job at once after a failure and requeues it. The work since its last checkpoint is lost.
// Requires: the job holds GPUs.
YARD_HD inline void fail(const SimModel& f, SimState& s, int32_t slot) {
  const int64_t now_us = s.head->now_us;
  if (s.phase[slot] == Phase::kRunning) {
    update_progress_to_now(f, s, slot);
    const int64_t lost_us = (now_us - s.run_start_us[slot]) % f.costs.checkpoint_us;
    s.head->lost_time_us += WideUs{lost_us} * held_whole_gpus(f, s, slot);
    s.work_done_us[slot] = s.checkpointed_us[slot];
  }
  release(f, s, slot);
  ++s.failed[slot];
  ++s.head->failures;
  requeue_job(s, slot);
  mark_next_event_stale(s, slot);
  mark_changed(s, slot);
}

// Prevents allocation of the GPUs in `mask` before `until_us`; jobs that hold these GPUs keep them.
// If `mask` has all GPUs of the node, the node accepts no tasks without GPUs either.
YARD_HD inline void take_gpus_down(const SimModel& f, SimState& s, int32_t node, uint64_t mask,
                                   int64_t until_us) {
  if (is_whole_node(f, node, mask) && until_us > s.node_down_until_us[node]) {
    s.node_down_until_us[node] = until_us;
  }
  for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
    int64_t& down_us = s.down_until_us[f.spec.node_gpu0[node] + lowest_set_bit_index(rest)];
    if (until_us > down_us) down_us = until_us;
  }
  s.down_mask[node] |= mask;
  const uint64_t idle = mask & s.free_mask[node];
  s.idle_down_mask[node] |= idle;
  s.head->down_gpus += count_bits(idle);
  set_free_gpus(f, s, node, s.free_mask[node] & ~idle);
}

// Brings up the GPUs in `mask` whose down_until_us has passed. (node_down_until_us needs no end.)
YARD_HD inline void bring_gpus_up(const SimModel& f, SimState& s, int32_t node, uint64_t mask) {
  for (uint64_t rest = mask & s.down_mask[node]; rest != 0; rest &= rest - 1) {
    const int32_t gpu = lowest_set_bit_index(rest);
    if (s.down_until_us[f.spec.node_gpu0[node] + gpu] > s.head->now_us)
      mask &= ~(uint64_t{1} << gpu);
  }
  s.down_mask[node] &= ~mask;
  const uint64_t idle = mask & s.idle_down_mask[node];
  s.idle_down_mask[node] &= ~idle;
  s.head->down_gpus -= count_bits(idle);
  set_free_gpus(f, s, node, s.free_mask[node] | idle);
}

}  // namespace yard
