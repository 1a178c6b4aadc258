#include "serving/log/log_replay.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

bool same_piece(const pb::Piece& a, const pb::Piece& b) {
  return a.node() == b.node() && a.gpus() == b.gpus();
}

bool same_action(const pb::Action& a, const pb::Action& b) {
  return a.job() == b.job() && a.verb() == b.verb() &&
         std::ranges::equal(a.pieces(), b.pieces(), same_piece);
}

bool same_wake(const pb::DecideResponse& a, const pb::DecideResponse& b) {
  return a.has_wake_after_s() == b.has_wake_after_s() && a.wake_after_s() == b.wake_after_s();
}

}  // namespace

LogReplay replay(LogReader& log, const Policy& policy, Decisions which) {
  LogReplay out;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision()) continue;
    const pb::DecideRequest& request = record.decision().request();
    const pb::DecideResponse& then = record.decision().response();
    if (which == Decisions::kOfPolicy && then.source() != pb::POLICY) {
      ++out.skipped;
      continue;
    }
    ++out.replayed;
    const PolicyResult now = run_policy(policy, Snapshot(request), request);
    const bool same = now.reason == pb::NONE &&
                      std::ranges::equal(now.response.actions(), then.actions(), same_action);
    const bool acted = then.actions_size() > 0;
    out.same += same && same_wake(now.response, then);
    out.same_actions += same;
    out.acts += acted;
    out.same_acts += acted && same;
    out.failed += now.reason != pb::NONE;
    if (!same && out.first.empty()) out.first = then.decision_id();
  }
  return out;
}

}  // namespace yard
