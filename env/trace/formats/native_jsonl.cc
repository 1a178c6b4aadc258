// Yardmaster's own JSONL: one object per line and job, with the CSV's column names as keys.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/timestamps.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/native.h"
#include "env/trace/formats/native_json.h"

namespace yard {
namespace {

// Writes fields to an object: required ones always, others if they differ from their default.
class FieldsToJson {
 public:
  void text(const char* name, const std::string& value) { put(name, value, !value.empty()); }
  void time(const char* name, int64_t us, int64_t absent) {
    put(name, us == absent ? Json() : seconds_json(us), us != absent);
  }
  void whole(const char* name, int64_t value, int64_t) { put(name, value, value != 0); }
  void number(const char* name, double value, double, double absent) {
    put(name, value, value != absent);
  }
  void flag(const char* name, bool value) { put(name, 1, value); }
  void pattern(const char* name, Pattern value) {
    put(name, pattern_name(value), value != Pattern::kNone);
  }
  void texts(const char* name, const std::vector<std::string>& value) {
    put(name, value, !value.empty());
  }
  void dues(const char* name, const std::vector<Due>& value) {
    if (!value.empty()) out[name] = dues_json(value);
  }
  void groups(const char* name, const std::vector<RoleGroup>& value) {
    if (!value.empty()) out[name] = groups_json(value);
  }

  Json out = Json::object();

 private:
  template <class T>
  void put(const char* name, const T& value, bool says) {
    if (says || out.size() < kNumRequiredFields) out[name] = value;
  }
};

// Reads fields from an object.
class FieldsFromJson {
 public:
  FieldsFromJson(const Json& from, TimestampReader& timestamps)
      : from_(from), timestamps_(timestamps) {}

  void text(const char* name, std::string& value) {
    json_reader.text(key(name), said(name), value);
  }
  void time(const char* name, int64_t& us, int64_t absent) {
    us = absent;
    const Json& value = said(name);
    if (!read_calendar(name, value, us)) json_reader.seconds(key(name), value, us);
    if (us < -1) json_reader.fail(key(name), "time is missing", "a time", "nothing");
  }
  void whole(const char* name, int32_t& value, int32_t least) {
    const Json& value_of = said(name);
    if (std::string_view(name) == "gpus" && value_of.is_number()) {
      const auto real = value_of.get<double>();
      if (real > 0 && real != std::trunc(real)) {
        return json_reader.fail(key(name), "gpus is not a whole number", kWholeGpus,
                                value_of.dump());
      }
    }
    json_reader.whole(key(name), said(name), least, value);
  }
  void whole(const char* name, int64_t& value, int64_t least) {
    json_reader.whole(key(name), said(name), least, std::numeric_limits<int64_t>::max(), value);
  }
  void number(const char* name, double& value, double least, double) {
    json_reader.number(key(name), said(name), least, value);
  }
  void flag(const char* name, bool& value) {
    int64_t number = 0;
    json_reader.whole(key(name), said(name), 0, 1, number);
    value = number == 1;
  }
  void pattern(const char* name, Pattern& value) {
    std::string text = pattern_name(value);
    json_reader.text(key(name), said(name), text);
    const auto pattern = parse_pattern(text);
    if (pattern) value = *pattern;
    if (!pattern) json_reader.fail(key(name), "unknown pattern", pattern_names(), "'" + text + "'");
  }
  void texts(const char* name, std::vector<std::string>& value) {
    json_reader.texts(key(name), said(name), value);
  }
  void dues(const char* name, std::vector<Due>& value) {
    json_reader.dues(key(name), said(name), value);
  }
  void groups(const char* name, std::vector<RoleGroup>& value) {
    json_reader.groups(key(name), said(name), value);
  }

  JsonReader json_reader;

 private:
  static std::string key(const char* name) { return std::string("key ") + name; }

  const Json& said(const char* name) {
    static const Json kNull;
    const auto it = from_.find(name);
    return it == from_.end() ? kNull : *it;
  }

  // Reads dates, times since 1970 and "01:30:00". Returns false for seconds or a missing value.
  bool read_calendar(const std::string& name, const Json& value, int64_t& us) {
    if (!value.is_string() && !value.is_number()) return false;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    std::optional<int64_t> found;
    if (name == "submit_s" || name == "logged_start_s" || name == "logged_end_s") {
      found = timestamps_.read(text);
      if (!found && timestamps_.calendar()) {
        json_reader.fail(key(name.c_str()), "time in another format than in earlier rows",
                         timestamps_.kind_text() + ", as in earlier rows", "'" + text + "'");
      }
    } else if (text.find(':') != text.npos) {
      found = span_us(text);
    }
    if (!found || *found < 0 || *found > kMaxTimeS * 1'000'000) return false;
    us = *found;
    return true;
  }

  const Json& from_;
  TimestampReader& timestamps_;
};

// Replaces NaN outside of texts by null: Python's json writes it, but it is not JSON.
std::string without_nan(std::string_view line) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && line.substr(i, 3) == "NaN") {
      out += "null";
      i += 2;
    } else {
      out += line[i];
    }
  }
  return out;
}

// State of reading a file: the kind of its times, and its unused keys.
struct Reading {
  TimestampReader timestamps;
  std::vector<std::string> unused;
};

// Renames keys to fields: by --columns, else by their meaning.
Json with_native_keys(const Json& from, const Renames& renames, Reading& reading) {
  Json out = Json::object();
  for (const auto& [key, value] : from.items()) {
    std::string name;
    for (const auto& [to, column] : renames) {
      if (column == key) name = to == kEpochColumn ? to : native_field_of(to);
    }
    const auto taken = [field = native_field_of(key)](const auto& one) {
      return native_field_of(one.first) == field;
    };
    const bool free = std::ranges::none_of(renames, taken);
    if (name.empty() && free) name = key == kEpochColumn ? key : native_field_of(key);
    if (!name.empty() && (!out.contains(name) || name == key)) {
      out[name] = value;
    } else if (std::ranges::count(reading.unused, key) == 0) {
      reading.unused.push_back(key);
    }
  }
  return out;
}

bool has_native_keys(const Json& from) {
  for (const auto& [key, value] : from.items()) {
    if (key != kEpochColumn && native_field_of(key) != key) return false;
  }
  return true;
}

std::optional<Flaw> read_native(const Json& from, Job& job, std::optional<int64_t>& epoch_s,
                                Reading& reading) {
  if (from.contains(kEpochColumn)) reading.timestamps.set_trace_seconds();
  FieldsFromJson fields(from, reading.timestamps);
  visit_native_fields(job, fields);
  if (job.id.empty())
    fields.json_reader.fail("key job_id", "job_id is missing", "an id", "nothing");
  if (!from.contains("gpus"))
    fields.json_reader.fail("key gpus", "gpus is missing", "a number", "nothing");
  if (from.contains(kEpochColumn) && !from[kEpochColumn].is_null()) {
    int64_t epoch = 0;
    fields.json_reader.whole(std::string("key ") + kEpochColumn, from[kEpochColumn], -kMaxEpochS,
                             kMaxEpochS, epoch);
    epoch_s = epoch;
  }
  if (fields.json_reader.flaw()) return fields.json_reader.flaw();
  std::optional<Flaw> flaw = check_native_job(job);
  if (flaw) flaw->place = "key " + flaw->place;
  return flaw;
}

std::optional<Flaw> read_job(const Json& from, const Renames& renames, Job& job,
                             std::optional<int64_t>& epoch_s, Reading& reading) {
  if (!from.is_object()) return Flaw{"", "not an object", "a JSON object", "another value"};
  if (renames.empty() && has_native_keys(from)) return read_native(from, job, epoch_s, reading);
  return read_native(with_native_keys(from, renames, reading), job, epoch_s, reading);
}

struct Config {
  std::string zone = "UTC0";
  void fields(FieldList& f) { f("zone", zone, "time zone of dates without one, in POSIX format"); }
};

class NativeJsonlReader final : public TraceReader {
 public:
  explicit NativeJsonlReader(const Settings& settings)
      : config_(parse<Config>(settings)), zone_(config_.zone, "trace.zone") {}

  bool recognises(const FileHead& head) const override {
    std::string line(head.line(1));
    for (char& c : line) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto has = [&](std::string_view key) { return line.find(key) != line.npos; };
    const bool by_columns = has("\"submit_s\":{") || has("\"submit_s\": {");
    return trim(line).starts_with('{') && has("\"job_id\"") && has("\"submit_s\"") && !by_columns &&
           wrapping_key(line).empty();
  }

  Layout layout() const override {
    return {.separator = '\0', .head = 0, .names = 0, .columns = {""}};
  }

  void read(Rows& rows) const override {
    check_renames(rows.renames());
    Reading reading{TimestampReader(zone_), {}};
    while (rows.next()) {
      Flaw broken;
      std::optional<Json> from = parse_json(rows.line(), broken);
      if (!from && rows.line().find("NaN") != std::string_view::npos) {
        from = parse_json(without_nan(rows.line()), broken);
      }
      Job job;
      std::optional<int64_t> epoch_s;
      std::optional<Flaw> flaw = broken;
      if (from) flaw = read_job(*from, rows.renames(), job, epoch_s, reading);
      if (flaw) {
        if (!from && rows.cut_off() && !rows.line().ends_with('}')) {
          flaw->reason = "the last line is cut off";
          flaw->got = "a line that is cut off, as in a file copied while it was written";
        }
        rows.unusable_at(flaw->place, flaw->reason, flaw->expected, flaw->got);
        continue;
      }
      if (epoch_s) rows.set_epoch_unix_s(*epoch_s);
      if (!says_run(*from) && !derive_run(rows, job)) continue;
      note_run_time_mismatch(rows, job);
      rows.add(std::move(job));
    }
    if (!reading.unused.empty()) rows.note_file(unused_text("keys", reading.unused));
    apply_timestamps(reading.timestamps, config_.zone, rows);
  }

  std::string example() const override {
    return "{\"job_id\":\"a\",\"submit_s\":0,\"run_s\":600.5,\"gpus\":1,\"limit_s\":3600,"
           "\"user\":\"ada\",\"model\":\"resnet50\",\"dues\":[{\"within_s\":900,\"value\":1}]}\n"
           "{\"job_id\":\"b\",\"submit_s\":30,\"run_s\":null,\"gpus\":8,\"groups\":[{\"role\":"
           "\"worker\",\"count\":2,\"gpus\":4,\"cpu_milli\":8000}],\"after\":[\"a\"]}\n";
  }

 private:
  // Returns whether there is a run time, even if null; otherwise it follows from start and end.
  static bool says_run(const Json& from) {
    for (const auto& [key, value] : from.items()) {
      if (native_field_of(key) == "run_s") return true;
    }
    return false;
  }

  static bool derive_run(Rows& rows, Job& job) {
    if (job.run_us >= 0 || (job.logged_start_us < 0 && job.logged_end_us < 0)) return true;
    if (job.logged_start_us < 0 || job.logged_end_us < 0) {
      rows.left_out(job.logged_start_us < 0 ? "never started" : "has not ended");
      return false;
    }
    align_clocks(rows, job);
    if (job.logged_start_us < job.submit_us || job.logged_end_us < job.logged_start_us) {
      rows.unusable("times out of order", "submission <= start <= end", "another order");
      return false;
    }
    job.run_us = job.logged_end_us - job.logged_start_us;
    return true;
  }

  Config config_;
  Zone zone_;
};

const Registry<TraceReader>::Add<NativeJsonlReader> kAdd{
    "yardmaster-jsonl",
    {.help = "Yardmaster's own JSONL, as `trace convert` writes it, or lines with the same keys "
             "(docs/reference/native-formats.md)",
     .fields = describe<Config>}};

}  // namespace

std::string to_native_jsonl(const Trace& trace) {
  std::string out;
  for (const Job& job : trace.jobs) {
    throw_if_interrupted();
    FieldsToJson fields;
    visit_native_fields(job, fields);
    if (out.empty() && trace.epoch_unix_s) fields.out[kEpochColumn] = *trace.epoch_unix_s;
    if (out.empty() && looks_like_dates(trace))
      fields.out[kEpochColumn] = nullptr;  // as in the CSV
    out += dump_json(fields.out, trace.source + ": job " + job.id);
    out += '\n';
  }
  return out;
}

std::string to_native_text(const Trace& trace, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (!ending.empty() && ending != ".csv" && ending != ".jsonl") {
    throw InputError(path, "a name that ends in .csv or .jsonl", "'" + ending + "'");
  }
  return ending == ".jsonl" ? to_native_jsonl(trace) : to_native_csv(trace);
}

}  // namespace yard
