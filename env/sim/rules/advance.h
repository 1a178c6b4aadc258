// Event loop of the simulation: reset() begins an episode, advance() moves the clock to the next
// event and applies all events due at that time. Only this file reads `Truth`, the true run times.
#pragma once

#include "env/sim/rules/rules.h"
#include "env/sim/state/event_queue.h"
#include "env/sim/state/truth.h"

namespace yard {

// Initialises an empty cluster whose next event is the arrival of the first of jobs [first, end).
// Requires: `s` has state_bytes() bytes, and a slot for each job which can be live at once.
YARD_HD inline void reset(const SimModel& f, SimState& s, const StateSizes& z,
                          EventQueue& event_queue, int32_t first, int32_t end) {
  init_empty_state(f, s, z, first < end ? f.jobs.submit_us[first] : 0);
  s.head->first_job = s.head->arrived = first;
  s.head->end_job = end;
  event_queue.clear(z.slots);
}

namespace detail {

// Reschedules the next event of each dirty slot. A slot is marked dirty by start(), by preempt()
// and by a change of its job's rate.
YARD_HD inline void schedule_events(const Truth& truth, SimState& s, EventQueue& event_queue) {
  StateHeader& h = *s.head;
  for (int32_t i = 0; i < h.num_dirty; ++i) {
    const int32_t slot = s.dirty[i];
    s.is_dirty[slot] = 0;
    switch (s.phase[slot]) {
      case Phase::kRunning: {
        const double left = static_cast<double>(truth.work_us[s.job[slot]]) - s.work_done_us[slot];
        const double wall = s.rate[slot] == 1 ? left : left / s.rate[slot];
        auto whole = static_cast<int64_t>(wall);
        // The time is rounded up, so that no job ends before its work is done.
        if (static_cast<double>(whole) < wall) ++whole;
        event_queue.put(slot, s.job[slot], s.since_us[slot] + (whole > 0 ? whole : 0));
        break;
      }
      case Phase::kStarting:
      case Phase::kStopping:
        event_queue.put(slot, s.job[slot], s.until_us[slot]);
        break;
      default:
        event_queue.remove(slot);
    }
  }
  h.num_dirty = 0;
}

// Marks a job as done and unblocks its dependents. Requires: the job holds no GPUs.
YARD_HD inline void mark_done(const SimModel& f, SimState& s, int32_t slot) {
  s.phase[slot] = Phase::kDone;
  --s.head->live;
  ++s.head->finished;
  unblock_dependents(f, s, s.job[slot]);
}

YARD_HD inline void finish(const SimModel& f, SimState& s, int32_t slot) {
  update_progress_to_now(f, s, slot);
  release(f, s, slot);
  mark_done(f, s, slot);
}

// Ends the phase of the job in `slot`. Marks a job which begins to run dirty, to schedule its end.
YARD_HD inline void end_phase(const SimModel& f, SimState& s, int32_t slot) {
  switch (s.phase[slot]) {
    case Phase::kRunning:
      finish(f, s, slot);
      break;
    case Phase::kStarting:
      s.phase[slot] = Phase::kRunning;
      s.since_us[slot] = s.head->now_us;
      begin_contention(f, s, slot);
      mark_next_event_stale(s, slot);
      break;
    default:  // kStopping: ended early by a policy, or saved and to be requeued
      if (s.ended[slot]) {
        mark_done(f, s, slot);
        break;
      }
      s.phase[slot] = Phase::kWaiting;
      s.since_us[slot] = s.head->now_us;
      queue_append(s, slot);
  }
  mark_changed(s, slot);
}

// Returns the slot of the first job after `last`, in order of submission, which the fault hits;
// kNone if none. A fault of a whole node hits all jobs on the node, a fault of GPUs only jobs on
// these GPUs. The result must not depend on the order of `holder_slots`, which depends on history.
YARD_HD inline int32_t next_affected_job(const SimModel& f, const SimState& s, const Fault& fault,
                                         int32_t last) {
  const bool whole = is_whole_node(f, fault.node, fault.mask);
  int32_t best = kNone;
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t slot = s.holder_slots[i];
    if (s.job[slot] <= last || (best != kNone && s.job[slot] > s.job[best])) continue;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      if (s.part_node[p] != fault.node) continue;
      if (whole || (s.part_mask[p] & fault.mask) != 0) best = slot;
    }
  }
  return best;
}

YARD_HD inline void apply_fault(const SimModel& f, SimState& s, const Fault& fault) {
  if (fault.kind == FaultKind::kRepair) {
    bring_gpus_up(f, s, fault.node, fault.mask);
    return;
  }
  take_gpus_down(f, s, fault.node, fault.mask, fault.until_us);
  if (fault.kind == FaultKind::kDrain) return;
  for (int32_t slot = next_affected_job(f, s, fault, kNone); slot != kNone;) {
    const int32_t job = s.job[slot];
    if (fault.kind == FaultKind::kFail) {
      fail(f, s, slot);
    } else if (s.phase[slot] != Phase::kRunning || f.save_us(job) <= fault.notice_us) {
      preempt(f, s, slot);
      mark_changed(s, slot);
    }  // a job which cannot save within the notice runs until the GPUs fail
    slot = next_affected_job(f, s, fault, job);
  }
}

// Sets `next_fault` to the first fault at or after the present time. Earlier faults are ignored.
YARD_HD inline void find_next_fault(const Truth& truth, SimState& s) {
  int32_t low = 0, high = truth.num_faults;
  while (low < high) {
    const int32_t mid = (low + high) / 2;
    if (truth.faults[mid].at_us < s.head->now_us) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  s.head->next_fault = low;
}

}  // namespace detail

YARD_HD inline bool all_done(const SimState& s) {
  return s.head->arrived == s.head->end_job && s.head->live == 0;
}

// Clears the list of changed slots, and frees the slots of jobs which finished in the last step.
YARD_HD inline void clear_changes_and_free_finished_slots(SimState& s) {
  StateHeader& h = *s.head;
  for (int32_t i = 0; i < h.num_changed; ++i) {
    const int32_t slot = s.changed[i];
    s.is_changed[slot] = 0;
    if (s.phase[slot] == Phase::kDone) release_slot(s, slot);
  }
  h.num_changed = 0;
}

// Returns the time of the next event; kNever if no event will occur unless a policy acts.
YARD_HD inline int64_t next_event_us(const SimModel& f, const Truth& truth, SimState& s,
                                     EventQueue& event_queue) {
  if (f.rated) refresh_rates(f, s);
  detail::schedule_events(truth, s, event_queue);
  const StateHeader& h = *s.head;
  int64_t at_us = event_queue.next_us();
  const auto at_most = [&at_us](int64_t us) {
    if (us < at_us) at_us = us;
  };
  if (h.arrived < h.end_job) at_most(f.jobs.submit_us[h.arrived]);
  at_most(h.timer_us);
  if (f.faults) {
    if (h.next_fault == kNone) detail::find_next_fault(truth, s);
    // Faults after the end of the last job are ignored.
    if (!all_done(s) && h.next_fault < truth.num_faults) at_most(truth.faults[h.next_fault].at_us);
  }
  return at_us < h.now_us ? h.now_us : at_us;  // overdue events happen now
}

// Moves the clock to `to_us` and updates the time integrals. Requires: no event is before `to_us`.
YARD_HD inline void pass_time(const SimModel& f, SimState& s, int64_t to_us) {
  StateHeader& h = *s.head;
  const WideUs dt_us = to_us - h.now_us;
  h.job_time_us += dt_us * h.live;
  h.held_time_us += dt_us * (f.spec.total_gpus - h.free_gpus - h.down_gpus);
  h.down_time_us += dt_us * h.down_gpus;
  h.now_us = to_us;
}

// Moves the clock to the next event and applies all events due then: ends of phases in order of
// jobs, then faults, then arrivals. Returns false and keeps the clock if no event is left.
YARD_HD inline bool advance(const SimModel& f, const Truth& truth, SimState& s,
                            EventQueue& event_queue) {
  clear_changes_and_free_finished_slots(s);
  const int64_t at_us = next_event_us(f, truth, s, event_queue);
  if (at_us == kNever) return false;
  StateHeader& h = *s.head;
  pass_time(f, s, at_us);
  while (event_queue.next_us() <= at_us) {
    const int32_t slot = event_queue.top();
    event_queue.remove(slot);
    detail::end_phase(f, s, slot);
    if (h.num_dirty > 0) detail::schedule_events(truth, s, event_queue);
  }
  while (f.faults && h.next_fault < truth.num_faults && truth.faults[h.next_fault].at_us <= at_us) {
    detail::apply_fault(f, s, truth.faults[h.next_fault++]);
  }
  while (h.arrived < h.end_job && f.jobs.submit_us[h.arrived] <= at_us) arrive(f, s, h.arrived++);
  if (h.timer_us <= at_us) h.timer_us = kNever;
  return true;
}

}  // namespace yard
