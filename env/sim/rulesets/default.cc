// The `default` rule set: the policy decides after every event; stops cost as in `PreemptionCosts`.
#include <cmath>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/base/os/interrupt.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/sim/rulesets/speed_estimator.h"

namespace yard {
namespace {

// Returns the run times for the oracle levels: exact, or with a log-normal error (kNoisyOracle).
std::vector<int64_t> oracle_work(const Replay& replay, InformationLevel level) {
  const int64_t* work_us = replay.workload.truth().work_us;
  std::vector<int64_t> seen_us(work_us, work_us + replay.workload.size());
  for (size_t j = 0; level == InformationLevel::kNoisyOracle && j < seen_us.size(); ++j) {
    Rng rng = Rng{replay.seed}.split(0x6E6F697365).split(j);
    const double factor = std::exp(replay.oracle_noise * rng.normal());
    seen_us[j] = std::max<int64_t>(1, std::llround(static_cast<double>(seen_us[j]) * factor));
  }
  return seen_us;
}

// Records the jobs which ended in the last step. Returns how many of them are scored.
int32_t record(const Workload& workload, const SimState& s, Outcome& out) {
  const int64_t* work_us = workload.truth().work_us;
  int32_t scored = 0;
  for (int32_t i = 0; i < s.head->num_changed; ++i) {
    const int32_t slot = s.changed[i];
    if (s.phase[slot] != Phase::kDone) continue;
    JobOutcome& job = out.jobs[static_cast<size_t>(s.job[slot])];
    job.start_us = s.first_start_us[slot];
    job.end_us = s.head->now_us;
    job.preemptions = s.preempted[slot];
    job.restarts = s.started[slot] - 1;
    job.ended_early = s.ended[slot] != 0;
    const double left_us = static_cast<double>(work_us[s.job[slot]]) - s.work_done_us[slot];
    if (job.ended_early) job.undone_us = left_us;
    scored += workload.scored(s.job[slot]);
  }
  return scored;
}

// Counts, per job, preemptions soon after the previous one and migrations.
class PreemptionCounter {
 public:
  explicit PreemptionCounter(int32_t jobs) : stopped_us_(static_cast<size_t>(jobs), kNever) {}

  void count(const SimState& s, const Plan& plan, Outcome& out) {
    const auto at = [&](const Edit& edit) { return static_cast<size_t>(s.job[edit.job.slot]); };
    for (const Edit& edit : plan.edits) {
      if (edit.verb != Verb::kPreempt) continue;
      int64_t& last_us = stopped_us_[at(edit)];
      const bool is_repeated = last_us != kNever && s.head->now_us - last_us < kRapidRepreemptionUs;
      out.jobs[at(edit)].rapid_repreemptions += is_repeated;
      last_us = s.head->now_us;
    }
    for (const Edit& edit : plan.edits) {
      const bool starts = edit.verb == Verb::kStart;
      out.jobs[at(edit)].migrations += starts && stopped_us_[at(edit)] == s.head->now_us;
    }
  }

 private:
  std::vector<int64_t> stopped_us_;  // (N)  last preemption, or kNever
};

// Work is counted in doubles, which are exact to the microsecond up to this time: 285 years.
constexpr int64_t kExactUs = int64_t{1} << 53;

Outcome replay_default(const Replay& replay, const NoConfig&) {
  YARD_CHECK(replay.decider != nullptr, "the default rule set needs a decider");
  World world(replay.fixed, replay.end_job - replay.first_job);
  world.reset(replay.first_job, replay.end_job);
  SimState& s = world.state();
  const InformationLevel level = replay.decider->level();
  std::vector<int64_t> oracle_work_us;
  if (level >= InformationLevel::kNoisyOracle) oracle_work_us = oracle_work(replay, level);
  SpeedEstimator speeds(world.fixed(), replay.speeds, replay.speed_noise, replay.seed);
  const View view(world.fixed(), s, level, oracle_work_us.data(), speeds.estimates_for_views());
  const Truth truth = replay.truth();
  Draft draft(world.fixed(), s);
  PreemptionCounter preemption_counter(replay.workload.size());

  Outcome out;
  out.jobs.resize(static_cast<size_t>(replay.workload.size()));
  out.begin_us = s.head->now_us;
  out.counts_edits = true;
  int32_t remaining = 0;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j)
    remaining += replay.workload.scored(j);
  if (remaining == 0) remaining = INT32_MAX;  // no job is scored: run to the end
  while (remaining > 0 && !all_done(s)) {
    if (!world.advance(truth)) {
      throw RunError(replay.policy + " leaves " + std::to_string(s.head->waiting) +
                     " jobs waiting with nothing running");
    }
    if (s.head->now_us > kExactUs) {
      throw RunError(replay.policy + " runs beyond " + std::to_string(kExactUs / 1'000'000) +
                     " s, the limit of exact times: use fewer jobs or a larger cluster");
    }
    ++out.events;
    remaining -= record(replay.workload, s, out);
    draft.reset();
    speeds.learn_from_progress(s);
    replay.decider->decide(view, draft);
    speeds.record_placements(s);
    preemption_counter.count(s, draft.plan(), out);
    ++out.decisions;
    if (draft.plan().wake_us != kNever) s.head->timer_us = draft.plan().wake_us;
    if (replay.watch) replay.watch(s);
    throw_if_interrupted();
  }
  out.copy_totals_from(*s.head);
  return out;
}

const RuleSetRegistry::Add<FunctionRuleSet<NoConfig, replay_default>> kDefault{
    "default",
    {.about = "event-driven; a preempted job takes 10 s to save and 30 s to restore (60 s beyond 8 "
              "GPUs)",
     .source = "docs/design/rules.md",
     .fidelity = "our own rules"}};

}  // namespace
}  // namespace yard
