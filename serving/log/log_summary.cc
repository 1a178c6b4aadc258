#include "serving/log/log_summary.h"

#include <algorithm>
#include <unordered_set>

#include "env/base/core/error.h"
#include "env/base/core/hash.h"
#include "serving/log/recorded_memories.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

// 64-bit hashes identify jobs and save memory: among millions, two collide once in 10^7 logs.
uint64_t key_of(const pb::DecideRequest& request, const pb::Job& job) {
  return hash_text(request.cluster() + '\n' + job.id() + '\n' + std::to_string(job.submit_s()));
}

bool same_piece(const pb::Piece& a, const pb::Piece& b) {
  return a.node() == b.node() && a.gpus() == b.gpus();
}

bool same_action(const pb::Action& a, const pb::Action& b) {
  return a.job() == b.job() && a.verb() == b.verb() &&
         std::ranges::equal(a.pieces(), b.pieces(), same_piece);
}

}  // namespace

void LogSummary::Range::take(double value, bool fresh) {
  first = fresh ? value : std::min(first, value);
  last = fresh ? value : std::max(last, value);
}

LogSummary summarise(LogReader& log) {
  LogSummary out;
  out.files = log.files().size();
  for (const LogFile& file : log.files()) out.bytes += file.bytes;
  std::map<std::string, uint64_t> number_of_run;
  std::unordered_set<uint64_t> jobs;
  for (const pb::LogRecord& record : log) {
    if (record.has_outcome()) {
      ++(record.outcome().end() == pb::LoggedOutcome::FINISHED ? out.finished : out.gone);
      continue;
    }
    if (record.has_reported()) {
      ++out.reported;
      continue;
    }
    const pb::LoggedDecision& decision = record.decision();
    const pb::DecideResponse& response = decision.response();
    out.unix_s.take(decision.unix_s(), out.decisions == 0);
    out.time_s.take(decision.request().time_s(), out.decisions == 0);
    ++out.decisions;
    uint64_t& number = number_of_run[log.head().run()];
    if (number > 0 && decision.number() > number + 1) out.missing += decision.number() - number - 1;
    number = decision.number();
    ++out.models[{response.model(), response.model_digest()}];
    ++out.reasons[{pb::Source_Name(response.source()), pb::Reason_Name(response.reason())}];
    ++out.deciders[response.decided_by()];
    for (const pb::Action& action : response.actions()) {
      ++(action.verb() == pb::START ? out.starts : out.preemptions);
    }
    out.with_options += decision.trace().steps_size() > 0;
    out.sampled += decision.trace().has_sample_key();
    for (const pb::Job& job : decision.request().jobs())
      jobs.insert(key_of(decision.request(), job));
  }
  out.runs = number_of_run.size();
  out.jobs = jobs.size();
  out.damage = log.damage();
  if (out.decisions + out.finished + out.gone + out.reported == 0 && !out.damage.first.empty()) {
    throw InputError(out.damage.first);
  }
  return out;
}

LogReplay replay(LogReader& log, const Policy& policy, Decisions which) {
  LogReplay out;
  RecordedMemories memories;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision()) continue;
    const pb::LoggedDecision& decision = record.decision();
    const pb::DecideRequest& request = decision.request();
    const pb::DecideResponse& then = decision.response();
    // The policy saw every snapshot, even if another decider answered.
    const Snapshot snapshot(request);
    const auto decide = [&](ClusterMemory& memory) {
      return run_policy(policy, snapshot, request, Tracing::kNone, &memory);
    };
    const bool by_policy = then.source() == pb::POLICY;
    PolicyResult now = decide(memories.of(decision));
    if (by_policy && then.rebuilt() && !now.rebuilt) now = decide(memories.restart(decision));
    if (which == Decisions::kOfPolicy && !by_policy) {
      ++out.skipped;
      continue;
    }
    ++out.replayed;
    const bool same = now.reason == pb::NONE &&
                      std::ranges::equal(now.response.actions(), then.actions(), same_action);
    const bool acted = then.actions_size() > 0;
    out.same += same && now.response.has_wake_after_s() == then.has_wake_after_s() &&
                now.response.wake_after_s() == then.wake_after_s();
    out.same_actions += same;
    out.acts += acted;
    out.same_acts += acted && same;
    out.failed += now.reason != pb::NONE;
    if (!same && out.first.empty()) out.first = then.decision_id();
  }
  return out;
}

}  // namespace yard
