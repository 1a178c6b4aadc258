#include "serving/ask.h"

#include <chrono>

#include "policies/learned/learned_agent.h"
#include "serving/guard.h"

namespace yard {
namespace {

void decide(const Policy& policy, const Snapshot& snapshot, pb::DecideResponse& out) {
  if (!snapshot.may_start_anything()) return;
  LiveState live = snapshot.state();
  const View view(live.fixed(), live.state(), policy.level());
  Memory memory;
  memory.reset(policy.memory_bytes(view));
  policy.rebuild(view, memory);
  Draft draft(live.fixed(), live.state());
  policy.decide(view, memory, draft);
  snapshot.write(live.state(), draft.plan(), out);
}

}  // namespace

Answer ask(const Policy& policy, const Snapshot& snapshot, const pb::DecideRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  Answer answer;
  try {
    decide(policy, snapshot, answer.response);
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
