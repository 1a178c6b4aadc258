#include "serving/log/log_summary.h"

#include <algorithm>
#include <unordered_set>

#include "env/base/core/error.h"
#include "env/base/core/hash.h"

namespace yard {
namespace {

// 64-bit hashes identify jobs and save memory: among millions, two collide once in 10^7 logs.
uint64_t key_of(const pb::DecideRequest& request, const pb::Job& job) {
  return hash_text(request.cluster() + '\n' + job.id() + '\n' + std::to_string(job.submit_s()));
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

}  // namespace yard
