#include "experiments/report/run_record.h"

#include <algorithm>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/core/split_line.h"
#include "experiments/replay/jobs_csv.h"
#include "experiments/replay/waits.h"

namespace yard::report {
namespace {

namespace fs = std::filesystem;

Json read_json(const fs::path& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) {
    throw InputError(path.string(), "a JSON object",
                     json.is_discarded() ? "invalid JSON" : json.type_name());
  }
  return json;
}

void check_rows(const JsonFile& document, const char* key, const fs::path& path) {
  const Json& rows = document.json[key];
  if (rows.is_array() && std::ranges::all_of(rows, [](const Json& row) { return row.is_object(); }))
    return;
  throw InputError(path.string(), std::string("a list of objects as '") + key + "'",
                   rows.type_name());
}

void check_runs(const Json& runs, const fs::path& path) {
  if (runs.empty()) throw InputError(path.string(), "at least one of 'runs'", "none");
  for (const Json& run : runs) {
    const auto mean = run.find("mean_jct_s");
    if (mean != run.end() && (mean->is_number() || mean->is_null()) && run.contains("policy"))
      continue;
    throw InputError(path.string(), "runs with policy and mean_jct_s, a number",
                     mean == run.end() ? "one without" : mean->dump());
  }
}

void check_series(const Json& series, const fs::path& path) {
  for (const Json& one : series) {
    const auto numbers = [&](const char* key) {
      if (!one.contains(key) || !one[key].is_array()) return false;
      return std::ranges::all_of(one[key], [](const Json& value) { return value.is_number(); });
    };
    if (numbers("t_s") && numbers("held_gpus") && numbers("waiting") &&
        one["t_s"].size() == one["held_gpus"].size() && one["t_s"].size() == one["waiting"].size())
      continue;
    throw InputError(path.string(),
                     "series with t_s, held_gpus and waiting as lists of equally many numbers",
                     "a series without them");
  }
}

JobsFile read_jobs(const fs::path& path, const std::string& content) {
  const std::string name = path.string();
  if (!content.starts_with(kJobsHeader)) {
    if (content.starts_with(kWaitsHeader)) {
      throw InputError(name, "a file written by --jobs-out",
                       "a file written by --waits-out, which report cannot show");
    }
    throw InputError(name + ":1", "the header of a file written by --jobs-out",
                     "'" + content.substr(0, std::min<size_t>(content.find('\n'), 80)) + "'");
  }
  constexpr size_t kColumns = 11, kJct = 7, kMaxRecordBytes = size_t{1} << 20;
  JobsFile out{path.filename().string(), {}};
  std::vector<std::string_view> lines = split(content, '\n');
  if (lines.back().empty()) lines.pop_back();
  std::string record, unquoted;
  std::vector<std::string_view> cells;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string where = name + ":" + std::to_string(i + 1);
    record = lines[i];
    while (ends_inside_quotes(record, ',')) {  // an id may contain a newline
      if (i + 1 == lines.size() || record.size() > kMaxRecordBytes) {
        throw InputError(where, "a closing quote within 1 MiB", "none");
      }
      record += '\n';
      record += lines[++i];
    }
    if (!split_quoted(record, ',', unquoted, cells)) {
      throw InputError(where, "a comma after the closing quote", "other text");
    }
    if (cells.size() != kColumns) {
      throw InputError(where, std::to_string(kColumns) + " cells", std::to_string(cells.size()));
    }
    const std::string_view state = trim(cells.back());
    if (state != "finished" && state != "unfinished" && state != "ended-early") {
      throw InputError(where, "the state finished, unfinished or ended-early",
                       "'" + std::string(state) + "'");
    }
    const std::string policy(cells[0]);
    auto of = std::ranges::find(out.policies, policy, &PolicyCompletionTimes::policy);
    if (of == out.policies.end())
      of = out.policies.insert(of, PolicyCompletionTimes{policy, {}, 0});
    ++of->jobs;
    const std::string_view jct = cells[kJct];
    if (jct.empty()) continue;
    const auto seconds = parse_double(jct);
    if (!seconds) throw InputError(where, "jct_s in seconds", "'" + std::string(jct) + "'");
    of->jct_s.push_back(*seconds);
  }
  for (PolicyCompletionTimes& of : out.policies) std::ranges::sort(of.jct_s);
  return out;
}

// Reads a file into `out`. Returns false if its kind is unknown. Throws InputError.
bool read_evaluation(const fs::path& path, RunRecord& out) {
  if (path.extension() == ".csv") {
    add_jobs(path, read_file(path), out);
    return true;
  }
  return path.extension() == ".json" && add_json_file(path, read_json(path), out);
}

// The last `parts` components of a path, without "checkpoint:" and ".yaml".
std::string tail(const std::string& policy, size_t parts) {
  constexpr std::string_view kCheckpoint = "checkpoint:";
  const bool trained = policy.starts_with(kCheckpoint);
  fs::path path(trained ? policy.substr(kCheckpoint.size()) : policy);
  if (path.filename().empty()) path = path.parent_path();
  if (!trained && path.extension() == ".yaml") path.replace_extension();
  const std::vector<fs::path> all(path.begin(), path.end());
  fs::path out;
  for (size_t i = all.size() - std::min(parts, all.size()); i < all.size(); ++i) out /= all[i];
  return out.string();
}

// The name of a file, with as many of its folders as distinguish it from others of that name.
std::string unique_name(const fs::path& path, const std::vector<fs::path>& paths) {
  const auto tail_of = [](const fs::path& file, size_t parts) {
    return tail(fs::weakly_canonical(file).string(), parts);
  };
  constexpr size_t kMaxParts = 32;
  size_t parts = 1;
  const auto is_taken = [&](const fs::path& other) {
    return other != path && tail_of(other, parts) == tail_of(path, parts);
  };
  while (parts < kMaxParts && std::ranges::any_of(paths, is_taken)) ++parts;
  return tail_of(path, parts);
}

void collect_policies(const Json& row, std::set<std::string>& names) {
  const std::string name = text(row, "policy");
  if (!name.empty()) names.insert(name);
  for (const char* key : {"policies", "bounds", "others"}) {
    for (const Json& other : list_or_empty(row, key)) collect_policies(other, names);
  }
}

}  // namespace

std::string RunRecord::agent() const { return text(run, "agent"); }

std::string RunRecord::checkpoint_label(const std::string& name) const {
  return (agent().empty() ? "checkpoint" : agent()) + " (" + name + ")";
}

const Json& member_or_null(const Json& object, const char* key) {
  static const Json kNull;
  return object.is_object() && object.contains(key) ? object[key] : kNull;
}

const Json& list_or_empty(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& value = member_or_null(object, key);
  return value.is_array() ? value : kEmpty;
}

std::string text(const Json& object, const char* key) {
  const Json& value = member_or_null(object, key);
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> number(const Json& object, const char* key) {
  const Json& value = member_or_null(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

bool add_json_file(const fs::path& path, const Json& json, RunRecord& out) {
  const JsonFile document{path.filename().string(), json};
  bool known = false;
  const auto keep = [&](const char* key, std::vector<JsonFile>& kind) {
    if (!document.json.contains(key)) return;
    check_rows(document, key, path);
    known = true;
    kind.push_back(document);
    for (const Json& row : document.json[key]) {
      if (is_oracle_bound(row)) out.bounds.insert(text(row, "policy"));
    }
  };
  keep("cells", out.comparisons);
  keep("runs", out.replays);
  keep("series", out.series);
  if (document.json.contains("runs")) check_runs(document.json["runs"], path);
  if (document.json.contains("series")) check_series(document.json["series"], path);
  return known;
}

void add_jobs(const fs::path& path, const std::string& content, RunRecord& out) {
  out.jobs.push_back(read_jobs(path, content));
}

void assign_labels(RunRecord& out) {
  std::set<std::string> names;
  for (const auto& [documents, key] :
       {std::pair(&out.comparisons, "cells"), std::pair(&out.replays, "runs"),
        std::pair(&out.series, "series")}) {
    for (const JsonFile& document : *documents) {
      for (const Json& row : document.json[key]) collect_policies(row, names);
    }
  }
  for (const JobsFile& file : out.jobs) {
    for (const PolicyCompletionTimes& of : file.policies) names.insert(of.policy);
  }
  const auto label = [&](const std::string& policy, size_t parts) {
    if (policy.starts_with("checkpoint:")) return out.checkpoint_label(tail(policy, parts));
    return policy.ends_with(".yaml") ? tail(policy, parts) : policy;
  };
  constexpr size_t kMaxPathParts = 32;  // path components; beyond that the full path is shown
  for (const std::string& name : names) {
    for (size_t parts = 1; parts <= kMaxPathParts; ++parts) {
      const std::string own = label(name, parts);
      const bool taken = std::ranges::any_of(names, [&](const std::string& other) {
        return other != name && label(other, parts) == own;
      });
      out.labels[name] = own;
      if (!taken) break;
      if (parts == kMaxPathParts) out.labels[name] = name;
    }
  }
}

bool is_oracle_bound(const Json& row) {
  const std::string level = text(row, "information");
  return level == "oracle" || level == "noisy-oracle";
}

std::string information_text(const Json& row) {
  const std::string level = text(row, "information"), speeds = text(row, "speeds");
  return speeds.empty() ? level : level + ", speeds " + speeds;
}

RunRecord read_run(const fs::path& given) {
  const fs::path path = fs::weakly_canonical(given);
  RunRecord out;
  out.name = path.filename().string();
  if (!fs::exists(path / "run.json")) {
    throw InputError(given.string(), "a run folder with run.json",
                     fs::is_directory(path) ? "a folder without it" : "no folder");
  }
  out.run = read_json(path / "run.json");
  const Settings config = Settings::from_yaml((path / "config.yaml").string());
  for (const GivenSetting& setting : config.entries())
    out.config.emplace_back(setting.key, setting.value);
  if (fs::exists(path / "metrics.csv")) out.metrics.emplace(path / "metrics.csv");
  std::set<fs::path> files;
  if (fs::is_directory(path / "evaluations")) {
    for (const auto& entry : fs::directory_iterator(path / "evaluations")) {
      if (entry.is_regular_file()) files.insert(entry.path());
    }
  }
  for (const fs::path& file : files) read_evaluation(file, out);
  assign_labels(out);
  return out;
}

RunRecord read_files(const std::vector<fs::path>& paths) {
  RunRecord out;
  for (const fs::path& path : paths) {
    const std::string name = unique_name(path, paths);
    out.name += (out.name.empty() ? "" : ", ") + name;
    const bool known = read_evaluation(path, out);
    for (auto* documents : {&out.comparisons, &out.replays, &out.series}) {
      if (!documents->empty() && documents->back().file == path.filename()) {
        documents->back().file = name;
      }
    }
    if (!out.jobs.empty() && out.jobs.back().file == path.filename()) out.jobs.back().file = name;
    if (!known) {
      throw InputError(path.string(),
                       "a run folder, JSON from --json-out (simulate, evaluate, whatif) or "
                       "--series-out, or CSV from --jobs-out",
                       "another file");
    }
  }
  assign_labels(out);
  return out;
}

std::vector<RunRecord> read_all(const std::vector<std::string>& paths) {
  std::vector<RunRecord> out;
  std::vector<fs::path> files, folders;
  for (const std::string& path : paths) {
    if (fs::is_regular_file(path)) {
      files.emplace_back(path);
      continue;
    }
    out.push_back(read_run(path));
    folders.push_back(fs::weakly_canonical(path));
  }
  // Folders with equal names are distinguished by more components of their paths.
  for (size_t parts = 2; parts <= 8; ++parts) {
    std::map<std::string, int> count;
    for (const RunRecord& run : out) ++count[run.name];
    for (size_t i = 0; i < out.size(); ++i) {
      if (count[out[i].name] > 1) out[i].name = tail(folders[i].string(), parts);
    }
  }
  if (!files.empty()) out.push_back(read_files(files));
  return out;
}

}  // namespace yard::report
