// Yardmaster's own JSONL: one object per line and job, with the CSV's column names as keys.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/native.h"
#include "env/trace/formats/native_json.h"
#include "env/trace/formats/native_times.h"

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
    put(name, communication_pattern_name(value), value != Pattern::kNone);
  }
  void texts(const char* name, const std::vector<std::string>& value) {
    put(name, value, !value.empty());
  }
  void deadlines(const char* name, const std::vector<Deadline>& value) {
    if (!value.empty()) out[name] = deadlines_json(value);
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

// A time whose key states a unit.
struct KeyUnit {
  std::string field, key;
  const TimeUnit* unit;
};

// State of reading a file.
struct Reading {
  Rows& rows;
  TimestampReader timestamps;
  UnitConversionNotices notices = {};
  std::vector<std::string> unused = {};  // keys
  std::vector<KeyUnit> units = {};       // of the current row
  RowTimes times = {};                   // of the current row
};

// Reads fields from an object.
class FieldsFromJson {
 public:
  FieldsFromJson(const Json& from, Reading& reading) : from_(from), reading_(reading) {}

  void text(const char* name, std::string& value) {
    json_reader.text(key(name), said(name), value);
  }
  void time(const char* name, int64_t& us, int64_t absent) {
    us = absent;
    const Json& value = said(name);
    const KeyUnit* const unit = unit_of(name);
    const bool read = is_timestamp_field(name) ? read_timestamp(name, value, unit, us)
                                               : read_duration(value, unit, us);
    if (!read) json_reader.seconds(key(name), value, us);
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
    std::string text = communication_pattern_name(value);
    json_reader.text(key(name), said(name), text);
    const auto pattern = parse_communication_pattern(text);
    if (pattern) value = *pattern;
    if (!pattern)
      json_reader.fail(key(name), "unknown pattern", communication_pattern_names(),
                       "'" + text + "'");
  }
  void texts(const char* name, std::vector<std::string>& value) {
    json_reader.texts(key(name), said(name), value);
  }
  void deadlines(const char* name, std::vector<Deadline>& value) {
    json_reader.deadlines(key(name), said(name), value);
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

  // The unit of a field's time; nullptr: seconds.
  const KeyUnit* unit_of(std::string_view field) const {
    const auto it = std::ranges::find(reading_.units, field, &KeyUnit::field);
    return it == reading_.units.end() ? nullptr : &*it;
  }

  static std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  // Reads a submission, start or end, of the same kind as the file's first one. Returns false for
  // plain seconds and for a missing value.
  bool read_timestamp(const std::string& name, const Json& value, const KeyUnit* unit,
                      int64_t& us) {
    if (!value.is_string() && !value.is_number()) return false;
    TimestampReader& timestamps = reading_.timestamps;
    AmbiguousTime& time = reading_.times.of(name);
    using TimestampStatus = TimestampReader::TimestampStatus;
    const std::string text = text_of(value);
    const TimeUnit& named = unit == nullptr ? kInSeconds : *unit->unit;
    switch (timestamps.read(text, named, name == "submit_s", time)) {
      case TimestampStatus::kTime:
        if (!timestamps.has_calendar_times() && unit == nullptr) return false;
        us = time.us;
        if (timestamps.kind() != TimestampReader::Kind::kDates) note(unit);
        return true;
      case TimestampStatus::kMissing:
        return true;
      case TimestampStatus::kNoTime:
        return unit == nullptr ? false : not_in_unit(*unit, text);
      case TimestampStatus::kOtherFormat:
        json_reader.fail(key(name.c_str()), "time in another format than the first submission",
                         timestamps.kind_text() + ", like the first submission", "'" + text + "'");
    }
    return true;
  }

  // Reads "01:30:00" and numbers in another unit. Returns false for seconds and a missing value.
  bool read_duration(const Json& value, const KeyUnit* unit, int64_t& us) {
    if (!value.is_string() && !(value.is_number() && unit != nullptr)) return false;
    const std::string text = text_of(value);
    const auto span = text.find(':') != text.npos ? parse_duration_us(text) : std::nullopt;
    const auto number = span || unit == nullptr ? std::nullopt : parse_time_us(text, *unit->unit);
    if (!span && !number) return unit == nullptr ? false : not_in_unit(*unit, text);
    if (span.value_or(0) > kMaxTimeS * 1'000'000) return false;
    us = span ? *span : *number;
    if (number) note(unit);
    return true;
  }

  void note(const KeyUnit* unit) {
    if (unit != nullptr) reading_.notices.add(reading_.rows, unit->field, unit->key, *unit->unit);
  }

  bool not_in_unit(const KeyUnit& unit, const std::string& text) {
    json_reader.fail(
        "key " + unit.key, "invalid time",
        "0 to " + std::to_string(max_time_in_units(*unit.unit)) + " " + unit.unit->symbol,
        "'" + text + "'");
    return true;
  }

  const Json& from_;
  Reading& reading_;
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

// Returns the field that a key means: by --columns, else by its name. Empty if it means none.
std::string field_of(const std::string& key, const Renames& renames) {
  const std::string own = key == kEpochColumn ? key : field_meant_by_column(key);
  bool taken = false;  // by --columns
  for (const auto& [name, column] : renames) {
    const std::string field = name == kEpochColumn ? name : field_meant_by_column(name);
    if (column == key) return field;
    taken = taken || field == own;
  }
  return taken ? "" : own;
}

// Renames keys to fields.
Json with_native_keys(const Json& from, const Renames& renames, Reading& reading) {
  Json out = Json::object();
  for (const auto& [key, value] : from.items()) {
    const std::string name = field_of(key, renames);
    if (!name.empty() && (!out.contains(name) || name == key)) {
      out[name] = value;
      const TimeUnit& unit = time_unit_of_column(key);
      if (unit != kInSeconds) reading.units.push_back({name, key, &unit});
    } else if (std::ranges::count(reading.unused, key) == 0) {
      reading.unused.push_back(key);
    }
  }
  return out;
}

bool has_native_keys(const Json& from) {
  for (const auto& [key, value] : from.items()) {
    if (key != kEpochColumn && field_meant_by_column(key) != key) return false;
  }
  return true;
}

std::optional<Flaw> read_native(const Json& from, Job& job, std::optional<int64_t>& epoch_s,
                                Reading& reading) {
  if (from.contains(kEpochColumn)) reading.timestamps.set_relative_seconds();
  reading.times.has_run = from.contains("run_s");
  reading.times.has_start = from.contains("logged_start_s");
  reading.times.has_ends = from.contains("logged_start_s") || from.contains("logged_end_s");
  FieldsFromJson fields(from, reading);
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
  reading.units.clear();
  reading.times = {};
  if (renames.empty() && has_native_keys(from)) return read_native(from, job, epoch_s, reading);
  return read_native(with_native_keys(from, renames, reading), job, epoch_s, reading);
}

class NativeJsonlReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    const std::string line = lower_case(head.line(1));
    const auto has = [&](std::string_view key) { return line.find(key) != line.npos; };
    const bool by_columns = has("\"submit_s\":{") || has("\"submit_s\": {");
    return trim(line).starts_with('{') && has("\"job_id\"") && has("\"submit_s\"") && !by_columns &&
           key_of_job_list(line).empty();
  }

  Layout layout() const override { return whole_line_layout(); }

  void read(Rows& rows) const override {
    check_renames(rows.renames());
    Reading reading{.rows = rows, .timestamps = TimestampReader(zone_)};
    std::optional<Json> from;
    const RefuseTime refuse = [&](const char* field, const std::string& reason,
                                  const std::string& expected) {
      for (const auto& [key, value] : from->items()) {
        if (field_of(key, rows.renames()) != field) continue;
        rows.reject_row_at("key " + key, reason, key + expected, shown(value));
        return;
      }
    };
    rows.add_job_of_each_row([&](Job& job) {
      Flaw broken;
      from = parse_json(rows.line(), broken);
      if (!from && rows.line().find("NaN") != std::string_view::npos) {
        from = parse_json(without_nan(rows.line()), broken);
      }
      std::optional<int64_t> epoch_s;
      std::optional<Flaw> flaw = broken;
      if (from) flaw = read_job(*from, rows.renames(), job, epoch_s, reading);
      if (flaw) {
        if (!from && rows.is_line_cut_off() && !rows.line().ends_with('}')) {
          flaw->reason = "the last line is cut off";
          flaw->got = "a line that is cut off, as in a file copied while it was written";
        }
        return rows.reject_row_at(flaw->place, flaw->reason, flaw->expected, flaw->got);
      }
      if (epoch_s) rows.set_epoch_unix_s(*epoch_s);
      return complete_times(rows, reading.timestamps, config_.zone, reading.times, refuse, job);
    });
    if (!reading.unused.empty()) rows.add_file_notice(unused_columns_text("keys", reading.unused));
    rebase_calendar_times(reading.timestamps, config_.zone, rows);
  }

  std::string example() const override {
    return "{\"job_id\":\"a\",\"submit_s\":0,\"run_s\":600.5,\"gpus\":1,\"limit_s\":3600,"
           "\"user\":\"ada\",\"model\":\"resnet50\",\"dues\":[{\"within_s\":900,\"value\":1}]}\n"
           "{\"job_id\":\"b\",\"submit_s\":30,\"run_s\":null,\"gpus\":8,\"groups\":[{\"role\":"
           "\"worker\",\"count\":2,\"gpus\":4,\"cpu_milli\":8000}],\"after\":[\"a\"]}\n";
  }

 protected:
  NativeConfig config_;
  Zone zone_;
};

const AddReader<NativeJsonlReader, NativeConfig> kAdd{
    "yardmaster-jsonl",
    "Yardmaster's own JSONL, as `trace convert` writes it, or lines with the same keys "
    "(docs/reference/native-formats.md)"};

}  // namespace

std::string to_native_jsonl(const Trace& trace) {
  const bool marked = needs_epoch_column(trace);
  std::string out;
  for (const Job& job : trace.jobs) {
    throw_if_interrupted();
    FieldsToJson fields;
    visit_native_fields(job, fields);
    if (out.empty() && trace.epoch_unix_s) fields.out[kEpochColumn] = *trace.epoch_unix_s;
    // As in the CSV.
    if (out.empty() && !trace.epoch_unix_s && marked) fields.out[kEpochColumn] = nullptr;
    out += dump_json(fields.out, trace.source + ": job " + job.id) + '\n';
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
