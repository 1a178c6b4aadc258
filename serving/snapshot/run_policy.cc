#include "serving/snapshot/run_policy.h"

#include <algorithm>
#include <chrono>

#include "policies/decision_trace.h"
#include "policies/learned/learned_policy.h"
#include "serving/snapshot/guard.h"

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
      if (offer.slot == kNone) continue;
      const int32_t entry = state.request_index(offer.slot);
      option.set_job(static_cast<uint32_t>(entry));
      option.set_verb(snapshot.waits(entry) ? pb::START : pb::PREEMPT);
    }
  }
}

void decide(const Policy& policy, const Snapshot& snapshot, Tracing tracing, ClusterMemory& known,
            PolicyResult& answer) {
  answer.trace.set_probability(1);
  if (!snapshot.has_usable_gpus()) return;
  SnapshotState live = known.next_state(snapshot);
  const View view(live.fixed(), live.state(), policy.level());
  const size_t lasting = policy.lasting_bytes(view);
  const bool kept = known.keep_memory(live.state(), lasting, policy.memory_bytes(view));
  Memory& memory = known.memory();
  if (!kept) policy.rebuild(view, memory);
  answer.rebuilt = !kept && lasting > 0;
  Draft draft(live.fixed(), live.state());
  if (tracing == Tracing::kOn) write_memory(memory, answer.trace);
  const auto* traced = dynamic_cast<const TracedPolicy*>(&policy);
  if (tracing == Tracing::kOn && traced != nullptr) {
    DecisionTrace choices;
    traced->decide_traced(view, memory, draft, choices);
    write_trace(choices, snapshot, live, answer.trace);
  } else {
    policy.decide(view, memory, draft);
  }
  snapshot.write(live, draft.plan(), answer.response);
  known.remember_plan(live, draft.plan());
}

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
    decide(policy, snapshot, tracing, memory == nullptr ? none : *memory, answer);
    answer.elapsed_ms = ms_since(begin);
    const Clock::time_point decided = Clock::now();
    answer.detail = flaw_of_decision(request, answer.response);
    answer.guard_ms = ms_since(decided);
    if (!answer.detail.empty()) answer.reason = pb::INVALID_ACTION;
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
