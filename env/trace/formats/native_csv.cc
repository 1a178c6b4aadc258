// Yardmaster's own CSV: quotes as in RFC 4180, groups as JSON in a cell, lists joined by '|'.
#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/csv.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/formats/native.h"
#include "env/trace/formats/native_json.h"
#include "env/trace/formats/native_times.h"

namespace yard {
namespace {

// Quotes a text that would be read as missing, or has blanks at its ends: a user may be called
// None.
void append_cell(std::string_view cell, std::string& out) {
  const bool plain = !is_missing(cell) && cell == trim(cell);
  if (cell.empty() || plain || cell.find_first_of(",\"\r\n") != cell.npos) {
    return append_csv_cell(cell, out);
  }
  (out += '"').append(cell) += '"';
}

// Writes each field as the text of a cell; empty if it has its default.
class CellWriter {
 public:
  explicit CellWriter(const std::string& source) : source_(source) {}

  void begin() { used_ = 0; }

  void text(const char*, const std::string& value) { next() = value; }
  void time(const char*, int64_t us, int64_t absent) {
    next() = us == absent ? "" : format_seconds(us);
  }
  void whole(const char* name, int64_t value, int64_t) {
    next() = value == 0 && std::string_view(name) != "gpus" ? "" : shortest_text(value);
  }
  void number(const char*, double value, double, double absent) {
    next() = value == absent ? "" : shortest_text(value);
  }
  void flag(const char*, bool value) { next() = value ? "1" : ""; }
  void pattern(const char*, Pattern value) {
    next() = value == Pattern::kNone ? "" : communication_pattern_name(value);
  }
  // "a|b" if no text contains '|', else JSON.
  void texts(const char*, const std::vector<std::string>& value) {
    const auto plain = [](const std::string& one) {
      return one.find('|') == one.npos && one == trim(one) && !one.starts_with('[');
    };
    next() = value.empty()                       ? ""
             : std::ranges::all_of(value, plain) ? join(value, "|")
                                                 : dump_json(value, source_);
  }
  void deadlines(const char*, const std::vector<Deadline>& value) {
    std::string& cell = next();
    cell.clear();
    for (const Deadline& due : value) {
      if (!cell.empty()) cell += '|';
      cell += format_seconds(due.within_us) + ":" + shortest_text(due.value);
    }
  }
  void groups(const char*, const std::vector<RoleGroup>& value) {
    next() = value.empty() ? "" : dump_json(groups_json(value), source_);
  }

  const std::vector<std::string>& cells() const { return cells_; }

 private:
  std::string& next() {
    if (used_ == cells_.size()) cells_.emplace_back();
    return cells_[used_++];
  }

  const std::string& source_;
  std::vector<std::string> cells_;  // reused for all jobs
  size_t used_ = 0;
};

// Reads each field from its column. The first error makes the row unusable.
class CellReader {
 public:
  CellReader(Rows& rows, const std::vector<int>& columns, const std::vector<const TimeUnit*>& units,
             TimestampReader& timestamps, UnitConversionNotices& notices)
      : rows_(rows), columns_(columns), units_(units), timestamps_(timestamps), notices_(notices) {}

  void text(const char* name, std::string& value) {
    const int column = next();
    const bool id = std::string_view(name) == "job_id";
    if (column >= 0 && ok_ && (id || !missing(column) || rows_.was_quoted(column))) {
      value = rows_.was_quoted(column) ? std::string(rows_.field(column)) : rows_.trimmed(column);
    }
    if (ok_ && value.empty() && id) ok_ = rows_.text(column, value);
  }
  void time(const char* name, int64_t& us, int64_t absent) {
    const int column = next();
    us = absent;
    if (!ok_ || (missing(column) && absent >= -1)) return;
    fix_decimal_comma(column);
    const TimeUnit& unit = *units_[column];
    const bool clock = rows_.field(column).find(':') != std::string_view::npos;
    if (is_timestamp_field(name)) {
      ok_ = read_timestamp(column, name, unit, us);
      if (timestamps_.kind() == TimestampReader::Kind::kDates) return;
    } else if (const auto span = clock ? parse_duration_us(rows_.field(column)) : std::nullopt) {
      us = *span;
      return;
    } else {
      ok_ = rows_.time(column, us, unit);
    }
    if (ok_) notices_.add(rows_, name, rows_.name_in_file(column), unit);
  }
  template <class T>
  void whole(const char* name, T& value, T least) {
    const int column = next();
    const bool needed = std::string_view(name) == "gpus";
    if (!ok_ || (!needed && missing(column))) return;
    fix_decimal_comma(column);
    if (const auto real = parse_double(rows_.trimmed(column));
        needed && real && *real > 0 && *real != std::trunc(*real)) {
      return fail(column, {"", "gpus is not a whole number", kWholeGpus, got(column)});
    }
    ok_ = rows_.integer(column, value, least);
  }
  void number(const char*, double& value, double least, double) {
    const int column = next();
    if (!ok_ || missing(column)) return;
    fix_decimal_comma(column);
    ok_ = rows_.number(column, value, least);
  }
  void flag(const char*, bool& value) {
    const int column = next();
    int32_t number = 0;
    if (ok_ && !missing(column)) {
      const std::string word = normalised_name(rows_.field(column));
      if (word == "true" || word == "false")
        rows_.replace_field(column, word == "true" ? "1" : "0");
      ok_ = rows_.integer(column, number, 0, 1);
    }
    value = number == 1;
  }
  void pattern(const char*, Pattern& value) {
    const int column = next();
    if (!ok_ || missing(column)) return;
    const auto pattern = parse_communication_pattern(rows_.trimmed(column));
    if (!pattern)
      return fail(column, {"", "unknown pattern", communication_pattern_names(), got(column)});
    value = *pattern;
  }
  void texts(const char*, std::vector<std::string>& value) {
    const int column = next();
    if (!ok_ || (missing(column) && (column < 0 || !rows_.was_quoted(column)))) return;
    if (rows_.field(column).starts_with('[')) {
      return json(column, [&](JsonReader& json_reader, const Json& from) {
        json_reader.texts(rows_.columns()[column], from, value);
      });
    }
    for (const std::string_view one : split(rows_.field(column), '|'))
      value.emplace_back(trim(one));
    if (std::ranges::count(value, "") == 0) return;
    fail(column, {"", "empty item in a list", "non-empty items separated by '|'", got(column)});
  }
  void deadlines(const char*, std::vector<Deadline>& value) {
    const int column = next();
    if (!ok_ || missing(column)) return;
    for (const std::string_view one : split(rows_.field(column), '|')) {
      const size_t colon = std::min(one.find(':'), one.size());
      const auto within_us = parse_seconds_us(trim(one.substr(0, colon)));
      const auto due_value = colon == one.size() ? std::optional<double>(1)
                                                 : parse_double(trim(one.substr(colon + 1)));
      if (!within_us || *within_us < 0 || *within_us > kMaxTimeS * 1'000'000 || !due_value) {
        return fail(column, {"", "invalid deadlines", "SECONDS:VALUE|SECONDS:VALUE", got(column)});
      }
      value.push_back({*within_us, *due_value});
    }
  }
  void groups(const char*, std::vector<RoleGroup>& value) {
    const int column = next();
    if (!ok_ || missing(column)) return;
    json(column, [&](JsonReader& json_reader, const Json& from) {
      json_reader.groups(rows_.columns()[column], from, value);
    });
  }

  bool ok() const { return ok_; }

  RowTimes times;

 private:
  int next() { return columns_[used_++]; }
  bool missing(int column) const { return column < 0 || is_missing(rows_.field(column)); }

  // If semicolons separate fields, a comma is a decimal point: "600,5".
  void fix_decimal_comma(int column) {
    const std::string_view cell = rows_.field(column);
    if (rows_.separator() != ';' || std::ranges::count(cell, ',') != 1) return;
    std::string point(cell);
    point[point.find(',')] = '.';
    const bool is_time = cell.find(':') != cell.npos;
    if (!is_time && !parse_double(trim(point))) return;
    rows_.replace_field(column, std::move(point));
  }

  // Reads a submission, start or end, of the same kind as the file's first one.
  bool read_timestamp(int column, std::string_view field, const TimeUnit& unit, int64_t& us) {
    using TimestampStatus = TimestampReader::TimestampStatus;
    const std::string& name = rows_.columns()[column];
    switch (timestamps_.read(rows_.field(column), unit, field == "submit_s", times.of(field))) {
      case TimestampStatus::kTime:
        us = times.of(field).us;
        return true;
      case TimestampStatus::kMissing:
        return true;
      case TimestampStatus::kNoTime:
        if (timestamps_.kind() != TimestampReader::Kind::kUnknown) {
          return rows_.time(column, us, unit);  // reports what is wrong with it
        }
        return rows_.reject_row(
            column, name + " is not a time",
            name + " in " + unit.name + ", or as a date like 2024-05-06 10:00:00", got(column));
      case TimestampStatus::kOtherFormat:
        rows_.reject_row(column, name + " is in another format than the first submission",
                         name + " in " + timestamps_.kind_text() + ", like the first submission",
                         got(column));
    }
    return false;
  }
  std::string got(int column) const { return in_quotes(rows_.trimmed(column)); }

  void fail(int column, const Flaw& flaw) {
    ok_ = false;
    const std::string place = flaw.place.empty() ? "" : " at " + flaw.place;
    rows_.reject_row(column, flaw.reason, flaw.expected + place, flaw.got);
  }

  template <class Take>
  void json(int column, Take take) {
    Flaw broken;
    const std::optional<Json> from = parse_json(rows_.field(column), broken);
    if (!from) return fail(column, broken);
    JsonReader json_reader;
    take(json_reader, *from);
    if (json_reader.flaw()) fail(column, *json_reader.flaw());
  }

  Rows& rows_;
  const std::vector<int>& columns_;
  const std::vector<const TimeUnit*>& units_;
  TimestampReader& timestamps_;
  UnitConversionNotices& notices_;
  size_t used_ = 0;
  bool ok_ = true;
};

// Returns the column of each of native_field_names(), or -1: by exact name, else by meaning.
std::vector<int> find_columns(const Rows& rows, const std::vector<std::string>& names) {
  std::vector<int> columns;
  for (const std::string& name : names) columns.push_back(rows.optional_column(name));
  const auto count = static_cast<int>(rows.columns().size());
  for (int c = 0; c < count; ++c) {
    const std::string& said = rows.columns()[c];
    const auto own = std::ranges::find(names, field_meant_by_column(said));
    if (own == names.end() || *own == said) continue;
    int& at = columns[static_cast<size_t>(own - names.begin())];
    if (at < 0) {
      at = c;
    } else if (rows.columns()[at] != *own) {
      throw InputError(rows.header_position(), "one column for " + *own,
                       in_quotes(rows.columns()[at]) + " and " + in_quotes(said));
    }
  }
  return columns;
}

class NativeCsvReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(
          head.columns, [&](std::string_view one) { return field_meant_by_column(one) == name; });
    };
    return has("job_id") && has("submit_s") && has("gpus") &&
           (has("run_s") || (has("logged_start_s") && has("logged_end_s")));
  }

  Layout layout() const override { return {.quotes = true}; }

  void read(Rows& rows) const override {
    check_renames(rows.renames());
    const std::vector<std::string> names = native_field_names();
    const std::vector<int> columns = find_columns(rows, names);
    const auto column_of = [&](const char* name) {
      return columns[static_cast<size_t>(std::ranges::find(names, name) - names.begin())];
    };
    const int start = column_of("logged_start_s"), end = column_of("logged_end_s");
    const bool derives = column_of("run_s") < 0 && start >= 0 && end >= 0;
    check_required(rows, names, columns, derives);
    const int epoch = rows.optional_column(kEpochColumn);
    note_unused(rows, columns, epoch);
    TimestampReader timestamps(zone_);
    UnitConversionNotices notices;
    std::vector<const TimeUnit*> units;  // of each column, if it is a time
    for (int c = 0; c < static_cast<int>(rows.columns().size()); ++c) {
      units.push_back(&time_unit_of_column(rows.name_in_file(c)));
    }
    if (epoch >= 0) timestamps.set_relative_seconds();
    const RefuseTime refuse = [&](std::string_view field, const std::string& reason,
                                  const std::string& expected) {
      const int column = field == "logged_start_s" ? start : end;
      rows.reject_row(column, reason, rows.columns()[column] + expected, rows.trimmed(column));
    };
    rows.add_job_of_each_row([&](Job& job) {
      CellReader fields(rows, columns, units, timestamps, notices);
      visit_native_fields(job, fields);
      fields.times.has_run = !derives;
      fields.times.has_start = start >= 0;
      fields.times.has_ends = start >= 0 && end >= 0;
      if (!fields.ok() ||
          !complete_times(rows, timestamps, config_.zone, fields.times, refuse, job)) {
        return false;
      }
      if (const std::optional<Flaw> flaw = check_native_job(job)) {
        return rows.reject_row_at("column " + flaw->place, flaw->reason, flaw->expected, flaw->got);
      }
      if (rows.has_value(epoch)) {
        int64_t epoch_s = 0;
        if (!rows.integer(epoch, epoch_s, -kMaxEpochS, kMaxEpochS)) return false;
        rows.set_epoch_unix_s(epoch_s);
      }
      return true;
    });
    rebase_calendar_times(timestamps, config_.zone, rows);
  }

  std::string example() const override {
    return "job_id,submit_s,run_s,gpus,limit_s,user,name,groups,dues,after\n"
           "a,0,600.5,1,3600,ada,\"resnet50, \"\"warm\"\"\",,900:1|1800:0.5,\n"
           "b,30,,8,,,,\"[{\"\"role\"\":\"\"worker\"\",\"\"count\"\":2,\"\"gpus\"\":4}]\",,a\n";
  }

 protected:
  static void check_required(const Rows& rows, const std::vector<std::string>& names,
                             const std::vector<int>& columns, bool derives) {
    std::vector<std::string> missing;
    for (size_t i = 0; i < kNumRequiredFields; ++i) {
      if (columns[i] < 0 && !(derives && names[i] == "run_s")) missing.push_back(names[i]);
    }
    if (missing.empty()) return;
    throw missing_columns_error(rows.header_position(), missing, rows.columns(),
                                in_quotes(join(rows.columns(), ",")));
  }

  static void note_unused(Rows& rows, const std::vector<int>& columns, int epoch) {
    std::vector<std::string> unused;
    for (size_t c = 0; c < rows.columns().size(); ++c) {
      const auto at = static_cast<int>(c);
      if (at == epoch || std::ranges::count(columns, at) > 0) continue;
      if (!is_pandas_index_name(rows.columns()[c])) unused.push_back(rows.columns()[c]);
    }
    if (!unused.empty()) rows.add_file_notice(unused_columns_text("columns", unused));
  }

  NativeConfig config_;
  Zone zone_;
};

const AddReader<NativeCsvReader, NativeConfig> kAdd{
    "yardmaster",
    "Yardmaster's own CSV, as `trace convert` writes it, or a table with the same columns "
    "(docs/reference/native-formats.md)"};

}  // namespace

std::string to_native_csv(const Trace& trace) {
  const std::vector<std::string> names = native_field_names();
  std::vector<bool> needed(names.size(), false);
  std::fill_n(needed.begin(), kNumRequiredFields, true);
  CellWriter fields(trace.source);
  const auto visit = [&](const Job& job) {
    fields.begin();
    visit_native_fields(job, fields);
  };
  for (const Job& job : trace.jobs) {
    visit(job);
    for (size_t i = 0; i < names.size(); ++i) {
      if (!fields.cells()[i].empty()) needed[i] = true;
    }
  }
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (needed[i]) out += (i > 0 ? "," : "") + names[i];
  }
  // Even if it is empty, the column marks the file as one that is read as it is written.
  const bool with_epoch = trace.epoch_unix_s || needs_epoch_column(trace);
  if (with_epoch) out += std::string(",") + kEpochColumn;
  out += '\n';
  for (const Job& job : trace.jobs) {
    throw_if_interrupted();
    visit(job);
    for (size_t i = 0; i < names.size(); ++i) {
      if (!needed[i]) continue;
      if (i > 0) out += ',';
      append_cell(fields.cells()[i], out);
    }
    if (with_epoch) {
      out += ',';
      if (&job == &trace.jobs.front() && trace.epoch_unix_s)
        out += shortest_text(*trace.epoch_unix_s);
    }
    out += '\n';
  }
  return out;
}

}  // namespace yard
