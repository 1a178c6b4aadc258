#include "serving/ask.h"

#include <algorithm>
#include <chrono>

#include "policies/choices.h"
#include "policies/learned/learned_agent.h"
#include "serving/guard.h"

namespace yard {
namespace {

void write_memory(const Memory& memory, pb::Account& out) {
  out.set_memory_bytes(memory.bytes());
  if (memory.bytes() > kMostMemoryKept) return;
  const std::byte* begin = memory.data();
  const std::byte* end = begin + memory.bytes();
  const bool zero = std::all_of(begin, end, [](std::byte b) { return b == std::byte{0}; });
  if (!zero) out.set_memory(memory.data(), memory.bytes());
}

void write_choices(const Choices& choices, const Snapshot& snapshot, const ClusterState& state,
                   pb::Account& out) {
  out.set_probability(choices.probability());
  if (choices.draw_key) out.set_draw_key(*choices.draw_key);
  for (const Choice& choice : choices.steps) {
    pb::Step& step = *out.add_steps();
    step.set_chosen(static_cast<uint32_t>(choice.chosen));
    step.set_probability(choice.probability);
    for (const Offer& offer : choice.offers) {
      pb::Option& option = *step.add_options();
      option.set_logit(offer.logit);
      if (offer.slot == kNone) continue;
      const int32_t told = snapshot.told_as(state, offer.slot);
      option.set_job(static_cast<uint32_t>(told));
      option.set_verb(snapshot.waits(told) ? pb::START : pb::PREEMPT);
    }
  }
}

void decide(const Policy& policy, const Snapshot& snapshot, Accounts accounts, Answer& answer) {
  answer.account.set_probability(1);
  if (!snapshot.may_start_anything()) return;
  LiveState live = snapshot.state();
  const View view(live.fixed(), live.state(), policy.level());
  Memory memory;
  memory.reset(policy.memory_bytes(view));
  policy.rebuild(view, memory);
  Draft draft(live.fixed(), live.state());
  if (accounts == Accounts::kKept) write_memory(memory, answer.account);
  const auto* telling = dynamic_cast<const TellingPolicy*>(&policy);
  if (accounts == Accounts::kKept && telling != nullptr) {
    Choices choices;
    telling->decide_and_tell(view, memory, draft, choices);
    write_choices(choices, snapshot, live.state(), answer.account);
  } else {
    policy.decide(view, memory, draft);
  }
  snapshot.write(live.state(), draft.plan(), answer.response);
}

}  // namespace

Answer ask(const Policy& policy, const Snapshot& snapshot, const pb::DecideRequest& request,
           Accounts accounts) {
  const auto begin = std::chrono::steady_clock::now();
  Answer answer;
  try {
    decide(policy, snapshot, accounts, answer);
    answer.detail = why_refused(request, answer.response);
    if (!answer.detail.empty()) answer.reason = pb::INVALID_ACTION;
  } catch (const NonFinite& error) {
    answer.reason = pb::NON_FINITE;
    answer.detail = error.what();
  } catch (const std::exception& error) {
    answer.reason = pb::POLICY_ERROR;
    answer.detail = error.what();
  } catch (...) {
    answer.reason = pb::POLICY_ERROR;
    answer.detail = "it threw something that is no exception";
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  answer.took_ms = took.count();
  return answer;
}

}  // namespace yard
