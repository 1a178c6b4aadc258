#include "experiments/whatif/lacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "env/base/error.h"
#include "env/base/file.h"

namespace yard::whatif {
namespace {

// Of scored jobs.
struct Counts {
  int64_t jobs = 0, no_limit = 0, no_user = 0, no_partition = 0, no_gpu = 0, no_start = 0;
  bool priorities = false;
};

Counts count(const Trace& trace) {
  Counts out;
  for (const Job& job : trace.jobs) {
    out.priorities = out.priorities || job.priority != 0;
    if (!job.scored) continue;
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

std::vector<std::string> lacks_of(const Trace& trace, const LogFacts& facts) {
  std::vector<std::string> out;
  const Counts of = count(trace);
  // "no job names a user" or "12 of 300 jobs name no user", where it is any at all.
  const auto add = [&](int64_t lacking, const char* no_job, const char* some,
                       const std::string& so) {
    if (lacking == 0) return;
    out.push_back((lacking == of.jobs ? std::string("no job ") + no_job
                                      : fmt::format("{} of {} jobs {}", lacking, of.jobs, some)) +
                  so);
  };
  if (facts.cluster_guessed) {
    out.push_back("the cluster is guessed: " + facts.cluster +
                  " is the least that can have run these jobs, and the real one may be larger; "
                  "--cluster says it");
  }
  if (of.no_gpu == of.jobs) {
    out.push_back(std::string("no job asks for GPUs, so that none waits for them; ") +
                  kGpusPerNode);
  } else {
    add(of.no_gpu, "asks for GPUs", "ask for no GPU", ": they wait for CPUs and memory alone");
  }
  add(of.no_limit, "names a time limit", "name no time limit",
      facts.notes.empty() ? "" : "; " + facts.notes.front());
  for (size_t i = 1; i < facts.notes.size(); ++i) out.push_back(facts.notes[i]);
  add(of.no_user, "names a user", "name no user",
      of.no_user == of.jobs ? ": no table by user" : "");
  add(of.no_partition, "names a partition or queue", "name no partition or queue",
      of.no_partition == of.jobs ? ": no table by partition" : "");
  add(of.no_start, "says when it started", "do not say when they started",
      ": simulated, but not counted");
  if (!facts.has_eligible) {
    out.push_back(
        "no column says when a job became eligible (sacct's Eligible): time on hold or behind a "
        "dependency counts as waiting in the log, and the simulated job may start in it");
  }
  if (!of.priorities) out.push_back("no job has a priority: the site's own order cannot be met");
  for (const Skipped& what : trace.skipped) {
    if (what.count == 0) {  // a reader's notice about the file as a whole
      out.push_back(what.first + ": " + what.reason);
      continue;
    }
    out.push_back(fmt::format("{} row{} left out: {}, the first at {}", what.count,
                              what.count == 1 ? "" : "s", what.reason, what.first));
  }
  return out;
}

bool names_eligible(const std::string& path) {
  constexpr size_t kHead = 64 << 10, kHeadLines = 3;
  std::string head = read_unpacked(path).substr(0, kHead);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first != head.npos && head[first] != '{' && head[first] != '[') {
    // Below its names a table holds what users wrote.
    size_t end = 0;
    for (size_t line = 0; line < kHeadLines && end < head.size(); ++line) {
      end = std::min(head.find('\n', end), head.size() - 1) + 1;
    }
    head.resize(end);
  }
  std::ranges::transform(head, head.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return head.find("eligible") != head.npos;
}

void need_times(const Trace& trace) {
  const auto starts = [](const Job& job) { return job.scored && job.logged_start_us >= 0; };
  if (std::ranges::any_of(trace.jobs, starts)) return;
  throw InputError(trace.source,
                   "jobs whose start is logged (sacct's columns Start and End, or "
                   "logged_start_s and logged_end_s)",
                   "none");
}

}  // namespace yard::whatif
