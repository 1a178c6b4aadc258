#include "serving/log/recorded_memories.h"

namespace yard {
namespace {

std::string key_of(const pb::LoggedDecision& decision) {
  const pb::DecideResponse& response = decision.response();
  return decision.request().cluster() + '\n' + response.model() + '\n' + response.model_digest();
}

}  // namespace

bool RecordedMemories::policy_began_decision(const pb::LoggedDecision& decision) {
  if (decision.recall() != pb::LoggedDecision::RECALL_UNSPECIFIED) {
    return decision.recall() != pb::LoggedDecision::NOT_BEGUN;
  }
  switch (decision.response().reason()) {
    case pb::INVALID_ACTION:
    case pb::NON_FINITE:
    case pb::POLICY_ERROR:
    case pb::IDLE:
    case pb::DEADLINE:  // most policies that are late do end
      return true;
    default:
      return decision.response().source() == pb::POLICY;
  }
}

PolicyResult RecordedMemories::decide(const Policy& policy, const std::string& run,
                                      const pb::LoggedDecision& decision,
                                      const Snapshot& snapshot) {
  if (run != run_) memories_.clear();
  run_ = run;
  const pb::DecideRequest& request = decision.request();
  const auto on = [&](ClusterMemory& memory) {
    return run_policy(policy, snapshot, request, Tracing::kNone, &memory);
  };
  const bool anew = decision.recall() == pb::LoggedDecision::ANEW;
  PolicyResult out = on(anew ? restart(decision) : of(decision));
  const pb::DecideResponse& then = decision.response();
  if (!anew && then.source() == pb::POLICY && then.rebuilt() && !out.rebuilt) {
    out = on(restart(decision));
  }
  // As the server does: half a decision may have changed it.
  if (out.reason == pb::NON_FINITE || out.reason == pb::POLICY_ERROR) restart(decision);
  return out;
}

ClusterMemory& RecordedMemories::of(const pb::LoggedDecision& decision) {
  auto& memory = memories_[key_of(decision)];
  if (memory == nullptr) memory = std::make_unique<ClusterMemory>();
  return *memory;
}

ClusterMemory& RecordedMemories::restart(const pb::LoggedDecision& decision) {
  memories_.erase(key_of(decision));
  return of(decision);
}

}  // namespace yard
