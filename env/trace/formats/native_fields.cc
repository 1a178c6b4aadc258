#include "env/trace/formats/native_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/trace/core/stages.h"

namespace yard {
namespace {

constexpr int32_t kMaxGpus = 1 << 20;

constexpr std::array<const char*, 6> kPatterns = {
    "none", "ring", "tree", "hierarchical", "parameter-server", "pipeline"};

// Returns whether groups wait for each other in a cycle, so that none could begin.
bool has_cycle(const std::vector<RoleGroup>& groups) {
  std::vector<bool> ended(groups.size(), false);
  for (size_t round = 0; round < groups.size(); ++round) {
    for (size_t g = 0; g < groups.size(); ++g) {
      ended[g] = ended[g] || std::ranges::all_of(groups[g].after,
                                                 [&](int32_t before) { return ended[before]; });
    }
  }
  return std::ranges::count(ended, false) > 0;
}

std::optional<Flaw> check_group(const std::vector<RoleGroup>& groups, size_t g) {
  const RoleGroup& group = groups[g];
  const std::string place = "groups[" + std::to_string(g) + "]";
  const auto same = [&](const RoleGroup& other) { return other.role == group.role; };
  if (std::ranges::count_if(groups, same) > 1) {
    return Flaw{place + ".role", "duplicate role", "a different role for each group",
                "'" + group.role + "'"};
  }
  const bool rigid = group.min_count == 0 && group.max_count == 0;
  if (group.count < 1 || (!rigid && (group.min_count < 1 || group.min_count > group.count ||
                                     group.max_count < group.count))) {
    return Flaw{place + ".count", "number of tasks out of range",
                "1 <= min_count <= count <= max_count",
                std::to_string(group.min_count) + ", " + std::to_string(group.count) + ", " +
                    std::to_string(group.max_count)};
  }
  if (group.task.gpu_milli > 0 && group.task.gpus > 0) {
    return Flaw{place + ".gpu_milli", "gpus and gpu_milli in one group", "either gpus or gpu_milli",
                "both"};
  }
  for (const int32_t before : group.after) {
    if (before >= 0 && before < static_cast<int32_t>(groups.size())) continue;
    return Flaw{place + ".after", "unknown group", "indices of groups, from 0",
                std::to_string(before)};
  }
  return std::nullopt;
}

std::optional<Flaw> check_groups(const Job& job) {
  int64_t whole = 0, shares = 0;
  for (size_t g = 0; g < job.groups.size(); ++g) {
    if (auto found = check_group(job.groups, g)) return found;
    const RoleGroup& group = job.groups[g];
    whole += int64_t{group.count} * group.task.gpus;
    shares += group.task.gpu_milli > 0 ? group.count : 0;
  }
  if (job.groups.empty()) return std::nullopt;
  if (has_cycle(job.groups)) {
    return Flaw{"groups", "cyclic dependencies of groups", "groups without cyclic dependencies",
                "groups that wait for each other"};
  }
  for (size_t g = 0; g < job.groups.size() && !has_several_stages(job); ++g) {
    if (job.groups[g].run_us < 0) continue;
    return Flaw{"groups[" + std::to_string(g) + "].run_s", "run_s of a group in a gang",
                "run_s of groups only in a job with stages (groups with after)",
                format_seconds(job.groups[g].run_us)};
  }
  // Shares of GPUs may be packed on one GPU, or each have a GPU of its own.
  if (job.gpus >= whole + (shares > 0) && job.gpus <= whole + shares) return std::nullopt;
  return Flaw{"gpus", "gpus does not match the groups",
              std::to_string(whole + (shares > 0)) +
                  (shares > 1 ? " to " + std::to_string(whole + shares) : "") +
                  " GPUs, as requested by its groups",
              std::to_string(job.gpus)};
}

struct Names {
  void text(const char* name, const std::string&) { out.emplace_back(name); }
  void time(const char* name, int64_t, int64_t) { out.emplace_back(name); }
  void whole(const char* name, int64_t, int64_t) { out.emplace_back(name); }
  void number(const char* name, double, double, double) { out.emplace_back(name); }
  void flag(const char* name, bool) { out.emplace_back(name); }
  void pattern(const char* name, Pattern) { out.emplace_back(name); }
  void texts(const char* name, const std::vector<std::string>&) { out.emplace_back(name); }
  void deadlines(const char* name, const std::vector<Deadline>&) { out.emplace_back(name); }
  void groups(const char* name, const std::vector<RoleGroup>&) { out.emplace_back(name); }

  std::vector<std::string> out;
};

}  // namespace

std::vector<std::string> native_field_names() {
  Names names;
  const Job job;
  visit_native_fields(job, names);
  return names.out;
}

std::string field_meant_by_column(std::string_view column) {
  static const std::vector<std::string> kNames = native_field_names();
  static const std::array<std::pair<const char*, const char*>, 6> kOthers = {
      {{"start", "logged_start_s"},
       {"start_s", "logged_start_s"},
       {"start_time", "logged_start_s"},
       {"end", "logged_end_s"},
       {"end_s", "logged_end_s"},
       {"end_time", "logged_end_s"}}};
  std::string low = lower_case(trim(column));
  std::ranges::replace_if(
      low, [](char c) { return c == ' ' || c == '-'; }, '_');
  if (std::ranges::count(kNames, low) > 0) return low;
  for (const auto& [other, name] : kOthers) {
    if (low == other) return name;
  }
  return "";
}

std::string key_of_job_list(std::string_view text) {
  text = trim(text);
  if (!text.starts_with('{')) return "";
  text = trim(text.substr(1));
  const size_t end = text.find('"', 1);
  if (!text.starts_with('"') || end == text.npos) return "";
  const std::string_view key = text.substr(1, end - 1);
  for (const char expected : {':', '[', '{'}) {
    text = trim(text.substr(expected == ':' ? end + 1 : 1));
    if (!text.starts_with(expected)) return "";
  }
  return field_meant_by_column(key).empty() ? std::string(key) : "";
}

InputError missing_columns_error(const std::string& where, const std::vector<std::string>& missing,
                                 const std::vector<std::string>& columns, const std::string& got) {
  const bool run = std::ranges::count(missing, "run_s") > 0;
  return {where,
          (missing.size() > 1 ? "columns " : "a column ") + join(missing) +
              (run ? ", or start_s and end_s" : ""),
          got + "; " + native_column_advice(missing, columns)};
}

void check_renames(const Renames& renames) {
  for (const auto& [name, column] : renames) {
    if (name == kEpochColumn || !field_meant_by_column(name).empty()) continue;
    std::vector<std::string> names = native_field_names();
    throw InputError("--columns " + name + "=" + column,
                     "NAME=COLUMN, NAME one of: start_s, end_s, " + join(names),
                     "'" + name + "'" + did_you_mean(name, names));
  }
}

std::string native_column_advice(std::vector<std::string> missing,
                                 const std::vector<std::string>& columns, const std::string& what) {
  std::vector<std::string> left = columns;  // columns without another meaning
  std::erase_if(left, [&](const std::string& one) {
    const std::string field = field_meant_by_column(one);
    return !field.empty() && std::ranges::count(missing, field) == 0;
  });
  const auto run = std::ranges::find(missing, "run_s");
  if (run == missing.end() || nearest_column("run_s", left)) {
    return missing_column_advice(missing, left, what);
  }
  std::vector<std::string> instead;
  for (const char* const name : {"start_s", "end_s"}) {
    const auto means = [&](const std::string& one) {
      return field_meant_by_column(one) == field_meant_by_column(name);
    };
    if (std::ranges::any_of(columns, means)) continue;
    if (!nearest_column(name, left)) return missing_column_advice(missing, left, what);
    instead.emplace_back(name);
  }
  if (instead.empty() && missing.size() == 1) return missing_column_advice(missing, left, what);
  const auto at = missing.erase(run);
  missing.insert(at, instead.begin(), instead.end());
  return missing_column_advice(missing, left, what);
}

std::string unused_columns_text(const char* what, const std::vector<std::string>& names) {
  std::string advice;
  for (const std::string& name : names) {
    const auto meant = nearest_name(name, native_field_names());
    const bool is_count = name == "restarts";  // of --jobs-out, not the seconds restore_s
    if (!meant || is_count || !advice.empty()) continue;
    advice = " (did you mean " + *meant + "? --columns " + *meant + "=" + name + ")";
  }
  return std::string(what) + " that are not used: " + join(names) + advice;
}

std::optional<Flaw> check_native_job(const Job& job) {
  if (job.gpus > kMaxGpus) {
    return Flaw{"gpus", "too many GPUs", "at most " + std::to_string(kMaxGpus) + " GPUs",
                std::to_string(job.gpus)};
  }
  if (auto found = check_groups(job)) return found;
  if (job.loss.b1 == 0 && (job.loss.b0 != 0 || job.loss.b2 != 0)) {
    return Flaw{"loss_b1", "unbounded loss", "more than 0 if loss_b0 or loss_b2 is set",
                shortest_text(job.loss.b1)};
  }
  for (const auto& [name, value] : {std::pair{"target", job.target}, {"enough", job.enough}}) {
    if (value == Job::kNoTarget || !has_several_stages(job)) continue;
    return Flaw{name, std::string(name) + " of a job with stages",
                "no " + std::string(name) + " in a job with stages (groups with after)",
                shortest_text(value)};
  }
  for (size_t i = 1; i < job.dues.size(); ++i) {
    const Deadline &before = job.dues[i - 1], &due = job.dues[i];
    if (due.within_us > before.within_us && due.value <= before.value) continue;
    return Flaw{"dues", "deadlines out of order", "increasing times with non-increasing values",
                format_seconds(due.within_us) + " s (value " + shortest_text(due.value) +
                    ") after " + format_seconds(before.within_us) + " s (value " +
                    shortest_text(before.value) + ")"};
  }
  if (const std::string& mode = job.batch_mode;
      !mode.empty() && mode != "static" && mode != "accordion" && mode != "gns") {
    return Flaw{"batch_mode", "unknown mode", "static, accordion or gns", "'" + mode + "'"};
  }
  if (std::ranges::count(job.after, job.id) > 0) {
    return Flaw{"after", "depends on itself", "ids of other jobs", "'" + job.id + "'"};
  }
  return std::nullopt;
}

const char* communication_pattern_name(Pattern pattern) {
  return kPatterns[static_cast<size_t>(pattern)];
}

std::string communication_pattern_names() { return join({kPatterns.begin(), kPatterns.end()}); }

std::optional<Pattern> parse_communication_pattern(std::string_view text) {
  const auto it = std::ranges::find(kPatterns, text);
  if (it == kPatterns.end()) return std::nullopt;
  return static_cast<Pattern>(it - kPatterns.begin());
}

}  // namespace yard
