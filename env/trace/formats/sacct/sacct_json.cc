// Output of Slurm's sacct --json: {"jobs": [{"job_id", "time", "state", "tres", ...}]}, or only its
// list of jobs, as `jq .jobs` prints it. Each job becomes a row as sacct --parsable2 prints it;
// steps are skipped. Times are seconds since 1970, limits minutes. By version, a number is plain or
// an object that says whether it is set, and a state is alone or in a list. Positions in messages
// count jobs, not lines.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/text/json_flaw.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/sacct/sacct_log.h"

namespace yard {
namespace {

using Json = nlohmann::json;

const Json& at(const Json& from, const char* key) {
  static const Json kNull;
  if (!from.is_object()) return kNull;
  const auto it = from.find(key);
  return it == from.end() ? kNull : *it;
}

const Json& at(const Json& from, const char* key, const char* inner) {
  return at(at(from, key), inner);
}

// 5, or {"set": true, "infinite": false, "number": 5}.
std::optional<int64_t> number_of(const Json& value) {
  if (value.is_object()) {
    const Json& set = at(value, "set");
    if (set.is_boolean() && !set.get<bool>()) return std::nullopt;
    return number_of(at(value, "number"));
  }
  if (!value.is_number_integer() || value > Json(int64_t{1} << 60)) return std::nullopt;
  return value.get<int64_t>();
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const std::optional<int64_t> number = number_of(value);
  return number && *number >= 0 ? std::to_string(*number) : "";
}

std::string state_of(const Json& job) {
  const Json& current = at(job, "state", "current");
  if (!current.is_array()) return text_of(current.is_null() ? at(job, "state") : current);
  std::string first;
  for (const Json& one : current) {
    const std::string state = text_of(one);
    if (state == "PENDING" || state == "REQUEUED" || state == "RESIZING") return state;
    if (first.empty()) first = state;
  }
  return first;
}

// Returns [{"type": "gres", "name": "gpu", "count": 2}] as "gres/gpu=2".
std::string tres_of(const Json& list) {
  std::string out;
  if (list.is_string()) return list.get<std::string>();
  if (!list.is_array()) return out;
  for (const Json& one : list) {
    const std::string type = text_of(at(one, "type")), name = text_of(at(one, "name"));
    const std::optional<int64_t> count = number_of(at(one, "count"));
    if (type.empty() || !count || *count < 0) continue;
    out += (out.empty() ? "" : ",") + type + (name.empty() ? "" : "/" + name) + "=" +
           std::to_string(*count) + (type == "mem" ? "M" : "");
  }
  return out;
}

std::string id_of(const Json& job) {
  const std::string array = text_of(at(job, "array", "job_id"));
  if (!array.empty() && array != "0") {
    const Json& task = at(job, "array", "task_id");
    const std::string number = text_of(task), pending = text_of(at(job, "array", "task"));
    if (!number.empty()) return array + "_" + number;
    if (!pending.empty()) return array + "_[" + pending + "]";
  }
  const std::string whole = text_of(at(job, "het", "job_id"));
  const std::string offset = text_of(at(job, "het", "job_offset"));
  if (!whole.empty() && whole != "0" && !offset.empty()) return whole + "+" + offset;
  return text_of(at(job, "job_id"));
}

std::string limit_of(const Json& job) {
  const Json& limit = at(job, "time", "limit");
  const Json& infinite = at(limit, "infinite");
  return infinite.is_boolean() && infinite.get<bool>() ? "UNLIMITED" : text_of(limit);
}

const std::vector<std::string> kColumns = {
    "JobID",   "Submit",       "Eligible", "Start",     "End",       "ElapsedRaw",
    "State",   "User",         "Account",  "Partition", "QOS",       "Cluster",
    "JobName", "TimelimitRaw", "NNodes",   "ReqTRES",   "AllocTRES", "Priority"};

std::vector<std::string> row_of(const Json& job) {
  const auto text = [&](auto... keys) { return text_of(at(job, keys...)); };
  const auto tres = [&](const char* key) { return tres_of(at(job, "tres", key)); };
  const std::string user = text("user");
  const std::string owner = user.empty() ? text("association", "user") : user;
  return {id_of(job),
          text("time", "submission"),
          text("time", "eligible"),
          text("time", "start"),
          text("time", "end"),
          text("time", "elapsed"),
          state_of(job),
          owner,
          text("account"),
          text("partition"),
          text("qos"),
          text("cluster"),
          text("name"),
          limit_of(job),
          text("allocation_nodes"),
          tres("requested"),
          tres("allocated"),
          text("priority")};
}

// The characters of a file, one line at a time: a year's log does not fit in memory as one text.
class CharSource {
 public:
  explicit CharSource(Rows& rows) : rows_(rows) { next_line(); }

  bool ended() const { return at_ == line_.size(); }
  char here() const { return line_[at_]; }
  // The line of the last character passed.
  int32_t line_number() const { return number_; }
  void next() {
    number_ = rows_.line_number();
    if (++at_ == line_.size()) next_line();
  }

 private:
  void next_line() {
    if (!rows_.next()) return;
    line_ = std::string(rows_.line()) + '\n';
    at_ = 0;
  }

  Rows& rows_;
  std::string line_;
  size_t at_ = 0;
  int32_t number_ = 1;
};

// An input iterator over a CharSource; the end if there is no CharSource.
class CharIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit CharIterator(CharSource* text = nullptr) : text_(text) {}
  char operator*() const { return text_->here(); }
  CharIterator& operator++() {
    text_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(const CharIterator& other) const { return ended() == other.ended(); }

 private:
  bool ended() const { return text_ == nullptr || text_->ended(); }
  CharSource* text_;
};

class SacctJsonReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    const auto has = [&](std::string_view key) { return head.text.find(key) != head.text.npos; };
    const bool others = has("\"job_id\"") || has("\"meta\"") || has("\"warnings\"");
    const bool is_list = trim(head.text).starts_with('[');
    if (is_list) return has("\"job_id\"") && has("\"time\"") && has("\"submission\"");
    return head.is_json() && has("\"jobs\"") && others && !has("\"submit_s\"");
  }

  Layout layout() const override { return whole_line_layout(); }

  void read(Rows& rows) const override {
    rows.move_zero_to_first_submission();
    SacctLog log(config_, settings_, rows, kColumns);
    std::string list;                // key of the document that is being read
    int depth_of_jobs = 2;           // 1 if the document is the list of jobs
    int32_t jobs = 0, timeless = 0;  // timeless: number of the first job without times
    const auto take = [&](int depth, Json::parse_event_t event, Json& value) {
      using Event = Json::parse_event_t;
      if (event == Event::array_start && depth == 0) {
        depth_of_jobs = 1;
        list = "jobs";
      }
      if (event == Event::key) {
        if (depth == 1 && depth_of_jobs == 2) list = value.get<std::string>();
        return value != "steps";
      }
      if (event != Event::object_end || depth != depth_of_jobs || list != "jobs") return true;
      rows.set_line_number(++jobs);
      if (!at(value, "time").is_object()) {
        if (timeless == 0) timeless = jobs;
        return false;
      }
      if (timeless > 0) return false;
      const std::vector<std::string> row = row_of(value);
      log.read_row({row.begin(), row.end()});
      return false;  // frees its memory
    };
    CharSource text(rows);
    try {
      [[maybe_unused]] const Json rest = Json::parse(CharIterator(&text), CharIterator(), take);
    } catch (const Json::parse_error& flaw) {
      if (text.ended()) {
        throw InputError(rows.source(), "JSON output of sacct --json",
                         "incomplete JSON: the end is cut off, as in a file copied while it was "
                         "written");
      }
      throw InputError(rows.source() + ":" + std::to_string(text.line_number()),
                       "JSON output of sacct --json", json_error_text(flaw));
    } catch (const Json::exception& flaw) {
      throw InputError(rows.header_position(), "JSON output of sacct --json",
                       json_error_text(flaw));
    }
    if (timeless > 0) {
      throw InputError(rows.header_position(),
                       "jobs with a \"time\" object, as in the output of sacct --json",
                       "job " + std::to_string(timeless) + " without it");
    }
    if (jobs == 0) {
      throw InputError(rows.source(), "at least one job",
                       "no jobs (by default, sacct prints only the caller's jobs of today; add "
                       "--allusers --starttime=2024-01-01)");
    }
    log.finish();
  }

  std::string example() const override {
    return R"({"jobs": [
  {"job_id": 7, "name": "bert", "user": "ada", "account": "vision", "partition": "gpu",
   "qos": "normal", "cluster": "alpha", "priority": {"set": true, "infinite": false, "number": 132},
   "time": {"submission": 1683238289, "eligible": 1683238289, "start": 1683238371,
            "end": 1683332579, "elapsed": 94208,
            "limit": {"set": true, "infinite": false, "number": 2880}},
   "state": {"current": ["COMPLETED"], "reason": "None"}, "allocation_nodes": 1,
   "tres": {"requested": [{"type": "cpu", "name": "", "count": 4},
                          {"type": "gres", "name": "gpu", "count": 2}],
            "allocated": [{"type": "cpu", "name": "", "count": 4},
                          {"type": "mem", "name": "", "count": 16384},
                          {"type": "node", "name": "", "count": 1},
                          {"type": "gres", "name": "gpu", "count": 2},
                          {"type": "gres", "name": "gpu:a100", "count": 2}]}},
  {"job_id": 8, "name": "sweep", "user": "grace", "account": "language", "partition": "gpu",
   "qos": "normal", "cluster": "alpha", "priority": {"set": true, "infinite": false, "number": 126},
   "time": {"submission": 1683238290, "eligible": 1683238290, "start": 1683238291,
            "end": 1683238367, "elapsed": 76,
            "limit": {"set": true, "infinite": false, "number": 1}},
   "state": {"current": ["TIMEOUT"], "reason": "None"}, "allocation_nodes": 1,
   "tres": {"requested": [{"type": "gres", "name": "gpu", "count": 8}],
            "allocated": [{"type": "node", "name": "", "count": 1},
                          {"type": "gres", "name": "gpu", "count": 8}]}},
  {"job_id": 9, "time": {"submission": 1683238436, "start": 0, "end": 0, "elapsed": 0},
   "array": {"job_id": 8, "task_id": {"set": true, "number": 1}, "task": ""},
   "state": {"current": "PENDING"}, "tres": {"allocated": []}}
]}
)";
  }

 protected:
  SacctConfig config_;
  Settings settings_;
};

const AddReader<SacctJsonReader, SacctConfig> kAdd{
    "sacct-json", "Slurm accounting log, output of sacct --json, read as `sacct` is"};

}  // namespace
}  // namespace yard
