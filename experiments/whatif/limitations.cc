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
  int64_t jobs = 0, no_limit = 0, no_user = 0, no_partition = 0, no_gpu = 0, no_start = 0,
          no_time = 0;
  int64_t interrupted = 0;   // from start to end longer than the run time
  double interrupted_s = 0;  // the differences, summed
  bool priorities = false;
};

// Returns the time from a job's logged start to its end beyond its run time: lost runs, suspensions
// and the waits after them. Differences of up to a second may be due to rounding.
double interrupted_s(const Job& job) {
  if (job.logged_start_us < 0 || job.logged_end_us < 0 || job.run_us < 0) return 0;
  const int64_t us = job.logged_end_us - job.logged_start_us - job.run_us;
  return us > 1'000'000 ? 1e-6 * static_cast<double>(us) : 0;
}

Counts count(const Trace& trace) {
  Counts out;
  for (const Job& job : trace.jobs) {
    if (job.copy) continue;
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
    out.no_time += job.logged_start_us >= 0 && job.run_us == 0 ? 1 : 0;
    out.no_start += job.logged_start_us < 0 ? 1 : 0;
    const double seconds = interrupted_s(job);
    out.interrupted += seconds > 0 ? 1 : 0;
    out.interrupted_s += seconds;
  }
  return out;
}

constexpr const char* kGpusPerNode =
    "if the log counts nodes, set the GPUs per node with --set trace.gpus_per_node=N";

}  // namespace

std::vector<std::string> log_limitations(const Trace& trace, const LogInfo& facts) {
  std::vector<std::string> out;
  const Counts of = count(trace);
  // Jobs are counted in the window, but rows in the whole file.
  const std::string in_window = of.windowed ? " in the window" : "";
  // Adds "no job has a user", "1 of 300 jobs has no user" or "12 of 300 jobs have no user".
  const auto add = [&](int64_t num_lacking, const char* none, const char* one, const char* some,
                       const std::string& consequence) {
    if (num_lacking == 0) return;
    out.push_back((num_lacking == of.jobs ? fmt::format("no job{} {}", in_window, none)
                                          : fmt::format("{} of {} jobs{} {}", num_lacking, of.jobs,
                                                        in_window, num_lacking == 1 ? one : some)) +
                  consequence);
  };
  if (facts.cluster_inferred) {
    out.push_back("the cluster is inferred: " + facts.cluster +
                  " is the smallest that can have run these jobs, and the real one may be larger; "
                  "set it with --cluster");
  }
  if (const int64_t most = max_gpus_held(trace);
      facts.cluster_gpus > 0 && most > facts.cluster_gpus) {
    out.push_back(fmt::format(
        "jobs of the log held {} GPUs at once, but {} has {}: simulated waits are longer than the "
        "site's",
        most, facts.cluster, facts.cluster_gpus));
  }
  if (of.no_gpu == of.jobs) {
    out.push_back(
        fmt::format("no job{} requests GPUs, so none waits for them; {}", in_window, kGpusPerNode));
  } else {
    add(of.no_gpu, "requests GPUs", "requests no GPU: it waits only for CPUs and memory",
        "request no GPU: they wait only for CPUs and memory", "");
  }
  add(of.no_limit, "has a time limit", "has no time limit", "have no time limit", "");
  out.insert(out.end(), facts.notes.begin(), facts.notes.end());
  add(of.no_user, "has a user", "has no user", "have no user",
      of.no_user == of.jobs ? ": no table by user" : "");
  add(of.no_partition, "has a partition or queue", "has no partition or queue",
      "have no partition or queue", of.no_partition == of.jobs ? ": no table by partition" : "");
  add(of.no_start, "has a start time", "has no start time", "have no start time",
      ": simulated, but excluded from all figures");
  add(of.no_time, "ran for more than 0 s", "ran for 0 s", "ran for 0 s",
      ": if it never ran, its wait should not count");
  if (of.interrupted > 0) {
    out.push_back(fmt::format(
        "{} of {} jobs{} took longer from start to end than {} run time (requeued or suspended): "
        "this adds {:.0f} s to the mean logged wait, but is not simulated, so the ratio to the log "
        "is too low",
        of.interrupted, of.jobs, in_window, of.interrupted == 1 ? "its" : "their",
        of.interrupted_s / static_cast<double>(of.jobs - of.no_start)));
  }
  if (facts.ignores_eligible) {
    out.push_back(
        "trace.arrival=Submit: jobs arrive at submission, so time on hold or waiting for a "
        "dependency counts as logged wait, and simulated jobs may start during it");
  } else if (!facts.has_eligible && trace.format.starts_with("yardmaster")) {
    out.push_back(
        "a wait is counted from submit_s: if a job was on hold or waited for a dependency after "
        "it, "
        "that time counts as logged wait, and the simulated job may start during it");
  } else if (!facts.has_eligible) {
    out.push_back(
        "no column has the time a job became eligible (sacct's Eligible), so time on hold or "
        "waiting for a dependency counts as logged wait, and simulated jobs may start during it");
  }
  if (!of.priorities)
    out.push_back("no job has a priority: the site's own order cannot be reproduced");
  for (const CountedRows& what : trace.skipped) {
    out.push_back(fmt::format("{} row{}{} left out: {}, the first at {}", what.count,
                              what.count == 1 ? "" : "s", of.windowed ? " of the whole file" : "",
                              what.reason, what.first));
  }
  for (const CountedRows& what : trace.notices) {
    out.push_back((of.windowed && what.count > 0 ? "in the whole file: " : "") +
                  format_notice(what));
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
  [[maybe_unused]] const Json empty = Json::parse(read_decompressed_file(path), look, false);
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
