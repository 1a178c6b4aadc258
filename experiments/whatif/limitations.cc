#include "experiments/whatif/limitations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/files/lines.h"
#include "env/trace/core/notices.h"
#include "env/trace/formats/sacct/sacct_lines.h"
#include "experiments/scenario/smallest_cluster.h"

namespace yard::whatif {
namespace {

// Counts of scored jobs which lack an attribute.
struct Counts {
  bool windowed = false;  // whether some jobs of the log are not scored
  int64_t jobs = 0, no_limit = 0, no_user = 0, no_partition = 0, no_gpu = 0, no_start = 0;
  bool priorities = false;
};

Counts count(const Trace& trace) {
  Counts out;
  for (const Job& job : trace.jobs) {
    out.priorities = out.priorities || job.priority != 0;
    if (!job.scored) {
      out.windowed = true;
      continue;
    }
    ++out.jobs;
    out.no_limit += job.limit_us < 0 ? 1 : 0;
    out.no_user += job.user.empty() ? 1 : 0;
    out.no_partition += job.tenant.empty() ? 1 : 0;
    out.no_gpu += job.gpus == 0 ? 1 : 0;
    out.no_start += job.logged_start_us < 0 ? 1 : 0;
  }
  return out;
}

constexpr const char* kGpusPerNode =
    "where the log counts nodes, --set trace.gpus_per_node=N says how many GPUs each has";

}  // namespace

std::vector<std::string> log_limitations(const Trace& trace, const LogInfo& facts) {
  std::vector<std::string> out;
  const Counts of = count(trace);
  // Jobs are counted in the window, but rows in the whole file.
  const std::string in_window = of.windowed ? " in the window" : "";
  // Adds "no job names a user", "1 of 300 jobs names no user" or "12 of 300 jobs name no user".
  const auto add = [&](int64_t num_lacking, const char* none, const char* one, const char* some,
                       const std::string& consequence) {
    if (num_lacking == 0) return;
    out.push_back((num_lacking == of.jobs ? fmt::format("no job{} {}", in_window, none)
                                          : fmt::format("{} of {} jobs{} {}", num_lacking, of.jobs,
                                                        in_window, num_lacking == 1 ? one : some)) +
                  consequence);
  };
  if (facts.cluster_inferred) {
    out.push_back("the cluster is guessed: " + facts.cluster +
                  " is the least that can have run these jobs, and the real one may be larger; "
                  "--cluster says it");
  }
  if (const int64_t most = max_gpus_held(trace);
      facts.cluster_gpus > 0 && most > facts.cluster_gpus) {
    out.push_back(fmt::format(
        "jobs of the log held {} GPUs at once, and {} has {}: what is simulated waits longer than "
        "the site's jobs did",
        most, facts.cluster, facts.cluster_gpus));
  }
  if (of.no_gpu == of.jobs) {
    out.push_back(fmt::format("no job{} asks for GPUs, so that none waits for them; {}", in_window,
                              kGpusPerNode));
  } else {
    add(of.no_gpu, "asks for GPUs", "asks for no GPU: it waits for CPUs and memory alone",
        "ask for no GPU: they wait for CPUs and memory alone", "");
  }
  add(of.no_limit, "names a time limit", "names no time limit", "name no time limit", "");
  out.insert(out.end(), facts.notes.begin(), facts.notes.end());
  add(of.no_user, "names a user", "names no user", "name no user",
      of.no_user == of.jobs ? ": no table by user" : "");
  add(of.no_partition, "names a partition or queue", "names no partition or queue",
      "name no partition or queue", of.no_partition == of.jobs ? ": no table by partition" : "");
  add(of.no_start, "says when it started", "does not say when it started",
      "do not say when they started", ": simulated, but not counted");
  if (facts.ignores_eligible) {
    out.push_back(
        "trace.arrival=Submit: jobs arrive when they were submitted, so that time on hold or "
        "behind a dependency counts as waiting in the log, and the simulated job may start in it");
  } else if (!facts.has_eligible) {
    out.push_back(
        "no column says when a job became eligible (sacct's Eligible): time on hold or behind a "
        "dependency counts as waiting in the log, and the simulated job may start in it");
  }
  if (!of.priorities) out.push_back("no job has a priority: the site's own order cannot be met");
  for (const Skipped& what : trace.skipped) {
    out.push_back(fmt::format("{} row{}{} left out: {}, the first at {}", what.count,
                              what.count == 1 ? "" : "s", of.windowed ? " of the whole file" : "",
                              what.reason, what.first));
  }
  for (const Skipped& what : trace.notices) {
    out.push_back((of.windowed && what.count > 0 ? "in the whole file: " : "") + note_text(what));
  }
  return out;
}

bool has_eligible_times(const std::string& path, const std::string& format) {
  if (format == "sacct") {
    Lines lines = Lines::of_file(path);
    std::string_view line;
    if (!lines.next(line)) return false;
    const std::optional<SacctHeader> header = read_sacct_header(line);
    return header && std::ranges::count(header->columns, "Eligible") > 0;
  }
  if (format != "sacct-json") return false;
  bool found = false;
  std::vector<std::string> keys;  // path to the current value, by depth
  using Json = nlohmann::json;
  const Json::parser_callback_t look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event != Json::parse_event_t::key) return true;
    keys.resize(static_cast<size_t>(depth) + 1);
    keys.back() = parsed.get<std::string>();
    found = found || (depth > 0 && keys.back() == "eligible" && keys[keys.size() - 2] == "time");
    return false;  // discards the value
  };
  [[maybe_unused]] const Json empty = Json::parse(read_unpacked(path), look, false);
  return found;
}

void require_logged_times(const Trace& trace) {
  const auto starts = [](const Job& job) { return job.scored && job.logged_start_us >= 0; };
  if (std::ranges::any_of(trace.jobs, starts)) return;
  throw InputError(trace.source,
                   "jobs whose start is logged (sacct's columns Start and End, or "
                   "logged_start_s and logged_end_s)",
                   "none");
}

}  // namespace yard::whatif
