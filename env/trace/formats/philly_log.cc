// cluster_job_log of Microsoft's Philly, 2017 (Jeon et al., ATC 2019), as its authors publish it:
// one JSON array, or an object per line, of jobs. Keys: jobid, user, vc (as tenant), status,
// submitted_time and attempts. An attempt has start_time, end_time (either may be null) and detail:
// its servers with the names of their GPUs. Dates are of a wall clock. A job runs as long as all
// its attempts, on the largest number of GPUs of any; the rest of the log's time is wait. Attempts
// without a start, or without an end after it, do not count; a notice says so. A job with no other
// attempt is left out as never started (no start) or not ended (no end). cluster_machine_list in
// the same folder gives the size of the cluster.
#include <algorithm>
#include <array>
#include <filesystem>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/lines.h"
#include "env/base/text/text.h"
#include "env/trace/core/column_names.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/timestamps.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/native_json.h"
#include "env/trace/formats/philly.h"

namespace yard {
namespace {

// Splits the text of a list, line by line, into its objects.
class Objects {
 public:
  // Calls `take` with each object that ends in this line.
  template <class Take>
  void add(std::string_view line, Take&& take) {
    for (const char c : line) {
      if (depth_ == 0 && c != '{') continue;  // brackets and commas of the list
      text_ += c;
      if (escaped_) {
        escaped_ = false;
      } else if (quoted_) {
        escaped_ = c == '\\';
        quoted_ = c != '"';
      } else if (c == '"') {
        quoted_ = true;
      } else if (c == '{') {
        ++depth_;
      } else if (c == '}' && --depth_ == 0) {
        take(std::string_view(text_));
        text_.clear();
      }
      if (text_.size() > kMaxObjectBytes)
        throw InputError("expected jobs of at most 64 MiB, got a larger one");
    }
    if (depth_ > 0) text_ += '\n';
  }
  bool open() const { return depth_ > 0; }

 private:
  static constexpr size_t kMaxObjectBytes = 1 << 26;
  std::string text_;
  int depth_ = 0;
  bool quoted_ = false, escaped_ = false;
};

class PhillyLogReader final : public TraceReader {
 public:
  explicit PhillyLogReader(const Settings& settings)
      : config_(parse<PhillyConfig>(settings)), zone_(config_.zone, "trace.zone") {}

  bool recognises(const FileHead& head) const override {
    const std::string_view text = trim(head.text);
    const auto has = [&](std::string_view key) { return text.find(key) != text.npos; };
    return (text.starts_with('[') || text.starts_with('{')) && has("\"jobid\"") &&
           has("\"attempts\"") && has("\"submitted_time\"");
  }

  Layout layout() const override {
    return {.separator = '\0', .head = 0, .names = 0, .columns = {""}};
  }

  void read(Rows& rows) const override {
    Objects objects;
    int64_t broken = 0;
    std::set<std::string> clusters;
    rows.start_at_first_submission();
    while (rows.next()) {
      bool began = objects.open();
      objects.add(rows.line(), [&](std::string_view text) {
        began = true;
        read_job(rows, text, broken, clusters);
      });
      if (began || objects.open()) continue;
      if (trim(rows.line()).find_first_not_of("[],") == std::string_view::npos) continue;
      rows.unusable("not a job", "a JSON object", shown_line(rows.line()));
    }
    if (objects.open()) {
      rows.unusable("incomplete job", "a closing brace", "the end of the file");
    }
    config_.check_vc(clusters);
    if (broken > 0) {
      rows.note_file(std::to_string(broken) + (broken == 1 ? " attempt has" : " attempts have") +
                     " no start or no end after the start: not counted as run time");
    }
    read_machines(rows);
  }

  std::string example() const override {
    return "[{\"status\":\"Pass\",\"vc\":\"ee9e8c\",\"jobid\":\"application_1506638472019_14199\","
           "\"attempts\":[{\"start_time\":\"2017-10-07 01:12:09\",\"end_time\":\"2017-10-07 "
           "01:13:23\",\"detail\":[{\"ip\":\"m47\",\"gpus\":[\"gpu0\",\"gpu1\"]}]}],"
           "\"submitted_time\":\"2017-10-07 01:11:39\",\"user\":\"ce2f4c\"},\n"
           "{\"status\":\"Killed\",\"vc\":\"ee9e8c\",\"jobid\":\"application_1506638472019_14200\","
           "\"attempts\":[{\"start_time\":\"2017-10-07 02:12:09\",\"end_time\":\"2017-10-07 "
           "02:13:23\",\"detail\":[{\"ip\":\"m47\",\"gpus\":[\"gpu0\"]}]}],"
           "\"submitted_time\":\"2017-10-07 02:11:39\",\"user\":\"ce2f4c\"}]\n";
  }

 private:
  static std::string shown_line(std::string_view line) {
    return "'" + std::string(line.substr(0, 40)) + "'";
  }

  static std::string text_of(const Json& from, const char* key) {
    const auto it = from.find(key);
    return it != from.end() && it->is_string() ? it->get<std::string>() : std::string();
  }

  // Returns a date; -1: none.
  int64_t date_of(const Json& from, const char* key) const {
    const std::optional<int64_t> us = calendar_us(text_of(from, key), zone_);
    return us && *us >= 0 ? *us : -1;
  }

  static int32_t gpus_of(const Json& attempt) {
    const auto detail = attempt.find("detail");
    if (detail == attempt.end() || !detail->is_array()) return 0;
    size_t gpus = 0;
    for (const Json& server : *detail) {
      if (server.is_object() && server.contains("gpus") && server["gpus"].is_array()) {
        gpus += server["gpus"].size();
      }
    }
    return static_cast<int32_t>(std::min<size_t>(gpus, 1 << 20));
  }

  // Adds to `broken`, and the virtual cluster to `clusters` if one was selected.
  void read_job(Rows& rows, std::string_view text, int64_t& broken,
                std::set<std::string>& clusters) const {
    Flaw flaw;
    const std::optional<Json> from = parse_json(text, flaw);
    if (!from) return rows.unusable_at(flaw.place, flaw.reason, flaw.expected, flaw.got);
    Job job;
    job.id = text_of(*from, "jobid");
    job.user = text_of(*from, "user");
    job.tenant = text_of(*from, "vc");
    job.status = text_of(*from, "status");
    job.submit_us = date_of(*from, "submitted_time");
    const auto attempts = from->find("attempts");
    if (job.id.empty() || attempts == from->end() || !attempts->is_array()) {
      return rows.unusable("not a job", "an object with jobid and attempts", "another object");
    }
    if (!config_.vc.empty()) clusters.insert(job.tenant);
    if (!config_.vc.empty() && job.tenant != config_.vc) {
      return rows.left_out("another virtual cluster");
    }
    bool started = false, backwards = false;
    int64_t lacking = 0;
    for (const Json& attempt : *attempts) {
      if (!attempt.is_object()) continue;
      const int64_t start_us = date_of(attempt, "start_time");
      const int64_t end_us = date_of(attempt, "end_time");
      started = started || start_us >= 0;
      backwards = backwards || (end_us >= 0 && end_us < start_us);
      if (start_us < 0 || end_us < start_us) {
        ++lacking;
        continue;
      }
      job.run_us = std::max<int64_t>(job.run_us, 0) + end_us - start_us;
      job.gpus = std::max(job.gpus, gpus_of(attempt));
      if (job.logged_start_us < 0) job.logged_start_us = start_us;
      job.logged_end_us = std::max(job.logged_end_us, end_us);
    }
    if (job.logged_start_us < 0) {
      return rows.left_out(backwards ? "ends before it starts"
                           : started ? "has not ended"
                                     : "never started");
    }
    if (job.submit_us < 0) {
      return rows.unusable("submission is missing", "a date in submitted_time",
                           "'" + text_of(*from, "submitted_time") + "' of job '" + job.id + "'");
    }
    if (!rows.in_order_or_left_out(job)) return;
    if (job.gpus == 0) return rows.left_out("held no GPU");
    broken += lacking;
    rows.add(std::move(job));
  }

  // Reads "machineId, number of GPUs, single GPU mem", one server per line.
  static void read_machines(Rows& rows) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(rows.source()).parent_path();
    for (const char* const name : {"cluster_machine_list", "cluster_machine_list.gz"}) {
      std::error_code error;
      if (!fs::is_regular_file(folder / name, error)) continue;
      Lines lines = Lines::of_file(folder / name);
      std::string_view line;
      int64_t gpus = 0;
      while (lines.next(line)) {
        const auto fields = split(line, ',');
        if (fields.size() >= 2) gpus += parse_int(trim(fields[1])).value_or(0);
      }
      constexpr int64_t kMaxGpus = 1 << 20;
      if (gpus > 0 && gpus <= kMaxGpus) rows.set_machine_gpus(static_cast<int32_t>(gpus));
      return;
    }
  }

  PhillyConfig config_;
  Zone zone_;
};

const Registry<TraceReader>::Add<PhillyLogReader> kAdd{
    "philly-log",
    {.help = "cluster_job_log of Microsoft's Philly, 2017, JSON (Jeon et al., ATC 2019). All "
             "values are real. A job runs as long as all its attempts together, on the GPUs of "
             "the largest. Attempts without a start, or without an end after it, do not count. "
             "cluster_machine_list in the same folder gives the cluster's GPUs.",
     .fields = describe<PhillyConfig>}};

}  // namespace
}  // namespace yard
