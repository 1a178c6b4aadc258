#include "env/sim/rulesets/job_sim.h"

#include <utility>

namespace yard {

RuleSetSimByJob::RuleSetSimByJob(const Replay& replay, std::string rules)
    : PublishedRulesSim(replay, std::move(rules)), slot_(out_.jobs.size(), kNone) {
  YARD_CHECK(replay.trace != nullptr, "this rule set needs the trace");
}

void RuleSetSimByJob::advance_to(int64_t at_us) {
  YARD_CHECK(at_us >= s_.head->now_us, "the clock runs backwards");
  if (at_us > s_.head->now_us && s_.head->num_changed > 0) close_event();
  pass_time(world_.fixed(), s_, at_us);
}

void RuleSetSimByJob::end_event() {
  ++out_.decisions;
  close_event();
}

void RuleSetSimByJob::arrive(int32_t j) {
  if (s_.head->arrived == replay_.first_job) out_.begin_us = submit_us(j);
  slot_[static_cast<size_t>(j)] = yard::arrive(world_.fixed(), s_, j);
  ++s_.head->arrived;
}

void RuleSetSimByJob::start(int32_t j, std::span<const Piece> pieces) {
  yard::start(world_.fixed(), s_, slot(j), pieces.data(), static_cast<int32_t>(pieces.size()));
  record_start(j);
}

void RuleSetSimByJob::start_anywhere(int32_t j, const uint8_t* allowed) {
  start_in_node_order(slot(j), allowed);
  record_start(j);
}

void RuleSetSimByJob::record_start(int32_t j) {
  outcome(j).start_us = s_.first_start_us[slot(j)];
  outcome(j).restarts = s_.started[slot(j)] - 1;
}

void RuleSetSimByJob::preempt(int32_t j) {
  yard::preempt(world_.fixed(), s_, slot(j));
  outcome(j).preemptions = s_.preempted[slot(j)];
}

void RuleSetSimByJob::finish(int32_t j, int64_t end_us) {
  outcome(j).end_us = end_us;
  remove_job(slot(j));
}

}  // namespace yard
