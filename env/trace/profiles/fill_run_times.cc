#include "env/trace/profiles/fill_run_times.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/profiles/goodputs.h"
#include "env/trace/profiles/throughputs.h"

namespace yard {
namespace {

constexpr const char* kReference = "v100";
constexpr const char* kUnconsolidated = "_unconsolidated";

bool lacks(const Job& job) { return job.run_us == Job::kFromProfile; }

double reference_throughput(const Throughputs& table, const Job& job) {
  const Throughputs::Kind kind = Throughputs::kind_of(job);
  if (table.has_gpu_type(kReference))
    return table.isolated_throughput(kReference, kind).value_or(0);
  double most = 0;
  for (const std::string& type : table.types()) {
    if (!type.ends_with(kUnconsolidated))
      most = std::max(most, table.isolated_throughput(type, kind).value_or(0));
  }
  return most;
}

// Sets the job's run time. Infinite, negative or NaN: not measured. Returns the reason if it
// cannot.
std::optional<UnusableReason> set_run_time(Job& job, double seconds,
                                           const UnusableReason& otherwise) {
  if (!(seconds >= 0 && std::isfinite(seconds))) return otherwise;
  if (seconds > static_cast<double>(kMaxTimeS)) {
    return UnusableReason{"run time too long",
                          "a run time of at most " + std::to_string(kMaxTimeS) + " s",
                          shortest_text(seconds)};
  }
  job.run_us = std::llround(seconds * 1e6);
  return std::nullopt;
}

template <class Fill>
void fill_lacking(Trace& trace, bool skip_unusable, Fill fill) {
  const auto each = [&](Job& job) { return lacks(job) ? fill(job) : std::nullopt; };
  check_usable(trace, each, skip_unusable);
}

void from_throughputs(Trace& trace, const std::string& file, bool skip_unusable) {
  const Throughputs table = Throughputs::load(file);
  fill_lacking(trace, skip_unusable, [&](Job& job) {
    return set_run_time(job, job.iterations / reference_throughput(table, job),
                        {"no throughput", "a throughput in " + file,
                         "none for " + Throughputs::text_of(Throughputs::kind_of(job))});
  });
}

void from_rates(Trace& trace, const std::string& file, bool skip_unusable) {
  const GoodputTable table = GoodputTable::load(file);
  fill_lacking(trace, skip_unusable, [&](Job& job) {
    const JobGoodputs* rates = table.find(job.id);
    return set_run_time(
        job, rates == nullptr ? -1 : rates->isolated_run_s_on_fewest_nodes(),
        {"no rates", "rates of every epoch in " + file, "too few for job '" + job.id + "'"});
  });
}

void note_unused(Trace& trace, const RunTimeFiles& files, const std::string& needed) {
  for (const auto& [name, file] :
       {std::pair("throughputs", &files.throughputs), std::pair("rates", &files.rates)}) {
    const bool read = name == needed || std::ranges::count(files.read_by_rules, name) > 0;
    if (file->empty() || read) continue;
    trace.notices.push_back({"--" + std::string(name) + " " + *file +
                                 " has no effect: no job takes its run time from this file",
                             0, trace.source});
  }
}

}  // namespace

bool lacks_run_times(const Trace& trace) { return std::ranges::any_of(trace.jobs, lacks); }

void fill_run_times(Trace& trace, const RunTimeFiles& files, bool skip_unusable) {
  const auto first = std::ranges::find_if(trace.jobs, lacks);
  if (first == trace.jobs.end()) return note_unused(trace, files, "");
  const bool steps = first->iterations > 0;
  note_unused(trace, files, steps ? "throughputs" : "rates");
  const std::string& file = steps ? files.throughputs : files.rates;
  const bool all = std::ranges::all_of(trace.jobs, lacks);  // the format has no run times
  if (file.empty() && skip_unusable && !steps && !all) {
    return fill_lacking(trace, skip_unusable, [](const Job&) {
      return std::optional(UnusableReason{"no run time", "a run time, or --rates FILE", "none"});
    });
  }
  if (file.empty()) {
    const std::string line = first->line > 0 ? ":" + std::to_string(first->line) : "";
    throw InputError(trace.source + line,
                     steps ? "--throughputs FILE, as the trace has steps instead of run times"
                           : "a run time, or --rates FILE",
                     "none");
  }
  steps ? from_throughputs(trace, file, skip_unusable) : from_rates(trace, file, skip_unusable);
}

}  // namespace yard
