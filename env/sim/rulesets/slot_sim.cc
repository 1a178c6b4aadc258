#include "env/sim/rulesets/slot_sim.h"

#include "env/base/core/error.h"

namespace yard {

RuleSetSimBySlot::RuleSetSimBySlot(const Replay& replay, std::string rules, Submission submission)
    : PublishedRulesSim(replay, std::move(rules)),
      submission_(submission),
      work_us_(replay.workload.truth().work_us) {
  if (submission_ == Submission::kCut) s_.head->now_us -= s_.head->now_us % kUsPerS;
  out_.begin_us = s_.head->now_us;
  find_next_arrival();
}

void RuleSetSimBySlot::find_next_arrival() {
  const StateHeader& h = *s_.head;
  if (h.arrived == h.end_job) {
    arrival_us_ = arrival_s_ = kNever;
    return;
  }
  arrival_us_ = replay_.fixed.jobs.submit_us[h.arrived];
  const int64_t up_us = submission_ == Submission::kRoundedUp ? kUsPerS - 1 : 0;
  arrival_s_ = (arrival_us_ + up_us) / kUsPerS;
}

int64_t RuleSetSimBySlot::trace_run_us(int32_t slot) const {
  const int64_t run_us = work_us_[s_.job[slot]];
  if (run_us >= 0) return run_us;
  throw InputError("trace", "run times (rule set " + rules_ + " does not support profiles)",
                   "none for job number " + std::to_string(s_.job[slot]));
}

void RuleSetSimBySlot::begin_event(int64_t at_s) {
  now_s_ = at_s;
  begin_event_us(at_s * kUsPerS);
}

int32_t RuleSetSimBySlot::arrive() {
  const int32_t slot = yard::arrive(world_.fixed(), s_, s_.head->arrived++);
  find_next_arrival();
  return slot;
}

bool RuleSetSimBySlot::try_start(int32_t slot, const GangPlacer* placer) {
  if (s_.gpus[slot] > s_.head->free_gpus) return false;
  if (placer == nullptr) {
    start_anywhere(slot);
    return true;
  }
  const int32_t n = placer->place(s_.free_count, s_.gpus[slot], pieces_.data());
  if (n > 0) start(slot, std::span(pieces_).first(static_cast<size_t>(n)));
  return n > 0;
}

void RuleSetSimBySlot::finish(int32_t slot) {
  JobOutcome& job = out_.jobs[static_cast<size_t>(s_.job[slot])];
  job = {s_.first_start_us[slot], s_.head->now_us, s_.preempted[slot], s_.started[slot] - 1};
  remove_job(slot);
}

void RuleSetSimBySlot::leave_for_move(int32_t slot) {
  preempt(slot);
  --s_.preempted[slot];
  --s_.head->preemptions;
}

void RuleSetSimBySlot::start_after_move(int32_t slot, std::span<const Piece> pieces) {
  start(slot, pieces);
  --s_.started[slot];
  --s_.head->starts;
}

Outcome RuleSetSimBySlot::outcome_at_end() {
  out_.decisions = out_.events;
  return finish_replay();
}

}  // namespace yard
