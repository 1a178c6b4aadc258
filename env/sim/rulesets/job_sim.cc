#include "env/sim/rulesets/job_sim.h"

#include <algorithm>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/sim/rulesets/published.h"

namespace yard {
namespace {

void check_known(const std::string& what, const std::string& rules,
                 const std::vector<std::string>& known, const std::string& name) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw InputError(what + " of the " + rules + " rules", "one of: " + join(known),
                   "'" + name + "'");
}

}  // namespace

JobSim::JobSim(const Replay& replay, std::string rules)
    : replay_(replay),
      rules_(std::move(rules)),
      world_(without_costs(replay.fixed), replay.end_job - replay.first_job),
      s_(world_.state()),
      slot_(static_cast<size_t>(replay.workload.size()), kNone),
      pieces_(static_cast<size_t>(replay.fixed.spec.num_nodes)) {
  check_published(replay, rules_);
  const RuleSet::Info& info = RuleSetRegistry::info(rules_);
  check_known("policy", rules_, info.policies, replay.policy);
  if (!replay.placement.empty()) {
    check_known("placement", rules_, info.placements, replay.placement);
  }
  parse<NoConfig>(replay.settings);
  YARD_CHECK(replay.trace != nullptr, "this rule set needs the trace");
  world_.reset(replay.first_job, replay.end_job);
  out_.jobs.resize(slot_.size());
  out_.begin_us = s_.head->now_us;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) open_ += replay.workload.scored(j);
  all_count_ = open_ == 0;
  if (all_count_) open_ = replay.end_job - replay.first_job;
}

void JobSim::pass_to(int64_t at_us) {
  YARD_CHECK(at_us >= s_.head->now_us, "the clock runs backwards");
  if (at_us > s_.head->now_us && s_.head->num_changed > 0) show();
  yard::pass_time(world_.fixed(), s_, at_us);
}

void JobSim::end_event() {
  ++out_.decisions;
  show();
}

void JobSim::show() {
  Head& h = *s_.head;
  // These rules keep their own agenda and need no dirty slots.
  for (int32_t i = 0; i < h.num_dirty; ++i) s_.is_dirty[s_.dirty[i]] = 0;
  h.num_dirty = 0;
  ++out_.events;
  if (replay_.watch) replay_.watch(s_);
  throw_if_interrupted();
  clear_changed(s_);
}

void JobSim::arrive(int32_t j) {
  if (s_.head->arrived == replay_.first_job) out_.begin_us = submit_us(j);
  slot_[static_cast<size_t>(j)] = yard::arrive(world_.fixed(), s_, j);
  ++s_.head->arrived;
}

void JobSim::start(int32_t j, const Piece* pieces, int32_t num_pieces) {
  yard::start(world_.fixed(), s_, slot(j), pieces, num_pieces);
  JobOutcome& job = out_.jobs[static_cast<size_t>(j)];
  job.start_us = s_.first_start_us[slot(j)];
  job.restarts = s_.started[slot(j)] - 1;
}

void JobSim::start_anywhere(int32_t j, const uint8_t* allowed) {
  int32_t left = gpus(j), n = 0;
  for (int32_t m = 0; left > 0; ++m) {
    YARD_CHECK(m < replay_.fixed.spec.num_nodes, "too few free GPUs");
    const int32_t take = std::min(left, s_.free_count[m]);
    if (take == 0 || (allowed != nullptr && allowed[m] == 0)) continue;
    pieces_[static_cast<size_t>(n++)] = {m, take};
    left -= take;
  }
  start(j, pieces_.data(), n);
}

void JobSim::preempt(int32_t j) {
  yard::preempt(world_.fixed(), s_, slot(j));
  out_.jobs[static_cast<size_t>(j)].preemptions = s_.preempted[slot(j)];
}

void JobSim::finish(int32_t j, int64_t end_us) { leave(j, end_us); }

void JobSim::drop(int32_t j) { leave(j, kNone); }

void JobSim::leave(int32_t j, int64_t end_us) {
  out_.jobs[static_cast<size_t>(j)].end_us = end_us;
  remove_job(world_.fixed(), s_, slot(j));
  open_ -= counts(j);
}

void JobSim::stuck() const {
  throw RunError(rules_ + ": " + replay_.policy + " leaves " + std::to_string(s_.head->waiting) +
                 " jobs waiting with nothing running");
}

Outcome JobSim::take_outcome() {
  out_.close(*s_.head);
  return std::move(out_);
}

}  // namespace yard
