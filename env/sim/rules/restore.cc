#include "env/sim/rules/restore.h"

#include <algorithm>

#include "env/sim/rules/rules.h"
#include "env/sim/state/tables.h"

namespace yard {

void reserve_first_slots(const SimModel& fixed, SimState& s, int32_t count) {
  YARD_CHECK(s.head->high_water == 0, "a slot is already used");
  while (s.head->high_water < count) {
    // A policy may look up a slot that it remembers, to see that its job is gone.
    s.slot_records[take_slot(fixed, s)] = SlotRecord{};
  }
}

void release_reserved_slots(SimState& s) {
  for (int32_t slot = s.head->high_water - 1; slot >= 0; --slot) {
    if (s.phase[slot] == Phase::kFree) release_slot(s, slot);
  }
}

int32_t restore_job(const SimModel& fixed, SimState& s, const LiveJob& live, int32_t at) {
  StateHeader& h = *s.head;
  YARD_CHECK(live.since_us <= h.now_us, "a phase begins after the present time");
  if (at != kNone) {
    YARD_CHECK(s.phase[at] == Phase::kFree, "a slot holds two jobs");
    s.queue_next[at] = kNone;
    h.free_slot = at;  // the only one that arrive() finds
  }
  const int32_t slot = arrive(fixed, s, live.job);
  h.end_job = std::max(h.end_job, ++h.arrived);
  s.preempted[slot] = live.preempted;
  s.started[slot] = live.started;
  s.pinned[slot] = live.pinned;
  s.since_us[slot] = live.since_us;
  s.until_us[slot] = std::max(live.until_us, live.since_us);
  s.saved_us[slot] = live.saved_us;
  if (live.started > 0) s.first_start_us[slot] = live.since_us;
  s.attained_us[slot] = live.attained_us;
  if (live.phase == Phase::kRunning) s.attained_us[slot] -= h.now_us - live.since_us;
  YARD_CHECK(s.attained_us[slot] >= 0, "a job has run longer than its attained service");
  s.work_done_us[slot] =
      live.worked_us >= 0 ? live.worked_us : static_cast<double>(s.attained_us[slot]);
  if (live.phase == Phase::kWaiting || s.phase[slot] == Phase::kBlocked) return slot;

  queue_remove(s, slot);
  s.phase[slot] = live.phase;
  if (live.phase == Phase::kBlocked) {  // by a job that is not in the table
    s.queue_next[slot] = h.blocked_head;
    h.blocked_head = slot;
    ++h.blocked;
    return slot;
  }
  if (live.phase == Phase::kDone) {
    --h.live;
    ++h.finished;
    return slot;
  }
  if (live.phase == Phase::kStopping) return slot;
  YARD_CHECK(live.phase == Phase::kStarting || live.phase == Phase::kRunning,
             "invalid phase of a live job");
  YARD_CHECK(!live.parts.empty(), "a running job holds no GPUs");
  const bool plain = s.shape[slot] == kNone;
  int32_t chain = kNone, sum = 0;
  double speed = 0;
  for (size_t i = live.parts.size(); i-- > 0;) {
    const LivePart& part = live.parts[i];
    YARD_CHECK((s.free_mask[part.node] & part.mask) == part.mask, "a GPU is held twice");
    const int32_t gpus = count_bits(part.mask);
    int32_t tasks = 0;
    if (!plain) {
      const TaskNeed need = need_of(fixed.jobs.shapes, s.shape[slot], part.group);
      YARD_CHECK(need.gpu_milli == 0, "a live job must not hold a share of a GPU");
      tasks = part.tasks > 0 || need.gpus == 0 ? part.tasks : gpus / need.gpus;
    }
    chain = hold_part(fixed, s, slot, part.node, part.mask, part.group, tasks, chain);
    const double here = fixed.speed_on(s.job[slot], part.node);
    if (gpus > 0 && (speed == 0 || here < speed)) speed = here;
    sum += gpus;
  }
  YARD_CHECK(!plain || sum == s.gpus[slot], "a job holds another number of GPUs than it requests");
  s.first_part[slot] = chain;
  if (speed == 0) speed = 1;  // CPUs alone
  if (!plain) speed *= held_fraction_of_first_task_group(fixed.jobs.shapes, s, slot);
  s.rate[slot] = speed;
  if (live.phase == Phase::kRunning && live.worked_us >= 0) {
    // Up to the present run. It may have had another speed.
    const double present = static_cast<double>(h.now_us - live.since_us) * speed;
    s.work_done_us[slot] = std::max(live.worked_us - present, 0.0);
  }
  add_gpu_holder(s, slot);
  if (s.tenant[slot] != kNone) s.tenant_gpus[s.tenant[slot]] += s.gpus[slot];
  return slot;
}

void restore_vacating(const SimModel& fixed, SimState& s, const LivePart& part, int64_t until_us) {
  for (uint64_t rest = part.mask; rest != 0; rest &= rest - 1) {
    int64_t& ready_us =
        s.gpu_ready_us[fixed.spec.node_gpu0[part.node] + lowest_set_bit_index(rest)];
    ready_us = std::max(ready_us, until_us);
  }
  s.head->ready_horizon_us = std::max(s.head->ready_horizon_us, until_us);
}

LiveState::LiveState(const SimModel& fixed, int32_t slots, int64_t now_us) : fixed_(fixed) {
  const StateSizes sizes = sizes_for(fixed, slots);
  bytes_ = state_bytes(sizes);
  block_.reset(static_cast<std::byte*>(std::aligned_alloc(kColumnAlign, bytes_)));
  YARD_CHECK(block_ != nullptr, "no memory left for a state");
  state_ = state_in_block(block_.get(), sizes);
  init_empty_state(fixed_, state_, sizes, now_us);
}

}  // namespace yard
