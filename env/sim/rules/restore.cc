#include "env/sim/rules/restore.h"

#include <algorithm>

#include "env/sim/rules/rules.h"
#include "env/sim/state/tables.h"

namespace yard {

int32_t restore_job(const SimModel& fixed, SimState& s, const LiveJob& live) {
  StateHeader& h = *s.head;
  YARD_CHECK(live.since_us <= h.now_us, "a phase begins after the present time");
  const int32_t slot = arrive(fixed, s, live.job);
  ++h.arrived;
  ++h.end_job;
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
  // Only whether there is work to restore matters later: any run time counts as work done.
  s.work_done_us[slot] = static_cast<double>(s.attained_us[slot]);
  if (live.phase == Phase::kWaiting) return slot;

  queue_remove(s, slot);
  s.phase[slot] = live.phase;
  if (live.phase == Phase::kDone) {
    --h.live;
    ++h.finished;
    return slot;
  }
  if (live.phase == Phase::kStopping) return slot;
  YARD_CHECK(live.phase == Phase::kStarting || live.phase == Phase::kRunning,
             "invalid phase of a live job");
  YARD_CHECK(!live.parts.empty(), "a running job holds no GPUs");
  YARD_CHECK(s.shape[slot] == kNone, "a live job must request GPUs, not tasks");
  int32_t chain = kNone, sum = 0;
  double speed = fixed.speed_on(s.job[slot], live.parts.back().node);
  for (size_t i = live.parts.size(); i-- > 0;) {
    const LivePart& part = live.parts[i];
    YARD_CHECK((s.free_mask[part.node] & part.mask) == part.mask, "a GPU is held twice");
    chain = hold_part(fixed, s, slot, part.node, part.mask, 0, 0, chain);
    speed = std::min(speed, fixed.speed_on(s.job[slot], part.node));
    sum += count_bits(part.mask);
  }
  YARD_CHECK(sum == s.gpus[slot], "a job holds another number of GPUs than it requests");
  s.first_part[slot] = chain;
  s.rate[slot] = speed;
  held_add(s, slot);
  if (s.tenant[slot] != kNone) s.tenant_gpus[s.tenant[slot]] += s.gpus[slot];
  return slot;
}

void restore_vacating(const SimModel& fixed, SimState& s, const LivePart& part, int64_t until_us) {
  for (uint64_t rest = part.mask; rest != 0; rest &= rest - 1) {
    int64_t& ready_us = s.gpu_ready_us[fixed.spec.node_gpu0[part.node] + lowest_bit(rest)];
    ready_us = std::max(ready_us, until_us);
  }
  s.head->ready_horizon_us = std::max(s.head->ready_horizon_us, until_us);
}

LiveState::LiveState(const SimModel& fixed, int32_t slots, int64_t now_us) : fixed_(fixed) {
  const StateSizes sizes = sizes_for(fixed, slots);
  block_.reset(static_cast<std::byte*>(std::aligned_alloc(kColumnAlign, state_bytes(sizes))));
  YARD_CHECK(block_ != nullptr, "no memory left for a state");
  state_ = state_at(block_.get(), sizes);
  make_empty(fixed_, state_, sizes, now_us);
}

}  // namespace yard
