#include "serving/engine/log_replay.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "serving/log/recorded_memories.h"
#include "serving/snapshot/json.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/snapshot.h"
#include "serving/snapshot/starvation.h"

namespace yard {
namespace {

// What a decision decides, without what an answer says of how it came about.
pb::DecideResponse decided_part(const pb::DecideResponse& answer) {
  pb::DecideResponse out;
  *out.mutable_actions() = answer.actions();
  *out.mutable_quarantined() = answer.quarantined();
  if (answer.has_wake_after_s()) out.set_wake_after_s(answer.wake_after_s());
  return out;
}

std::string shown(const pb::Action& action) {
  std::string out = pb::Verb_Name(action.verb()) + " " + action.job();
  for (const pb::Piece& piece : action.pieces()) {
    out += fmt::format(" {}x{}", piece.node(), piece.gpus());
  }
  return out;
}

// Requires: the two differ.
std::string difference_of(const pb::DecideResponse& then, const pb::DecideResponse& now) {
  for (int i = 0; i < std::max(then.actions_size(), now.actions_size()); ++i) {
    const auto at = [i](const pb::DecideResponse& of) {
      return i < of.actions_size() ? of.actions(i).SerializeAsString() : "";
    };
    if (at(then) == at(now)) continue;
    const auto words = [i](const pb::DecideResponse& of) {
      return i < of.actions_size() ? shown(of.actions(i)) : "nothing";
    };
    const bool looks_equal = words(then) == words(now);
    return fmt::format("action {}: recorded {}, replayed {}{}", i + 1, words(then), words(now),
                       looks_equal ? ", whose GPU numbers, restart or expected state differ" : "");
  }
  const auto wake = [](const pb::DecideResponse& of) {
    return of.has_wake_after_s() ? fmt::format("after {} s", of.wake_after_s()) : "none";
  };
  if (wake(then) != wake(now)) {
    return fmt::format("next decision: recorded {}, replayed {}", wake(then), wake(now));
  }
  return fmt::format("records set aside: recorded {}, replayed {}", then.quarantined_size(),
                     now.quarantined_size());
}

class Replay {
 public:
  Replay(const Model* model, LogReplayResult& out) : model_(model), out_(out) {}

  void add(const std::string& run, const pb::LoggedDecision& decision) {
    const pb::DecideRequest& request = decision.request();
    const pb::DecideResponse& then = decision.response();
    const Snapshot snapshot(request);
    PolicyResult now;
    // Its memory needs to see what the policy saw, even if another decider answered.
    if (RecordedMemories::policy_began_decision(decision)) {
      now = memories_.decide(*model_of(then).policy, run, decision, snapshot);
    }
    if (then.source() == pb::HEURISTIC) {
      const Policy& heuristic = *opened(then.decided_by()).policy;
      now = then.reason() == pb::STARVATION ? run_without_blocked_jobs(heuristic, snapshot, request)
                                            : run_policy(heuristic, snapshot, request);
    } else if (then.source() != pb::POLICY) {  // the server decided nothing
      now = {};
      list_quarantined(snapshot, now.response);
    }
    ++out_.decisions;
    const pb::DecideResponse was = decided_part(then), is = decided_part(now.response);
    const bool same = now.reason == pb::NONE && was.SerializeAsString() == is.SerializeAsString();
    const bool other_version =
        then.source() == pb::POLICY && model_of(then).digest != then.model_digest();
    out_.identical += same;
    out_.failed += now.reason != pb::NONE;
    out_.other_version += other_version;
    if (same || !out_.first.empty()) return;
    out_.first = then.decision_id() + " (" + pb::Source_Name(then.source()) + ", " +
                 pb::Reason_Name(then.reason()) + "): ";
    out_.first += now.reason == pb::NONE
                      ? difference_of(was, is)
                      : "replayed " + pb::Reason_Name(now.reason) + ": " + now.detail;
    if (other_version) out_.first += "; another version of the policy is replayed";
  }

 private:
  const Model& model_of(const pb::DecideResponse& then) {
    return model_ != nullptr ? *model_ : opened(then.model());
  }

  const Model& opened(const std::string& name) {
    const auto known = opened_.find(name);
    if (known != opened_.end()) return known->second;
    try {
      return opened_.emplace(name, open_servable(name)).first->second;
    } catch (const InputError& error) {
      throw InputError("log replay: the log's decisions by " + in_quotes(name) +
                       " need its files: --policy or --checkpoint (" + error.what() + ")");
    }
  }

  const Model* const model_;
  LogReplayResult& out_;
  std::map<std::string, Model> opened_;  // by name
  RecordedMemories memories_;
};

}  // namespace

void replay_log(LogReader& log, const Model* model, LogReplayResult& out) {
  Replay replay(model, out);
  for (const pb::LogRecord& record : log) {
    throw_if_interrupted();
    if (record.has_decision()) replay.add(log.head().run(), record.decision());
  }
}

}  // namespace yard
