// The Standard Workload Format of the Parallel Workloads Archive (Feitelson et al., version 2.2):
// rows of 18 numbers separated by blanks, -1 for unknown (and 0 for an unknown time requested),
// comments after ";". Processors are read as GPUs.
//
//   1 job  2 submitted  3 waited  4 ran  5 processors  8 processors requested  9 time requested
//   11 status  12 user  13 group  14 executable  15 queue  16 partition  17 preceding job
// Not read: 6, 7, 10 (CPU time, memory) and 18 (think time): a job may start as soon as its
// preceding job has ended. If that is not in the file, as in cleaned logs, the job arrives at its
// own submission.
// A job that was checkpointed or swapped has a row for the whole (status 0 or 1) and one for each
// part (2, 3, 4); parts are left out. If the row of the whole is missing, its parts are joined.
// Jobs that never ran are left out: cancelled (5) with a run time of 0 or none, or with neither run
// time nor processors. So are rows with a negative run time.
// Comments may be anywhere; UnixStartTime and MaxProcs (or MaxNodes) count before the first row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

struct Config {
  std::string processors = "larger", tenant = "queue";
  double unknown_run_s = -1;
  bool dependencies = true;
  void fields(FieldList& f) {
    f("processors", processors, {"larger", "requested", "allocated"},
      "processor count to read; an unknown count is replaced by the other count");
    f("tenant", tenant, {"queue", "partition", "group"},
      "field read as the tenant; queue: the group if the queue is unknown");
    f("unknown_run_s", unknown_run_s, -1.0, 1e9,
      "run time of jobs whose run time is unknown, in seconds; -1: such jobs are unusable");
    f("dependencies", dependencies, "start a job only after the job that it depends on has ended");
  }
};

constexpr char kComment = ';';
constexpr std::string_view kBlanks = " \t\r";
constexpr size_t kMinFields = 15, kMax = 24;  // numbers in a row that looks like SWF's

// Indices among the 18 numbers.
constexpr int kId = 0, kSubmitted = 1, kWaited = 2, kRan = 3, kProcessors = 4,
              kProcessorsRequested = 7, kTimeRequested = 8, kStatus = 10, kUser = 11, kGroup = 12,
              kExecutable = 13, kQueue = 14, kPartition = 15, kPreceding = 16, kThinkTime = 17;
const std::vector<std::string> kNames = {
    "job number",     "submit time",      "wait time",   "run time",
    "processors",     "CPU time used",    "memory used", "processors requested",
    "time requested", "memory requested", "status",      "user",
    "group",          "executable",       "queue",       "partition",
    "preceding job",  "think time"};

// Returns whether the line is a row: 18 numbers, or about as many if it is damaged.
bool is_row(std::string_view line) {
  line = line.substr(0, line.find(kComment));
  size_t fields = 0;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return fields >= kMinFields && fields <= kMax;
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    if (!parse_double(line.substr(0, end))) return false;
    line.remove_prefix(end);
    ++fields;
  }
}

bool is_unknown(std::string_view field) {
  return field == "-1" || (field.starts_with("-1.") && parse_double(field) == -1.0);
}

// Returns whether a number is negative, other than -1 for unknown.
bool is_negative(std::string_view field) {
  return !is_unknown(field) && parse_double(field).value_or(0) < 0;
}

// Returns a number that names something; empty if unknown, and "3" for "3.0".
std::string known(std::string_view field) {
  if (is_unknown(field)) return "";
  const std::optional<double> number = parse_double(field);
  if (!number || *number != std::trunc(*number) || std::abs(*number) >= 0x1p53) {
    return std::string(field);
  }
  return field.find_first_of(".eE") == field.npos ? std::string(field)
                                                  : std::to_string(std::llround(*number));
}

bool is_zero(std::string_view field) { return parse_double(field) == 0.0; }

class SwfReader : public TraceReader {
 public:
  Layout layout() const override {
    return {.separator = ' ', .head = 0, .names = 0, .comment = kComment, .columns = kNames};
  }

  // By the first row after the comments, or by comments alone.
  bool recognises(const FileHead& head) const override {
    std::string_view rest = head.text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      if (!trim(line).empty() && trim(line).front() != kComment) return is_row(line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return trim(head.text).starts_with(kComment);
  }

  void read(Rows& rows) const override {
    std::set<std::string> never_ran_ids;  // jobs that never ran: no job waits for their end
    std::map<std::string, Job> pieces;    // jobs joined from their parts
    int64_t thinking = 0;
    bool setting_used = config_.processors == "larger";  // some row has the number asked for
    rows.add_job_of_each_row([&](Job& job) {
      const std::string status = known(rows.field(kStatus));
      job.id = known(rows.field(kId));
      if (job.id.empty() && !rows.text(kId, job.id)) return false;
      const bool no_run = never_ran(rows, status);
      if (no_run || is_negative(rows.field(kRan))) {
        never_ran_ids.insert(std::move(job.id));
        return rows.leave_out_row(!no_run ? "ends before it starts: its run time is negative"
                                  : status == "5" ? "cancelled before it ran"
                                                  : "never started");
      }
      const bool part = status == "2" || status == "3" || status == "4";
      if (!rows.seconds(kSubmitted, job.submit_us) || !run_time(rows, job) ||
          !processors(rows, job) || !time_limit(rows, job.limit_us) || !logged_times(rows, job)) {
        return false;
      }
      const int counts = config_.processors == "requested" ? kProcessorsRequested : kProcessors;
      setting_used =
          setting_used || !(is_unknown(rows.field(counts)) || is_zero(rows.field(counts)));
      const std::string preceding = known(rows.field(kPreceding));
      if (config_.dependencies && preceding == job.id) {
        return rows.reject_row(kPreceding, "depends on itself", "the number of another job",
                               preceding);
      }
      if (config_.dependencies && !preceding.empty() && !never_ran_ids.contains(preceding)) {
        job.after = {preceding};
        const std::string think = known(rows.field(kThinkTime));
        thinking += !think.empty() && !is_zero(think);
      }
      job.status = status;
      job.user = known(rows.field(kUser));
      job.name = known(rows.field(kExecutable));
      job.tenant = tenant(rows);
      job.line = rows.line_number();
      if (!part) return true;
      join_part(std::move(job), pieces);
      return rows.leave_out_row("a part of a job");
    });
    for (auto& [id, job] : pieces) {
      if (!rows.has(id)) rows.add(std::move(job));
    }
    clear_missing_dependencies(rows);
    if (thinking > 0) {
      rows.add_file_notice("think times of " + std::to_string(thinking) +
                           (thinking == 1 ? " job" : " jobs") +
                           " are ignored: a job may start as soon as its preceding job has ended");
    }
    if (!setting_used && rows.size() > 0) {
      throw InputError("trace.processors",
                       "a log with the number of " + config_.processors + " processors",
                       "-1 (unknown) in every row of " + rows.source());
    }
    check_tenant(rows);
    read_header(rows);
  }

  std::string example() const override {
    return "; Version: 2.2\n"
           "; UnixStartTime: 893466664\n"
           "; MaxProcs: 256\n"
           "1 0 5 3600 64 -1 -1 64 7200 -1 1 3 1 -1 2 -1 -1 -1\n"
           "2 60 -1 120 -1 -1 -1 8 -1 -1 5 4 1 -1 -1 -1 1 30\n"
           "3 70 9 -1 -1 -1 -1 8 -1 -1 5 4 1 -1 -1 -1 -1 -1\n";
  }

 protected:
  // Cancelled in the queue, with a run time of 0 s or none. Whatever its status, a job without
  // processors and run time never started either.
  bool never_ran(const Rows& rows, const std::string& status) const {
    const std::string_view ran = rows.field(kRan);
    const bool no_time = is_zero(ran) || (is_unknown(ran) && config_.unknown_run_s < 0);
    if (!no_time) return false;
    if (status == "5") return true;
    const auto none = [&](int column) {
      return is_unknown(rows.field(column)) || is_zero(rows.field(column));
    };
    return none(kProcessors) && none(kProcessorsRequested);
  }

  // Joins parts in order: the run time is their sum, the start that of the first.
  static void join_part(Job part, std::map<std::string, Job>& pieces) {
    const auto [at, first] = pieces.try_emplace(part.id, part);
    if (first) return;
    Job& whole = at->second;
    whole.run_us += part.run_us;
    whole.gpus = std::max(whole.gpus, part.gpus);
    whole.logged_end_us = std::max(whole.logged_end_us, part.logged_end_us);
    whole.status = part.status;
  }

  // Jobs whose preceding job is not in the file arrive at their own submission.
  void clear_missing_dependencies(Rows& rows) const {
    int64_t count = 0;
    std::string first;
    for (size_t j = 0; j < rows.size(); ++j) {
      Job& job = rows.job(j);
      if (job.after.empty() || rows.has(job.after.front())) continue;
      if (count++ == 0) {
        first = "job " + job.id + " on line " + std::to_string(job.line) + " after job " +
                job.after.front();
      }
      job.after.clear();
    }
    if (count == 0) return;
    rows.add_file_notice(std::to_string(count) + (count == 1 ? " job depends" : " jobs depend") +
                         " on a job that is not in the file (" + first +
                         "): logged submission times are used");
  }

  // Throws InputError if trace.tenant is set but no row has a value for it.
  void check_tenant(Rows& rows) const {
    if (settings_.find("tenant") == nullptr || rows.size() == 0) return;
    for (size_t j = 0; j < rows.size(); ++j) {
      if (!rows.job(j).tenant.empty()) return;
    }
    throw InputError("trace.tenant", "a log whose rows have a " + config_.tenant,
                     "-1 (unknown) in every row of " + rows.source());
  }

  bool run_time(Rows& rows, Job& job) const {
    if (!is_unknown(rows.field(kRan))) return rows.seconds(kRan, job.run_us);
    if (config_.unknown_run_s >= 0) {
      job.run_us = std::llround(config_.unknown_run_s * 1e6);
      job.run_unknown = true;
      return true;
    }
    return rows.reject_row(
        "unknown run time",
        "a run time in seconds (--set trace.unknown_run_s=10 sets one for such jobs)", "-1");
  }

  bool processors(Rows& rows, Job& job) const {
    int64_t had = 0, requested = 0;
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (!rows.integer(kProcessors, had, -1, kMax) ||
        !rows.integer(kProcessorsRequested, requested, -1, kMax)) {
      return false;
    }
    const bool by_had = config_.processors == "larger"      ? had >= requested
                        : config_.processors == "allocated" ? had > 0 || requested <= 0
                                                            : requested <= 0;
    return rows.gpus(by_had ? kProcessors : kProcessorsRequested, job.gpus);
  }

  // No job requests 0 s: archives write it where the request is unknown.
  static bool time_limit(Rows& rows, int64_t& out_us) {
    const std::string_view said = rows.field(kTimeRequested);
    return is_zero(said) || is_unknown(said) || rows.seconds(kTimeRequested, out_us);
  }

  static bool logged_times(Rows& rows, Job& job) {
    if (is_negative(rows.field(kWaited))) {
      rows.add_row_notice("starts before its submission: its logged times are not used");
      return true;
    }
    if (is_unknown(rows.field(kWaited))) return true;
    int64_t waited_us = 0;
    if (!rows.seconds(kWaited, waited_us)) return false;
    job.logged_start_us = job.submit_us + waited_us;
    if (!is_unknown(rows.field(kRan))) job.logged_end_us = job.logged_start_us + job.run_us;
    return true;
  }

  std::string tenant(const Rows& rows) const {
    const auto named = [&](const char* kind, int column) {
      const std::string number = known(rows.field(column));
      return number.empty() ? number : kind + number;
    };
    if (config_.tenant == "partition") return named("partition", kPartition);
    if (config_.tenant == "group") return named("group", kGroup);
    const std::string queue = named("queue", kQueue);
    return queue.empty() ? named("group", kGroup) : queue;
  }

  // Logs count time from UnixStartTime; models give 0 or omit it.
  static void read_header(Rows& rows) {
    const auto number = [&](const char* name) {
      const std::string said =
          rows.header_comment_value(name).value_or("");  // text may follow the number
      return parse_int(said.substr(0, said.find_first_of(" \t(,;"))).value_or(0);
    };
    constexpr int64_t kLatestS = 100'000'000'000;
    const int64_t begin_s = number("UnixStartTime");
    if (begin_s > 0 && begin_s <= kLatestS) rows.set_epoch_unix_s(begin_s);
    const int64_t most = std::max<int64_t>(0, number("MaxProcs"));
    const int64_t machine = most > 0 ? most : number("MaxNodes");
    if (machine > 0 && machine <= std::numeric_limits<int32_t>::max()) {
      rows.set_recorded_cluster_gpus(static_cast<int32_t>(machine));
    }
  }

  Config config_;
  Settings settings_;
};

const AddReader<SwfReader, Config> kAdd{
    "swf",
    "Standard Workload Format 2.2 of the Parallel Workloads Archive; processors read as GPUs. "
    "CPU time, memory and think time are ignored. Jobs that never ran are left out. Parts of a "
    "job (status 2 to 4) are joined if the row of the whole job is missing."};

}  // namespace
}  // namespace yard
