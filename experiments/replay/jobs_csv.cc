#include "experiments/replay/jobs_csv.h"

#include "env/base/text/csv.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr int64_t kUsPerSecond = 1'000'000;

void append_int(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_time(std::string& out, int64_t us) {
  out += ',';
  if (us == kNone) return;
  if (us % kUsPerSecond == 0) {
    append_int(out, us / kUsPerSecond);
  } else {
    out += format_seconds(us);
  }
}

}  // namespace

void append_jobs_csv(const Scenario& scenario, const Run& run, std::string& out) {
  out.reserve(out.size() + scenario.trace.jobs.size() * (run.policy.size() + 80));
  for (size_t j = 0; j < scenario.trace.jobs.size(); ++j) {
    const Job& job = scenario.trace.jobs[j];
    if (!job.scored) continue;
    const JobOutcome& what = run.outcome.jobs[j];
    const bool finished = what.end_us != kNone;
    append_csv_cell(run.policy, out);
    out += ',';
    append_csv_cell(job.id, out);
    out += ',';
    append_int(out, job.gpus);
    append_time(out, job.submit_us);
    append_time(out, what.start_us);
    append_time(out, what.end_us);
    append_time(out, finished ? delay_us(job, what, scenario.isolated_us[j]) : kNone);
    append_time(out, finished ? what.end_us - job.submit_us : kNone);
    out += ',';
    append_int(out, what.preemptions);
    out += ',';
    append_int(out, what.restarts);
    out += !finished ? ",unfinished\n" : what.ended_early ? ",ended-early\n" : ",finished\n";
  }
}

}  // namespace yard
