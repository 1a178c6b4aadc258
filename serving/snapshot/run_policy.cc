#include "serving/snapshot/run_policy.h"

#include <algorithm>
#include <chrono>

#include "policies/decision_trace.h"
#include "policies/learned/learned_policy.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/max_starts.h"

namespace yard {
namespace {

// Larger policy memory is left out of a trace: a replay of the log makes it again.
constexpr size_t kMaxTracedMemory = size_t{64} << 10;

void write_memory(const Memory& memory, pb::DecisionTrace& out) {
  out.set_memory_bytes(memory.bytes());
  if (memory.bytes() > kMaxTracedMemory) return;
  const auto used = [](std::byte b) { return b != std::byte{0}; };
  if (std::any_of(memory.data(), memory.data() + memory.bytes(), used))
    out.set_memory(memory.data(), memory.bytes());
}

void write_trace(const DecisionTrace& choices, const Snapshot& snapshot, const SnapshotState& state,
                 pb::DecisionTrace& out) {
  out.set_probability(choices.probability());
  if (choices.sample_key) out.set_sample_key(*choices.sample_key);
  for (const DecisionStep& choice : choices.steps) {
    pb::Step& step = *out.add_steps();
    step.set_chosen(static_cast<uint32_t>(choice.chosen));
    step.set_probability(choice.probability);
    for (const ScoredOption& offer : choice.options) {
      pb::Option& option = *step.add_options();
      option.set_logit(offer.logit);
      option.mutable_features()->Assign(offer.features.begin(), offer.features.end());
      if (offer.slot == kNone) continue;
      const int32_t entry = state.request_index(offer.slot);
      option.set_job(static_cast<uint32_t>(entry));
      option.set_verb(snapshot.waits(entry) ? pb::START : pb::PREEMPT);
    }
  }
}

// One decision, and another one if the first preempts too much.
class Decision {
 public:
  Decision(const Policy& policy, const Snapshot& snapshot, const pb::DecideRequest& request,
           Tracing tracing, ClusterMemory& known, PolicyResult& answer)
      : policy_(policy),
        snapshot_(snapshot),
        request_(request),
        tracing_(tracing),
        known_(known),
        answer_(answer),
        live_(known.next_state(snapshot)),
        view_(live_.fixed(), live_.state(), policy.level()) {}

  void run() {
    const size_t lasting = policy_.kept_memory_bytes(view_);
    const bool kept =
        known_.keep_or_clear_memory(live_.state(), lasting, policy_.memory_bytes(view_));
    if (!kept) policy_.rebuild_memory(view_, known_.memory());
    answer_.rebuilt = !kept && lasting > 0;
    if (!may_preempt_too_much()) return finish(plan());
    const Memory memory = known_.memory();
    const std::vector<std::byte> state = live_.copy();
    const Plan first = plan();
    if (!pin_beyond_the_limit(first, state)) return finish(first);
    known_.memory() = memory;
    answer_.trace.Clear();
    answer_.limited = true;
    finish(plan());
  }

 private:
  Plan plan() {
    answer_.trace.set_probability(1);
    Memory& memory = known_.memory();
    Draft draft(live_.fixed(), live_.state());
    if (tracing_ != Tracing::kNone) write_memory(memory, answer_.trace);
    const auto* traced = dynamic_cast<const TracedPolicy*>(&policy_);
    if (tracing_ != Tracing::kNone && traced != nullptr) {
      DecisionTrace choices;
      choices.with_features = tracing_ == Tracing::kWithFeatures;
      traced->decide_traced(view_, memory, draft, choices);
      write_trace(choices, snapshot_, live_, answer_.trace);
    } else {
      policy_.decide(view_, memory, draft);
    }
    return draft.plan();
  }

  void finish(const Plan& plan) {
    snapshot_.write(live_, plan, answer_.response);
    keep_first_starts(request_, snapshot_.bounds(), answer_.response);
    known_.remember_plan(live_, plan);
  }

  bool may_preempt_too_much() const {
    const int64_t most = snapshot_.bounds().max_preempted_gpus(request_);
    return most > 0 && most < view_.total_gpus() - view_.free_gpus();
  }

  // If the plan preempts too much, restores the state before it, with all jobs pinned but the first
  // ones that it preempts.
  bool pin_beyond_the_limit(const Plan& plan, const std::vector<std::byte>& before) {
    const int64_t most = snapshot_.bounds().max_preempted_gpus(request_);
    int64_t kept_gpus = 0, all_gpus = 0;
    std::vector<int32_t> kept;
    bool too_much = false;
    for (const Edit& edit : plan.edits) {
      if (edit.verb != Verb::kPreempt) continue;
      const int32_t slot = edit.job.slot;
      const bool exists = slot >= 0 && slot < view_.slot_high_water();
      const int32_t entry = exists ? live_.request_index(slot) : kNone;
      if (entry == kNone) return false;  // the guard refuses the plan
      const pb::Job& job = request_.jobs(entry);
      const int64_t gpus = snapshot_.bounds().preempts(job) ? 0 : gpus_held(job);
      all_gpus += gpus;
      const bool fits = gpus == 0 || kept_gpus == 0 || kept_gpus + gpus <= most;
      too_much |= !fits;
      if (!fits) continue;
      kept.push_back(slot);
      kept_gpus += gpus;
    }
    if (!too_much) return false;
    live_.restore(before);
    SimState& state = live_.state();
    std::vector<uint8_t> before_pins;
    for (const int32_t slot : kept) before_pins.push_back(state.pinned[slot]);
    for (int32_t slot = 0; slot < view_.slot_high_water(); ++slot) state.pinned[slot] = 1;
    for (size_t i = 0; i < kept.size(); ++i) state.pinned[kept[i]] = before_pins[i];
    answer_.detail = "it wanted to preempt jobs with " + std::to_string(all_gpus) +
                     " GPUs at once, of at most " + std::to_string(most);
    return true;
  }

  const Policy& policy_;
  const Snapshot& snapshot_;
  const pb::DecideRequest& request_;
  const Tracing tracing_;
  ClusterMemory& known_;
  PolicyResult& answer_;
  SnapshotState live_;
  const View view_;
};

}  // namespace

void list_quarantined(const Snapshot& snapshot, pb::DecideResponse& response) {
  const std::vector<pb::Quarantined>& listed = snapshot.quarantine().listed();
  response.mutable_quarantined()->Assign(listed.begin(), listed.end());
}

PolicyResult run_policy(const Policy& policy, const Snapshot& snapshot,
                        const pb::DecideRequest& request, Tracing tracing, ClusterMemory* memory) {
  using Clock = std::chrono::steady_clock;
  const auto ms_since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  const Clock::time_point begin = Clock::now();
  PolicyResult answer;
  list_quarantined(snapshot, answer.response);
  try {
    ClusterMemory none;
    answer.trace.set_probability(1);
    if (snapshot.has_usable_gpus()) {
      Decision(policy, snapshot, request, tracing, memory == nullptr ? none : *memory, answer)
          .run();
    }
    answer.elapsed_ms = ms_since(begin);
    const Clock::time_point decided = Clock::now();
    const std::string flaw =
        flaw_of_decision(request, answer.response, snapshot.bounds(), snapshot.quarantine());
    answer.guard_ms = ms_since(decided);
    if (flaw.empty()) return answer;
    answer.reason = pb::INVALID_ACTION;
    answer.detail = flaw;
    answer.limited = false;
    return answer;
  } catch (const NonFinite& error) {
    answer.reason = pb::NON_FINITE;
    answer.detail = error.what();
  } catch (const std::exception& error) {
    answer.reason = pb::POLICY_ERROR;
    answer.detail = error.what();
  } catch (...) {
    answer.reason = pb::POLICY_ERROR;
    answer.detail = "the policy threw an object that is not an exception";
  }
  answer.elapsed_ms = ms_since(begin);
  return answer;
}

}  // namespace yard
