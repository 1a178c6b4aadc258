// philly.csv: jobs of Microsoft's Philly, 2017 (Jeon et al., ATC 2019), as cut for Pollux (OSDI
// 2021). Columns: timestamp (of submission, wall clock), duration (s), num_gpus, gpu_time (=
// duration x num_gpus), cluster (the virtual cluster). All is real; status, user, attempts and
// waiting times are missing. Jobs have no names: their ids are line numbers. Rows are not sorted.
//
// cluster_job_log of Microsoft's Philly, 2017 (Jeon et al., ATC 2019), as its authors publish it:
// one JSON array, or an object per line, of jobs. Keys: jobid, user, vc (as tenant), status,
// submitted_time and attempts. An attempt has start_time, end_time (either may be null) and detail:
// its servers with the names of their GPUs. Dates are of a wall clock. A job runs as long as all
// its attempts, on the largest number of GPUs of any; the rest of the log's time is wait. Attempts
// without a start, or without an end after it, do not count; a notice says so. A job with no other
// attempt is left out as never started (no start) or not ended (no end). cluster_machine_list in
// the same folder gives the size of the cluster.
//
// philly_data_training.csv: the first 15,000 rows of Philly (2017) in the form of DIR-LAB's
// workload generator. Columns: u_id, user (renumbered), gpu_num, cpu_num (always 0), node_num,
// interval (s since the row before), run_time (s), wall_time (always 0), new_status. All values are
// real. A row is one ATTEMPT to run a job: retries follow each other at interval 0 with their own
// run times (404 s and 2,447 s here are one job of 2,851 s in philly.csv). Two jobs that a user
// submits in one second look the same. Joining rows is thus a guess, which join_attempts makes.
// node_num is the number of nodes used, not asked for, and is ignored.
#include <algorithm>
#include <set>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/timestamps.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/native_json.h"

namespace yard {
namespace {

struct PhillyConfig {
  std::string vc;
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("vc", vc, "virtual cluster whose jobs are read; empty: all virtual clusters");
    f("zone", zone, "time zone of the log's clock, in POSIX format; the log names no zone");
  }

  // Throws InputError if `vc` is none of the virtual clusters of the log.
  void check_vc(const std::set<std::string>& found) const {
    std::vector<std::string> names(found.begin(), found.end());
    std::erase(names, "");
    if (vc.empty() || names.empty() || found.contains(vc)) return;
    throw unknown_name("trace.vc", names, vc);
  }
};

class PhillyReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"timestamp", "duration", "num_gpus", "gpu_time", "cluster"});
  }

  void read(Rows& rows) const override {
    const int timestamp = rows.column("timestamp"), duration = rows.column("duration"),
              gpus = rows.column("num_gpus"), cluster = rows.column("cluster");
    std::set<std::string> clusters;
    rows.move_zero_to_first_submission();
    rows.add_job_of_each_row([&](Job& job) {
      if (!rows.date(timestamp, zone_, job.submit_us) || !rows.seconds(duration, job.run_us) ||
          !rows.gpus(gpus, job.gpus, 0) || !rows.text(cluster, job.tenant)) {
        return false;
      }
      if (!config_.vc.empty()) clusters.insert(job.tenant);
      if (!config_.vc.empty() && job.tenant != config_.vc) {
        return rows.leave_out_row("another virtual cluster");
      }
      job.user = job.tenant;  // the log has no users; jobs of one virtual cluster are alike
      job.id = std::to_string(rows.line_number());
      return true;
    });
    config_.check_vc(clusters);
  }

  std::string example() const override {
    return "timestamp,duration,num_gpus,gpu_time,cluster\n"
           "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
           "2017-10-09 06:13:03,2951.0,8,23608.0,6214e9\n";
  }

 protected:
  PhillyConfig config_;
  Zone zone_;
};

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

class PhillyLogReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    const std::string_view text = trim(head.text);
    const auto has = [&](std::string_view key) { return text.find(key) != text.npos; };
    return (text.starts_with('[') || text.starts_with('{')) && has("\"jobid\"") &&
           has("\"attempts\"") && has("\"submitted_time\"");
  }

  Layout layout() const override { return whole_line_layout(); }

  void read(Rows& rows) const override {
    Objects objects;
    int64_t broken = 0;
    std::set<std::string> clusters;
    rows.move_zero_to_first_submission();
    while (rows.next()) {
      bool began = objects.open();
      objects.add(rows.line(), [&](std::string_view text) {
        began = true;
        read_job(rows, text, broken, clusters);
      });
      if (began || objects.open()) continue;
      if (trim(rows.line()).find_first_not_of("[],") == std::string_view::npos) continue;
      rows.reject_row("not a job", "a JSON object", in_quotes(rows.line().substr(0, 40)));
    }
    if (objects.open()) rows.reject_row("incomplete job", "a closing brace", "the end of the file");
    config_.check_vc(clusters);
    if (broken > 0) {
      rows.add_file_notice(std::to_string(broken) +
                           (broken == 1 ? " attempt has" : " attempts have") +
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

 protected:
  static std::string text_of(const Json& from, const char* key) {
    const auto it = from.find(key);
    return it != from.end() && it->is_string() ? it->get<std::string>() : std::string();
  }

  // Returns a date; -1: none.
  int64_t date_of(const Json& from, const char* key) const {
    const std::optional<int64_t> us = parse_iso_date_us(text_of(from, key), zone_);
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
  bool read_job(Rows& rows, std::string_view text, int64_t& broken,
                std::set<std::string>& clusters) const {
    Flaw flaw;
    const std::optional<Json> from = parse_json(text, flaw);
    if (!from) return rows.reject_row_at(flaw.place, flaw.reason, flaw.expected, flaw.got);
    Job job;
    job.id = text_of(*from, "jobid");
    job.user = text_of(*from, "user");
    job.tenant = text_of(*from, "vc");
    job.status = text_of(*from, "status");
    job.submit_us = date_of(*from, "submitted_time");
    const auto attempts = from->find("attempts");
    if (job.id.empty() || attempts == from->end() || !attempts->is_array()) {
      return rows.reject_row("not a job", "an object with jobid and attempts", "another object");
    }
    if (!config_.vc.empty()) clusters.insert(job.tenant);
    if (!config_.vc.empty() && job.tenant != config_.vc) {
      return rows.leave_out_row("another virtual cluster");
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
      if (end_us > kMaxTimeUs || job.run_us > kMaxTimeUs) {
        return rows.reject_row("end_time is too late", "a date up to 2096",
                               "'" + text_of(attempt, "end_time") + "' of job '" + job.id + "'");
      }
      job.gpus = std::max(job.gpus, gpus_of(attempt));
      if (job.logged_start_us < 0) job.logged_start_us = start_us;
      job.logged_end_us = std::max(job.logged_end_us, end_us);
    }
    if (job.logged_start_us < 0) {
      return rows.leave_out_row(backwards ? "ends before it starts"
                                : started ? "has not ended"
                                          : "never started");
    }
    if (job.submit_us < 0) {
      return rows.reject_row("submission is missing", "a date in submitted_time",
                             "'" + text_of(*from, "submitted_time") + "' of job '" + job.id + "'");
    }
    if (!rows.keep_if_times_in_order(job)) return false;
    if (job.gpus == 0) return rows.leave_out_row("held no GPU");
    broken += lacking;
    rows.add(std::move(job));
    return true;
  }

  static constexpr int64_t kMaxTimeUs = kMaxTimeS * 1'000'000;

  // Reads "machineId, number of GPUs, single GPU mem", one server per line.
  static void read_machines(Rows& rows) {
    int64_t gpus = 0;
    rows.read_companion_file("cluster_machine_list", [&](const auto& fields) {
      if (fields.size() >= 2) gpus += parse_int(trim(fields[1])).value_or(0);
    });
    constexpr int64_t kMaxGpus = 1 << 20;
    if (gpus > 0 && gpus <= kMaxGpus) rows.set_recorded_cluster_gpus(static_cast<int32_t>(gpus));
  }

  PhillyConfig config_;
  Zone zone_;
};

struct AttemptsConfig {
  bool join_attempts = false;
  void fields(FieldList& f) {
    f("join_attempts", join_attempts,
      "join rows of the same second, user, GPUs and status into one job; run times add up");
  }
};

class PhillyAttemptsReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"u_id", "user", "gpu_num", "cpu_num", "node_num", "interval",
                                  "run_time", "wall_time", "new_status"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("u_id"), user = rows.column("user"), gpus = rows.column("gpu_num"),
              interval = rows.column("interval"), run = rows.column("run_time"),
              status = rows.column("new_status");
    int64_t submit_us = 0;
    rows.add_job_of_each_row([&](Job& job) {
      // Time advances even if the rest of the row is unusable.
      int64_t interval_us = 0;
      if (!rows.seconds(interval, interval_us)) return false;
      if (submit_us + interval_us > kLatestUs) {
        return rows.reject_row(interval, "sum of the intervals is too large",
                               "a trace of less than 30 years", rows.trimmed(interval));
      }
      job.submit_us = submit_us += interval_us;
      if (!rows.text(id, job.id) || !rows.text(user, job.user) || !rows.gpus(gpus, job.gpus, 0) ||
          !rows.seconds(run, job.run_us) || !rows.text(status, job.status)) {
        return false;
      }
      Job* before = config_.join_attempts && interval_us == 0 ? rows.last_job() : nullptr;
      if (before != nullptr && before->submit_us == submit_us && before->user == job.user &&
          before->gpus == job.gpus && before->status == job.status && before->run_us <= kLatestUs) {
        before->run_us += job.run_us;
        return rows.leave_out_row("attempt joined to the previous row");
      }
      return true;
    });
  }

  std::string example() const override {
    return "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
           "0,1,1,0,1,0,1389243,0,Killed\n"
           "2,3,8,0,2,257893,66336,0,Pass\n"
           "3,3,8,0,1,0,1042044,0,Pass\n";
  }

 protected:
  static constexpr int64_t kLatestUs = int64_t{30} * 366 * 86400 * 1'000'000;

  AttemptsConfig config_;
};

const AddReader<PhillyReader, PhillyConfig> kPhilly{
    "philly",
    "philly.csv: Microsoft's Philly jobs, 2017, as reduced for Pollux (OSDI 2021). All values "
    "are real. The virtual cluster is tenant and user, line numbers are ids. End states are "
    "missing."};
const AddReader<PhillyLogReader, PhillyConfig> kPhillyLog{
    "philly-log",
    "cluster_job_log of Microsoft's Philly, 2017, JSON (Jeon et al., ATC 2019). All values are "
    "real. A job runs as long as all its attempts together, on the GPUs of the largest. Attempts "
    "without a start, or without an end after it, do not count. cluster_machine_list in the same "
    "folder gives the cluster's GPUs."};
const AddReader<PhillyAttemptsReader, AttemptsConfig> kPhillyAttempts{
    "philly-attempts",
    "DIR-LAB's CSV of Philly, 2017: users and end states, one row per attempt. All values are "
    "real. Retries of a job follow each other at interval 0."};

}  // namespace
}  // namespace yard
