// Yardmaster's own CSV: quotes as in RFC 4180, groups as JSON in their cell, lists joined by '|'.
#include <algorithm>
#include <limits>

#include "env/base/csv.h"
#include "env/base/error.h"
#include "env/base/interrupt.h"
#include "env/base/registry.h"
#include "env/base/text.h"
#include "env/trace/longest.h"
#include "env/trace/own.h"
#include "env/trace/own_json.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"

namespace yard {
namespace {

// Each field as the text of its cell; empty where it says nothing.
class ToCells {
 public:
  explicit ToCells(const std::string& source) : source_(source) {}

  void begin() { used_ = 0; }

  void text(const char*, const std::string& value) { next() = value; }
  void time(const char*, int64_t us, int64_t absent) {
    next() = us == absent ? "" : format_seconds(us);
  }
  void whole(const char* name, int64_t value, int64_t) {
    next() = value == 0 && std::string_view(name) != "gpus" ? "" : shortest(value);
  }
  void number(const char*, double value, double, double absent) {
    next() = value == absent ? "" : shortest(value);
  }
  void flag(const char*, bool value) { next() = value ? "1" : ""; }
  void pattern(const char*, Pattern value) {
    next() = value == Pattern::kNone ? "" : pattern_name(value);
  }
  // "a|b" where the texts allow it, else as JSON.
  void texts(const char*, const std::vector<std::string>& value) {
    const auto plain = [](const std::string& one) {
      return one.find('|') == one.npos && one == trim(one) && !one.starts_with('[');
    };
    next() = value.empty()                       ? ""
             : std::ranges::all_of(value, plain) ? join(value, "|")
                                                 : dump_json(value, source_);
  }
  void dues(const char*, const std::vector<Due>& value) {
    std::string& cell = next();
    cell.clear();
    for (const Due& due : value) {
      if (!cell.empty()) cell += '|';
      cell += format_seconds(due.within_us) + ":" + shortest(due.value);
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
  std::vector<std::string> cells_;  // kept from job to job
  size_t used_ = 0;
};

// Reads each field from its column. The first that cannot be used makes the row unusable.
class FromCells {
 public:
  FromCells(Rows& rows, const std::vector<int>& columns) : rows_(rows), columns_(columns) {}

  void text(const char* name, std::string& value) {
    const int column = next();
    if (column >= 0 && ok_) value = rows_.field(column);
    if (ok_ && value.empty() && std::string_view(name) == "job_id") ok_ = rows_.text(column, value);
  }
  void time(const char*, int64_t& us, int64_t absent) {
    const int column = next();
    us = absent;
    if (ok_ && (rows_.said(column) || absent < -1)) ok_ = rows_.seconds(column, us);
  }
  template <class T>
  void whole(const char* name, T& value, T least) {
    const int column = next();
    const bool needed = std::string_view(name) == "gpus";
    if (ok_ && (needed || rows_.said(column))) ok_ = rows_.whole(column, value, least);
  }
  void number(const char*, double& value, double least, double) {
    const int column = next();
    if (ok_ && rows_.said(column)) ok_ = rows_.number(column, value, least);
  }
  void flag(const char*, bool& value) {
    const int column = next();
    int32_t number = 0;
    if (ok_ && rows_.said(column)) ok_ = rows_.whole(column, number, 0, 1);
    value = number == 1;
  }
  void pattern(const char*, Pattern& value) {
    const int column = next();
    if (!ok_ || !rows_.said(column)) return;
    const auto pattern = parse_pattern(rows_.trimmed(column));
    if (!pattern) return fail(column, {"", "no such pattern", pattern_names(), got(column)});
    value = *pattern;
  }
  void texts(const char*, std::vector<std::string>& value) {
    const int column = next();
    if (!ok_ || !rows_.said(column)) return;
    if (rows_.field(column).starts_with('[')) {
      return json(column, [&](JsonTaker& taker, const Json& from) {
        taker.texts(rows_.columns()[column], from, value);
      });
    }
    for (const std::string_view one : split(rows_.field(column), '|')) value.emplace_back(one);
    if (std::ranges::count(value, "") == 0) return;
    fail(column, {"", "an empty text", "texts joined by '|'", got(column)});
  }
  void dues(const char*, std::vector<Due>& value) {
    const int column = next();
    if (!ok_ || !rows_.said(column)) return;
    for (const std::string_view one : split(rows_.field(column), '|')) {
      const size_t colon = std::min(one.find(':'), one.size());
      const auto within_us = parse_seconds_us(trim(one.substr(0, colon)));
      const auto worth = colon == one.size() ? std::optional<double>(1)
                                             : parse_double(trim(one.substr(colon + 1)));
      if (!within_us || *within_us < 0 || *within_us > kLongestUs || !worth) {
        return fail(column, {"", "no deadlines", "SECONDS:VALUE|SECONDS:VALUE", got(column)});
      }
      value.push_back({*within_us, *worth});
    }
  }
  void groups(const char*, std::vector<RoleGroup>& value) {
    const int column = next();
    if (!ok_ || !rows_.said(column)) return;
    json(column, [&](JsonTaker& taker, const Json& from) {
      taker.groups(rows_.columns()[column], from, value);
    });
  }

  bool ok() const { return ok_; }

 private:
  static constexpr int64_t kLongestUs = kLongestS * 1'000'000;

  int next() { return columns_[used_++]; }
  std::string got(int column) const { return "'" + rows_.trimmed(column) + "'"; }

  void fail(int column, const Flaw& flaw) {
    ok_ = false;
    const std::string place = flaw.place.empty() ? "" : " at " + flaw.place;
    rows_.unusable(column, flaw.reason, flaw.expected + place, flaw.got);
  }

  template <class Take>
  void json(int column, Take take) {
    Flaw broken;
    const std::optional<Json> from = parse_json(rows_.field(column), broken);
    if (!from) return fail(column, broken);
    JsonTaker taker;
    take(taker, *from);
    if (taker.flaw()) fail(column, *taker.flaw());
  }

  Rows& rows_;
  const std::vector<int>& columns_;
  size_t used_ = 0;
  bool ok_ = true;
};

class OwnCsvReader final : public TraceReader {
 public:
  explicit OwnCsvReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_columns({"job_id", "submit_s", "run_s", "gpus"});
  }

  Layout layout() const override { return {.quotes = true}; }

  void read(Rows& rows) const override {
    const std::vector<std::string> names = own_names();
    std::vector<int> columns;
    for (const std::string& name : names) {
      const bool required = columns.size() < kOwnRequired;
      columns.push_back(required ? rows.column(name) : rows.optional_column(name));
    }
    for (const std::string& name : rows.columns()) {
      if (name == kOwnEpoch || std::ranges::count(names, name) > 0) continue;
      throw InputError(rows.where_names(), "each column once, of: " + join(names),
                       "'" + name + "'");
    }
    const int epoch = rows.optional_column(kOwnEpoch);
    while (rows.next()) {
      Job job;
      FromCells fields(rows, columns);
      visit_own_fields(job, fields);
      if (!fields.ok()) continue;
      if (const std::optional<Flaw> flaw = check_own(job)) {
        rows.unusable_at("column " + flaw->place, flaw->reason, flaw->expected, flaw->got);
        continue;
      }
      if (rows.said(epoch)) {
        int64_t epoch_s = 0;
        if (!rows.whole(epoch, epoch_s, -kMostEpochS, kMostEpochS)) continue;
        rows.set_epoch_unix_s(epoch_s);
      }
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "job_id,submit_s,run_s,gpus,limit_s,user,name,groups,dues,after\n"
           "a,0,600.5,1,3600,ada,\"resnet50, \"\"warm\"\"\",,900:1|1800:0.5,\n"
           "b,30,,8,,,,\"[{\"\"role\"\":\"\"worker\"\",\"\"count\"\":2,\"\"gpus\"\":4}]\",,a\n";
  }
};

const Registry<TraceReader>::Add<OwnCsvReader> kAdd{
    "yardmaster", {.help = "Yardmaster's own CSV, as `trace convert` writes it"}};

}  // namespace

std::string to_own_csv(const Trace& trace) {
  const std::vector<std::string> names = own_names();
  std::vector<bool> needed(names.size(), false);
  std::fill_n(needed.begin(), kOwnRequired, true);
  ToCells fields(trace.source);
  const auto visit = [&](const Job& job) {
    fields.begin();
    visit_own_fields(job, fields);
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
  if (trace.epoch_unix_s) out += std::string(",") + kOwnEpoch;
  out += '\n';
  for (const Job& job : trace.jobs) {
    throw_if_interrupted();
    visit(job);
    for (size_t i = 0; i < names.size(); ++i) {
      if (!needed[i]) continue;
      if (i > 0) out += ',';
      append_csv_cell(fields.cells()[i], out);
    }
    if (trace.epoch_unix_s) {
      out += ',';
      if (&job == &trace.jobs.front()) out += shortest(*trace.epoch_unix_s);
    }
    out += '\n';
  }
  return out;
}

}  // namespace yard
