// Input of a report: reads and checks run folders and files which commands wrote.
//
// The kind of a file follows from its content, not from its name:
//   *.json  an object with "cells" (evaluate --json-out), "runs" (simulate, whatif) or "series"
//           (simulate --series-out)
//   *.csv   a row per job (--jobs-out)
// Other files in the folder `evaluations/` of a run are ignored.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/run/metrics_csv.h"

namespace yard::report {

using Json = nlohmann::ordered_json;

struct JsonFile {
  std::string file;  // name without the folder
  Json json;
};

// Completion times of one policy in one file of jobs.
struct PolicyCompletionTimes {
  std::string policy;
  std::vector<double> jct_s;  // completion times of finished jobs in seconds, ascending
  size_t jobs = 0;            // with unfinished ones
};

struct JobsFile {
  std::string file;
  std::vector<PolicyCompletionTimes> policies;  // in file order
};

struct RunRecord {
  std::string name;  // name of the run folder, or of the files
  Json run;          // content of run.json; empty if there is none
  std::vector<std::pair<std::string, std::string>> config;
  std::optional<MetricsCsv> metrics;
  std::vector<JsonFile> comparisons, replays, series;
  std::vector<JobsFile> jobs;
  std::set<std::string> bounds;  // policies which see true or noisy run times in any document
  std::map<std::string, std::string> labels;  // unique label of each policy; set by assign_labels()

  std::string agent() const;
  std::string checkpoint_label(const std::string& name) const;  // "AGENT (NAME)"
  bool is_from_run_folder() const { return !run.empty(); }
};

// The value of a key; null if it is absent.
const Json& member_or_null(const Json& object, const char* key);
// The value of a key which is a list; empty if it is not.
const Json& list_or_empty(const Json& object, const char* key);
// The value of a key as text or number; empty if it is absent or null.
std::string text(const Json& object, const char* key);
std::optional<double> number(const Json& object, const char* key);

// Whether a row is about a policy with the level `oracle` or `noisy-oracle`.
bool is_oracle_bound(const Json& row);
// The row's level of information about run times, and about speeds if present: "blind, speeds
// exact".
std::string information_text(const Json& row);

// Reads a run folder. Throws InputError if `path` is not a run folder or has an invalid file.
RunRecord read_run(const std::filesystem::path& path);
// Reads files as one record. Throws InputError if a file is invalid or of no known kind.
RunRecord read_files(const std::vector<std::filesystem::path>& paths);
// Reads each run folder as a record, then all files as one. Makes the names of runs unique.
std::vector<RunRecord> read_all(const std::vector<std::string>& paths);

// Add a document, or a CSV file of jobs; `path` is for messages. add_json_file() returns false if
// the document is of no known kind. Both throw InputError for invalid content.
bool add_json_file(const std::filesystem::path& path, const Json& json, RunRecord& out);
void add_jobs(const std::filesystem::path& path, const std::string& content, RunRecord& out);
// Sets the labels of policies. Call it after everything is added.
void assign_labels(RunRecord& out);

}  // namespace yard::report
