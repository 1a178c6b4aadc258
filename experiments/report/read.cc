#include "experiments/report/read.h"

#include <algorithm>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/settings.h"
#include "env/base/text.h"
#include "env/trace/split.h"
#include "experiments/jobs_csv.h"

namespace yard::report {
namespace {

namespace fs = std::filesystem;

Json read_json(const fs::path& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) {
    throw InputError(path.string(), "a JSON object",
                     json.is_discarded() ? "no valid JSON" : json.type_name());
  }
  return json;
}

// Throws unless `key` holds a list of objects.
void check_rows(const Document& document, const char* key, const fs::path& path) {
  const Json& rows = document.json[key];
  if (rows.is_array() && std::ranges::all_of(rows, [](const Json& row) { return row.is_object(); }))
    return;
  throw InputError(path.string(), std::string("a list of objects as '") + key + "'",
                   rows.type_name());
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
    throw InputError(path.string(), "t_s, held_gpus and waiting, equally many numbers each",
                     "a series without");
  }
}

JobsFile read_jobs(const fs::path& path) {
  const std::string content = read_file(path);
  const std::string name = path.string();
  if (!content.starts_with(kJobsHeader)) {
    throw InputError(name + ":1", "the header of a file of jobs",
                     "'" + content.substr(0, std::min<size_t>(content.find('\n'), 80)) + "'");
  }
  constexpr size_t kColumns = 11, kJct = 7, kLongestRecord = size_t{1} << 20;
  JobsFile out{path.filename().string(), {}};
  std::vector<std::string_view> lines = split(content, '\n');
  lines.pop_back();
  std::string record, unquoted;
  std::vector<std::string_view> cells;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string where = name + ":" + std::to_string(i + 1);
    record = lines[i];
    while (open_quotes(record, ',')) {  // an id may hold the end of a line
      if (i + 1 == lines.size() || record.size() > kLongestRecord) {
        throw InputError(where, "quotes that are closed within 1 MiB", "quotes that stay open");
      }
      record += '\n';
      record += lines[++i];
    }
    if (!split_quoted(record, ',', unquoted, cells)) {
      throw InputError(where, "a comma behind closing quotes", "other text");
    }
    if (cells.size() != kColumns) {
      throw InputError(where, std::to_string(kColumns) + " cells", std::to_string(cells.size()));
    }
    const std::string policy(cells[0]);
    auto of = std::ranges::find(out.policies, policy, &JobTimes::policy);
    if (of == out.policies.end()) of = out.policies.insert(of, JobTimes{policy, {}, 0});
    ++of->jobs;
    const std::string_view jct = cells[kJct];
    if (jct.empty()) continue;
    const auto seconds = parse_double(jct);
    if (!seconds) throw InputError(where, "seconds as jct_s", "'" + std::string(jct) + "'");
    of->jct_s.push_back(*seconds);
  }
  for (JobTimes& of : out.policies) std::ranges::sort(of.jct_s);
  return out;
}

void read_evaluation(const fs::path& path, RunRecord& out) {
  if (path.extension() == ".csv") out.jobs.push_back(read_jobs(path));
  if (path.extension() != ".json") return;
  const Document document{path.filename().string(), read_json(path)};
  const auto keep = [&](const char* key, std::vector<Document>& kind) {
    if (!document.json.contains(key)) return;
    check_rows(document, key, path);
    kind.push_back(document);
    for (const Json& row : document.json[key]) {
      if (is_bound(row)) out.bounds.insert(text(row, "policy"));
    }
  };
  keep("cells", out.comparisons);
  keep("runs", out.replays);
  if (!document.json.contains("series")) return;
  keep("series", out.series);
  check_series(document.json["series"], path);
}

}  // namespace

std::string RunRecord::agent() const { return text(run, "agent"); }

std::string text(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || object[key].is_null()) return "";
  const Json& value = object[key];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> number(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return std::nullopt;
  return object[key].get<double>();
}

bool is_bound(const Json& row) {
  const std::string level = text(row, "information");
  return level == "oracle" || level == "noisy-oracle";
}

std::string information(const Json& row) {
  const std::string level = text(row, "information"), speeds = text(row, "speeds");
  return speeds.empty() ? level : level + ", speeds " + speeds;
}

RunRecord read_run(const fs::path& given) {
  const fs::path path = fs::weakly_canonical(given);
  RunRecord out;
  out.name = path.filename().string();
  if (!fs::exists(path / "run.json")) {
    throw InputError(given.string(), "a run folder, with run.json",
                     fs::is_directory(path) ? "a folder without" : "no folder");
  }
  out.run = read_json(path / "run.json");
  const Settings config = Settings::from_yaml((path / "config.yaml").string());
  for (const Setting& setting : config.entries())
    out.config.emplace_back(setting.key, setting.value);
  if (fs::exists(path / "metrics.csv")) out.metrics.emplace(path / "metrics.csv");
  if (!fs::is_directory(path / "evaluations")) return out;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path / "evaluations")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) read_evaluation(file, out);
  return out;
}

}  // namespace yard::report
