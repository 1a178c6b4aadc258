#include "env/sim/rulesets/slot_sim.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/sim/rulesets/published.h"

namespace yard {
SlotSim::SlotSim(const Replay& replay, std::string rules, Submission submission)
    : replay_(replay),
      rules_(std::move(rules)),
      submission_(submission),
      world_(without_costs(replay.fixed), replay.end_job - replay.first_job),
      s_(world_.state()),
      work_us_(replay.workload.truth().work_us) {
  check_published(replay, rules_);
  world_.reset(replay.first_job, replay.end_job);
  if (submission_ == Submission::kCut) s_.head->now_us -= s_.head->now_us % kUsPerS;
  pieces_.resize(static_cast<size_t>(replay.fixed.spec.num_nodes));
  out_.jobs.resize(static_cast<size_t>(replay.workload.size()));
  out_.begin_us = s_.head->now_us;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) open_ += replay.workload.scored(j);
  if (open_ == 0) open_ = INT32_MAX;
  find_next_events();
}

void SlotSim::find_next_events() {
  const Head& h = *s_.head;
  if (h.arrived == h.end_job) {
    arrival_us_ = arrival_s_ = kNever;
    return;
  }
  arrival_us_ = replay_.fixed.jobs.submit_us[h.arrived];
  const int64_t up_us = submission_ == Submission::kRoundedUp ? kUsPerS - 1 : 0;
  arrival_s_ = (arrival_us_ + up_us) / kUsPerS;
}

int64_t SlotSim::run_us(int32_t slot) const {
  const int64_t run_us = work_us_[s_.job[slot]];
  if (run_us >= 0) return run_us;
  throw InputError("trace", "run times (rule set " + rules_ + " does not support profiles)",
                   "none for job number " + std::to_string(s_.job[slot]));
}

void SlotSim::begin_event(int64_t at_s) {
  now_s_ = at_s;
  begin_event_us(at_s * kUsPerS);
}

void SlotSim::begin_event_us(int64_t at_us) {
  clear_changed(s_);
  pass_time(world_.fixed(), s_, at_us);
}

void SlotSim::end_event() {
  Head& h = *s_.head;
  // These rules keep their own agenda and need no dirty slots.
  for (int32_t i = 0; i < h.num_dirty; ++i) s_.is_dirty[s_.dirty[i]] = 0;
  h.num_dirty = 0;
  ++out_.events;
  if (replay_.watch) replay_.watch(s_);
  throw_if_interrupted();
}

int32_t SlotSim::arrive() {
  const int32_t slot = yard::arrive(world_.fixed(), s_, s_.head->arrived++);
  find_next_events();
  return slot;
}

void SlotSim::start(int32_t slot, const Piece* pieces, int32_t num_pieces) {
  yard::start(world_.fixed(), s_, slot, pieces, num_pieces);
}

void SlotSim::start_anywhere(int32_t slot) {
  int32_t left = s_.gpus[slot], n = 0;
  for (int32_t m = 0; left > 0; ++m) {
    const int32_t take = std::min(left, s_.free_count[m]);
    if (take == 0) continue;
    pieces_[static_cast<size_t>(n++)] = {m, take};
    left -= take;
  }
  start(slot, pieces_.data(), n);
}

bool SlotSim::try_start(int32_t slot, const GangPlacer* placer) {
  if (s_.gpus[slot] > s_.head->free_gpus) return false;
  if (placer == nullptr) {
    start_anywhere(slot);
    return true;
  }
  const int32_t n = placer->place(s_.free_count, s_.gpus[slot], pieces_.data());
  if (n > 0) start(slot, pieces_.data(), n);
  return n > 0;
}

void SlotSim::preempt(int32_t slot) { yard::preempt(world_.fixed(), s_, slot); }

void SlotSim::finish(int32_t slot) {
  JobOutcome& job = out_.jobs[static_cast<size_t>(s_.job[slot])];
  job = {s_.first_start_us[slot], s_.head->now_us, s_.preempted[slot], s_.started[slot] - 1};
  remove_job(world_.fixed(), s_, slot);
  open_ -= replay_.workload.scored(s_.job[slot]);
}

void SlotSim::leave(int32_t slot) {
  preempt(slot);
  --s_.preempted[slot];
  --s_.head->preemptions;
}

void SlotSim::settle_in(int32_t slot, const Piece* pieces, int32_t num_pieces) {
  start(slot, pieces, num_pieces);
  --s_.started[slot];
  --s_.head->starts;
}

void SlotSim::stuck() const {
  throw RunError(rules_ + ": " + replay_.policy + " leaves " + std::to_string(s_.head->waiting) +
                 " jobs waiting with nothing running");
}

Outcome SlotSim::take_outcome() {
  out_.close(*s_.head);
  out_.decisions = out_.events;
  return std::move(out_);
}

}  // namespace yard
