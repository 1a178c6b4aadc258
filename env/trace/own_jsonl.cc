// Yardmaster's own JSONL: one object a line and job, its keys named as the columns of the CSV.
#include <algorithm>
#include <filesystem>
#include <limits>

#include "env/base/error.h"
#include "env/base/interrupt.h"
#include "env/base/registry.h"
#include "env/base/text.h"
#include "env/trace/own.h"
#include "env/trace/own_json.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"

namespace yard {
namespace {

// Puts fields into an object: the required ones always, the others where they say something.
class ToJson {
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
    if (says || out.size() < kOwnRequired) out[name] = value;
  }
};

// Takes fields out of an object and counts how many were there.
class FromJson {
 public:
  explicit FromJson(const Json& from) : from_(from) {}

  void text(const char* name, std::string& value) { taker.text(key(name), said(name), value); }
  void time(const char* name, int64_t& us, int64_t absent) {
    us = absent;
    taker.seconds(key(name), said(name), us);
    if (us < -1) taker.fail(key(name), "no time", "a time", "nothing");
  }
  void whole(const char* name, int32_t& value, int32_t least) {
    taker.whole(key(name), said(name), least, value);
  }
  void whole(const char* name, int64_t& value, int64_t least) {
    taker.whole(key(name), said(name), least, std::numeric_limits<int64_t>::max(), value);
  }
  void number(const char* name, double& value, double least, double) {
    taker.number(key(name), said(name), least, value);
  }
  void flag(const char* name, bool& value) {
    int64_t number = 0;
    taker.whole(key(name), said(name), 0, 1, number);
    value = number == 1;
  }
  void pattern(const char* name, Pattern& value) {
    std::string text = pattern_name(value);
    taker.text(key(name), said(name), text);
    const auto pattern = parse_pattern(text);
    if (pattern) value = *pattern;
    if (!pattern) taker.fail(key(name), "no such pattern", pattern_names(), "'" + text + "'");
  }
  void texts(const char* name, std::vector<std::string>& value) {
    taker.texts(key(name), said(name), value);
  }
  void dues(const char* name, std::vector<Due>& value) { taker.dues(key(name), said(name), value); }
  void groups(const char* name, std::vector<RoleGroup>& value) {
    taker.groups(key(name), said(name), value);
  }

  size_t found() const { return found_; }

  JsonTaker taker;

 private:
  static std::string key(const char* name) { return std::string("key ") + name; }

  const Json& said(const char* name) {
    static const Json kNull;
    const auto it = from_.find(name);
    if (it == from_.end()) return kNull;
    ++found_;
    return *it;
  }

  const Json& from_;
  size_t found_ = 0;
};

std::optional<Flaw> read_job(const Json& from, Job& job, std::optional<int64_t>& epoch_s) {
  if (!from.is_object()) return Flaw{"", "no object", "a JSON object", "another value"};
  FromJson fields(from);
  visit_own_fields(job, fields);
  if (job.id.empty()) fields.taker.fail("key job_id", "no id", "an id", "nothing");
  if (!from.contains("gpus")) fields.taker.fail("key gpus", "no GPUs", "a number", "nothing");
  const bool with_epoch = from.contains(kOwnEpoch);
  if (with_epoch) {
    int64_t epoch = 0;
    fields.taker.whole(std::string("key ") + kOwnEpoch, from[kOwnEpoch], -kMostEpochS, kMostEpochS,
                       epoch);
    epoch_s = epoch;
  }
  if (fields.found() + with_epoch < from.size()) {
    const std::vector<std::string> names = own_names();
    for (const auto& [key, value] : from.items()) {
      if (key == kOwnEpoch || std::ranges::count(names, key) > 0) continue;
      fields.taker.fail("key " + key, "unknown key", "one of " + join(names), "'" + key + "'");
    }
  }
  if (fields.taker.flaw()) return fields.taker.flaw();
  std::optional<Flaw> flaw = check_own(job);
  if (flaw) flaw->place = "key " + flaw->place;
  return flaw;
}

class OwnJsonlReader final : public TraceReader {
 public:
  explicit OwnJsonlReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    const std::string_view line = head.line(1);
    const auto has = [&](std::string_view key) { return line.find(key) != line.npos; };
    return trim(line).starts_with('{') && has("\"job_id\"") && has("\"submit_s\"");
  }

  Layout layout() const override {
    return {.separator = '\0', .head = 0, .names = 0, .columns = {""}};
  }

  void read(Rows& rows) const override {
    while (rows.next()) {
      if (trim(rows.line()).empty()) continue;
      Flaw broken;
      const std::optional<Json> from = parse_json(rows.line(), broken);
      Job job;
      std::optional<int64_t> epoch_s;
      std::optional<Flaw> flaw = broken;
      if (from) flaw = read_job(*from, job, epoch_s);
      if (flaw) {
        rows.unusable_at(flaw->place, flaw->reason, flaw->expected, flaw->got);
        continue;
      }
      if (epoch_s) rows.set_epoch_unix_s(*epoch_s);
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "{\"job_id\":\"a\",\"submit_s\":0,\"run_s\":600.5,\"gpus\":1,\"limit_s\":3600,"
           "\"user\":\"ada\",\"model\":\"resnet50\",\"dues\":[{\"within_s\":900,\"value\":1}]}\n"
           "{\"job_id\":\"b\",\"submit_s\":30,\"run_s\":null,\"gpus\":8,\"groups\":[{\"role\":"
           "\"worker\",\"count\":2,\"gpus\":4,\"cpu_milli\":8000}],\"after\":[\"a\"]}\n";
  }
};

const Registry<TraceReader>::Add<OwnJsonlReader> kAdd{
    "yardmaster-jsonl", {.help = "Yardmaster's own JSONL, as `trace convert` writes it"}};

}  // namespace

std::string to_own_jsonl(const Trace& trace) {
  std::string out;
  for (const Job& job : trace.jobs) {
    throw_if_interrupted();
    ToJson fields;
    visit_own_fields(job, fields);
    if (out.empty() && trace.epoch_unix_s) fields.out[kOwnEpoch] = *trace.epoch_unix_s;
    out += dump_json(fields.out, trace.source + ": job " + job.id);
    out += '\n';
  }
  return out;
}

std::string to_own_text(const Trace& trace, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (!ending.empty() && ending != ".csv" && ending != ".jsonl") {
    throw InputError(path, "a name that ends in .csv or .jsonl", "'" + ending + "'");
  }
  return ending == ".jsonl" ? to_own_jsonl(trace) : to_own_csv(trace);
}

}  // namespace yard
