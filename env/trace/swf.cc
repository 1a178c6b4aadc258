// The Standard Workload Format of the Parallel Workloads Archive (Feitelson et al., version 2.2):
// rows of 18 numbers between blanks, -1 for what is not known, comments behind ";". Processors are
// taken for GPUs.
//
//   1 job  2 submitted  3 waited  4 ran  5 processors  8 processors requested  9 time requested
//   11 status  12 user  13 group  14 executable  15 queue  16 partition  17 preceding job
// 6, 7 and 10 (CPU time, memory) are not read, nor is 18: a job with a preceding one is blocked
// until that has ended, but does not think for a while then.
// A job that was checkpointed or swapped has a row for the whole (status 0 or 1) and one for each
// of its parts (2, 3, 4), which are left out; so is who was cancelled (5) before it ran. Of the
// comments, UnixStartTime and MaxProcs (or MaxNodes) count.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "env/base/registry.h"
#include "env/base/text.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"

namespace yard {
namespace {

struct Config {
  std::string processors = "larger", tenant = "queue";
  double unknown_run_s = -1;
  bool dependencies = true;
  void fields(FieldList& f) {
    f("processors", processors, {"larger", "requested", "allocated"},
      "which of the two numbers counts; where one is not known the other does");
    f("tenant", tenant, {"queue", "partition", "group"},
      "which number names it; queue: the group where no queue is known");
    f("unknown_run_s", unknown_run_s, -1.0, 1e9,
      "what a job runs whose run time is not known; -1: it is unusable");
    f("dependencies", dependencies, "a job waits for the end of its preceding job");
  }
};

constexpr char kComment = ';';
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kUnknown = "-1";

// By index, of 18.
enum Column {
  kId = 0,
  kSubmitted = 1,
  kWaited = 2,
  kRan = 3,
  kProcessors = 4,
  kProcessorsRequested = 7,
  kTimeRequested = 8,
  kStatus = 10,
  kUser = 11,
  kGroup = 12,
  kExecutable = 13,
  kQueue = 14,
  kPartition = 15,
  kPreceding = 16,
};
const std::vector<std::string> kNames = {
    "job number",     "submit time",      "wait time",   "run time",
    "processors",     "CPU time used",    "memory used", "processors requested",
    "time requested", "memory requested", "status",      "user",
    "group",          "executable",       "queue",       "partition",
    "preceding job",  "think time"};

bool is_row(std::string_view line) {
  size_t fields = 0;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return fields == kNames.size();
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    if (!parse_double(line.substr(0, end))) return false;
    line.remove_prefix(end);
    ++fields;
  }
}

std::string known(std::string_view field) { return field == kUnknown ? "" : std::string(field); }

class SwfReader final : public TraceReader {
 public:
  explicit SwfReader(const Settings& settings) : config_(parse<Config>(settings)) {}

  Layout layout() const override {
    return {.separator = ' ', .head = 0, .names = 0, .comment = kComment, .columns = kNames};
  }

  // By the first row behind the comments, or by comments alone.
  bool recognises(const FileHead& head) const override {
    std::string_view rest = head.text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      if (!trim(line).empty() && line.front() != kComment) return is_row(line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return head.text.starts_with(kComment);
  }

  void read(Rows& rows) const override {
    std::set<std::string> gone;  // who never ran: nobody waits for their end
    while (rows.next()) {
      Job job;
      if (!rows.text(kId, job.id)) continue;
      const std::string_view status = rows.field(kStatus);
      if (status == "2" || status == "3" || status == "4") {
        rows.left_out("a part of a job");
        continue;
      }
      if (status == "5" && rows.field(kRan) == kUnknown && config_.unknown_run_s < 0) {
        rows.left_out("cancelled before it ran");
        gone.insert(std::move(job.id));
        continue;
      }
      if (!rows.seconds(kSubmitted, job.submit_us) || !run_time(rows, job) ||
          !processors(rows, job) || !optional_seconds(rows, kTimeRequested, job.limit_us) ||
          !logged_times(rows, job)) {
        continue;
      }
      const std::string preceding = known(rows.field(kPreceding));
      if (config_.dependencies && preceding == job.id) {
        rows.unusable(kPreceding, "waits for itself", "the number of another job", preceding);
        continue;
      }
      if (config_.dependencies && !preceding.empty() && !gone.contains(preceding)) {
        job.after = {preceding};
      }
      job.status = known(rows.field(kStatus));
      job.user = known(rows.field(kUser));
      job.name = known(rows.field(kExecutable));
      job.tenant = tenant(rows);
      rows.add(std::move(job));
    }
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

 private:
  bool run_time(Rows& rows, Job& job) const {
    if (rows.field(kRan) != kUnknown) return rows.seconds(kRan, job.run_us);
    if (config_.unknown_run_s >= 0) {
      job.run_us = std::llround(config_.unknown_run_s * 1e6);
      job.run_unknown = true;
      return true;
    }
    rows.unusable("run time is not known",
                  "a run time in seconds (--set trace.unknown_run_s=10 says what such jobs run)",
                  std::string(kUnknown));
    return false;
  }

  bool processors(Rows& rows, Job& job) const {
    int64_t had = 0, requested = 0;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (!rows.whole(kProcessors, had, -1, kMost) ||
        !rows.whole(kProcessorsRequested, requested, -1, kMost)) {
      return false;
    }
    const bool by_had = config_.processors == "larger"      ? had >= requested
                        : config_.processors == "allocated" ? had > 0 || requested <= 0
                                                            : requested <= 0;
    return rows.gpus(by_had ? kProcessors : kProcessorsRequested, job.gpus);
  }

  // -1 stays -1.
  static bool optional_seconds(Rows& rows, Column column, int64_t& out_us) {
    return rows.field(column) == kUnknown || rows.seconds(column, out_us);
  }

  static bool logged_times(Rows& rows, Job& job) {
    int64_t waited_us = -1;
    if (!optional_seconds(rows, kWaited, waited_us)) return false;
    if (waited_us < 0) return true;
    job.logged_start_us = job.submit_us + waited_us;
    if (rows.field(kRan) != kUnknown) job.logged_end_us = job.logged_start_us + job.run_us;
    return true;
  }

  std::string tenant(const Rows& rows) const {
    const auto named = [&](const char* kind, Column column) {
      const std::string number = known(rows.field(column));
      return number.empty() ? number : kind + number;
    };
    if (config_.tenant == "partition") return named("partition", kPartition);
    if (config_.tenant == "group") return named("group", kGroup);
    const std::string queue = named("queue", kQueue);
    return queue.empty() ? named("group", kGroup) : queue;
  }

  // A log counts its times from UnixStartTime; models say 0, or nothing.
  static void read_header(Rows& rows) {
    const auto number = [&](const char* name) {
      return parse_int(rows.header(name).value_or("")).value_or(0);
    };
    constexpr int64_t kLatestS = 100'000'000'000;
    const int64_t begin_s = number("UnixStartTime");
    if (begin_s > 0 && begin_s <= kLatestS) rows.set_epoch_unix_s(begin_s);
    const int64_t most = std::max<int64_t>(0, number("MaxProcs"));
    const int64_t machine = most > 0 ? most : number("MaxNodes");
    if (machine > 0 && machine <= std::numeric_limits<int32_t>::max()) {
      rows.set_machine_gpus(static_cast<int32_t>(machine));
    }
  }

  Config config_;
};

const Registry<TraceReader>::Add<SwfReader> kAdd{
    "swf",
    {.help = "Standard Workload Format of the Parallel Workloads Archive; processors as GPUs",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
