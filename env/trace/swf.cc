// The Standard Workload Format of the Parallel Workloads Archive (Feitelson et al.): rows of 18
// numbers between blanks, -1 for what is not known, comments behind ";". Processors are taken for
// GPUs, the larger of those allocated and those requested.
//
//   1 job  2 submitted  3 waited  4 ran  5 processors  8 processors requested  9 time requested
//   11 status  12 user  13 group  14 executable  15 queue; the others are not read
#include <algorithm>
#include <limits>

#include "env/base/registry.h"
#include "env/base/text.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"

namespace yard {
namespace {

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
  explicit SwfReader(const Settings& settings) { parse<NoConfig>(settings); }

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
    while (rows.next()) {
      Job job;
      if (!rows.text(kId, job.id) || !rows.seconds(kSubmitted, job.submit_us) ||
          !run_time(rows, job) || !processors(rows, job) ||
          !optional_seconds(rows, kTimeRequested, job.limit_us) || !logged_times(rows, job)) {
        continue;
      }
      job.status = known(rows.field(kStatus));
      job.user = known(rows.field(kUser));
      job.name = known(rows.field(kExecutable));
      job.tenant = tenant(rows);
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "; Version: 2.2\n"
           "; MaxProcs: 256\n"
           "1 0 5 3600 64 -1 -1 64 7200 -1 1 3 1 -1 2 -1 -1 -1\n"
           "2 60 -1 120 -1 -1 -1 8 -1 -1 5 4 1 -1 -1 -1 -1 -1\n";
  }

 private:
  static bool run_time(Rows& rows, Job& job) {
    if (rows.field(kRan) != kUnknown) return rows.seconds(kRan, job.run_us);
    rows.unusable("run time is not known", "a run time in seconds", std::string(kUnknown));
    return false;
  }

  static bool processors(Rows& rows, Job& job) {
    int64_t had = 0, requested = 0;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (!rows.whole(kProcessors, had, -1, kMost) ||
        !rows.whole(kProcessorsRequested, requested, -1, kMost)) {
      return false;
    }
    return rows.gpus(had >= requested ? kProcessors : kProcessorsRequested, job.gpus);
  }

  // -1 stays -1.
  static bool optional_seconds(Rows& rows, Column column, int64_t& out_us) {
    return rows.field(column) == kUnknown || rows.seconds(column, out_us);
  }

  static bool logged_times(Rows& rows, Job& job) {
    int64_t waited_us = -1;
    if (!optional_seconds(rows, kWaited, waited_us)) return false;
    if (waited_us >= 0) {
      job.logged_start_us = job.submit_us + waited_us;
      job.logged_end_us = job.logged_start_us + job.run_us;
    }
    return true;
  }

  static std::string tenant(const Rows& rows) {
    if (rows.field(kQueue) != kUnknown) return "queue" + std::string(rows.field(kQueue));
    if (rows.field(kGroup) != kUnknown) return "group" + std::string(rows.field(kGroup));
    return "";
  }
};

const Registry<TraceReader>::Add<SwfReader> kAdd{
    "swf",
    {.help = "Standard Workload Format of the Parallel Workloads Archive; processors as GPUs"}};

}  // namespace
}  // namespace yard
