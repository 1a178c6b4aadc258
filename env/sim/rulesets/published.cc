#include "env/sim/rulesets/published.h"

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

SimModel without_costs(SimModel fixed) {
  fixed.costs = {.save_us = 0, .restore_us = 0, .restore_large_us = 0, .scale = 0};
  return fixed;
}

}  // namespace

PublishedRulesSim::PublishedRulesSim(const Replay& replay, std::string rules)
    : replay_(replay),
      rules_(std::move(rules)),
      placement_(placement_or_default(rules_, replay.policy, replay.placement)),
      world_(without_costs(replay.fixed), replay.end_job - replay.first_job),
      s_(world_.state()),
      pieces_(static_cast<size_t>(replay.fixed.spec.num_nodes)) {
  parse<NoConfig>(replay.settings);
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) {
    if (replay.fixed.jobs.gpus[j] > 0) continue;
    throw InputError("trace", "jobs with GPUs (rule set " + rules_ + " supports no others)",
                     "none for job number " + std::to_string(j));
  }
  const SpecColumns& spec = replay.fixed.spec;
  const bool by_types = RuleSetRegistry::info(rules_).by_types;
  for (int32_t m = 0; m < spec.num_nodes && !by_types; ++m) {
    if (spec.node_speed[m] == 1) continue;
    throw InputError("cluster", "GPUs of speed 1 (rule set " + rules_ + " treats all GPUs alike)",
                     shortest_text(spec.node_speed[m]) + " at node " + std::to_string(m));
  }
  world_.reset(replay.first_job, replay.end_job);
  out_.jobs.resize(static_cast<size_t>(replay.workload.size()));
  out_.begin_us = s_.head->now_us;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) open_ += replay.workload.scored(j);
  if (open_ == 0) open_ = INT32_MAX;
}

void PublishedRulesSim::start_in_node_order(int32_t slot, const uint8_t* allowed) {
  const int32_t nodes = replay_.fixed.spec.num_nodes;
  int32_t left = s_.gpus[slot], n = 0;
  for (int32_t m = 0; left > 0; ++m) {
    YARD_CHECK(m < nodes, "too few free GPUs");
    const int32_t take = std::min(left, s_.free_count[m]);
    if (take == 0 || (allowed != nullptr && allowed[m] == 0)) continue;
    pieces_[static_cast<size_t>(n++)] = {m, take};
    left -= take;
  }
  start(world_.fixed(), s_, slot, pieces_.data(), n);
}

void PublishedRulesSim::remove_job(int32_t slot) {
  if (s_.phase[slot] == Phase::kWaiting) {
    queue_remove(s_, slot);
    s_.phase[slot] = Phase::kDone;
    --s_.head->live;
    ++s_.head->finished;
  } else {
    detail::finish(world_.fixed(), s_, slot);
  }
  mark_changed(s_, slot);
  open_ -= replay_.workload.scored(s_.job[slot]);
}

void PublishedRulesSim::close_event() {
  StateHeader& h = *s_.head;
  // These rules keep their own agenda and need no dirty slots.
  for (int32_t i = 0; i < h.num_dirty; ++i) s_.is_dirty[s_.dirty[i]] = 0;
  h.num_dirty = 0;
  ++out_.events;
  if (replay_.watch) replay_.watch(s_);
  throw_if_interrupted();
  clear_changes_and_free_finished_slots(s_);
}

void PublishedRulesSim::throw_stuck() const {
  throw RunError(rules_ + ": " + replay_.policy + " leaves " + std::to_string(s_.head->waiting) +
                 " jobs waiting with nothing running");
}

Outcome PublishedRulesSim::finish_replay() {
  out_.copy_totals_from(*s_.head);
  return std::move(out_);
}

}  // namespace yard
