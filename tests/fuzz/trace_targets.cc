// Traces: read strictly and leniently, written in both of the project's formats and read back.
#include <optional>
#include <set>
#include <vector>

#include "env/base/config/registry.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/formats/native.h"
#include "env/trace/formats/native_fields.h"
#include "tests/fuzz/targets.h"

namespace yard::testing {
namespace {

std::optional<Trace> parsed(const std::string& format, std::string_view text, bool skip) {
  return read_or_refused({"fuzz"}, [&] {
    return parse_trace(text, "fuzz", {.format = format, .skip_unusable = skip});
  });
}

void check_jobs(const Trace& trace) {
  YARD_CHECK(!trace.jobs.empty(), "a trace without jobs");
  std::set<std::string_view> ids;
  int64_t before_us = 0;
  for (const Job& job : trace.jobs) {
    YARD_CHECK(!job.id.empty() && ids.insert(job.id).second, "an id twice, or none");
    YARD_CHECK(job.submit_us >= before_us, "jobs out of order");
    before_us = job.submit_us;
    YARD_CHECK(job.run_us >= Job::kFromProfile, "a negative run time");
    YARD_CHECK(job.limit_us >= -1, "a negative limit");
    YARD_CHECK(job.gpus >= 0, "a negative number of GPUs");
    const std::optional<Flaw> flaw = check_native_job(job);
    YARD_CHECK(!flaw, flaw ? flaw->place + ": " + flaw->reason : "");
  }
  for (const CountedRows& skipped : trace.skipped) {
    YARD_CHECK(skipped.count > 0 && !skipped.reason.empty(), "nothing left out for no reason");
    YARD_CHECK(skipped.first.starts_with("fuzz:"), "no place in: " + skipped.first);
  }
}

// Both formats hold the same trace, and reading one back gives it again.
void check_forms(const Trace& trace) {
  std::string csv, jsonl;
  try {
    csv = to_native_csv(trace);
    jsonl = to_native_jsonl(trace);
  } catch (const InputError&) {
    if (csv.empty()) return;  // text that is not UTF-8
  }
  YARD_CHECK(to_native_csv(parse_trace(csv, "csv", {})) == csv, "the CSV does not come back");
  if (jsonl.empty()) return;
  YARD_CHECK(to_native_csv(parse_trace(jsonl, "jsonl", {})) == csv,
             "the JSONL says something else");
}

bool try_trace(const std::string& format, std::string_view text) {
  const std::optional<Trace> strict = parsed(format, text, false);
  const std::optional<Trace> lenient = parsed(format, text, true);
  YARD_CHECK(lenient || !strict, "what is read strictly is refused otherwise");
  if (!lenient) return false;
  check_jobs(*lenient);
  check_forms(*lenient);
  if (strict) YARD_CHECK(strict->jobs.size() == lenient->jobs.size(), "a usable row is skipped");
  return true;
}

}  // namespace

std::vector<Target> trace_targets() {
  std::vector<Target> out;
  for (const std::string& format : Registry<TraceReader>::names()) {
    out.push_back({format, Registry<TraceReader>::make(format, {})->example(),
                   [format](std::string_view text) { return try_trace(format, text); }});
  }
  return out;
}

}  // namespace yard::testing
