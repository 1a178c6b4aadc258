// What a report is made from: run folders, and files that commands wrote, read back and held to
// their form.
//
// A file says by its content what it is, and its name is free:
//   *.json  an object with "cells" (evaluate --json-out), "runs" (simulate, whatif) or "series"
//           (simulate --series-out)
//   *.csv   a row a job (--jobs-out)
// In the folder `evaluations/` of a run, other files are left alone.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/run/metrics_csv.h"

namespace yard::report {

using Json = nlohmann::ordered_json;

struct Document {
  std::string file;  // its name without the folder
  Json json;
};

// Of one policy in one file of jobs.
struct JobTimes {
  std::string policy;
  std::vector<double> jct_s;  // of the finished jobs, rising
  size_t jobs = 0;            // all of them
};

struct JobsFile {
  std::string file;
  std::vector<JobTimes> policies;  // in the order of the file
};

struct RunRecord {
  std::string name;  // of the folder, or of the files
  Json run;          // run.json; empty where there is none
  std::vector<std::pair<std::string, std::string>> config;
  std::optional<MetricsCsv> metrics;
  std::vector<Document> comparisons, replays, series;
  std::vector<JobsFile> jobs;
  std::set<std::string> bounds;  // policies that know run times, by any of the documents
  std::map<std::string, std::string> labels;  // of policies, no two alike; settle()

  std::string agent() const;
  bool is_run() const { return !run.empty(); }
};

// The value of a key as text; empty where it is absent or null.
std::string text(const Json& object, const char* key);
std::optional<double> number(const Json& object, const char* key);

// Whether a document's row is about a policy that knows run times.
bool is_bound(const Json& row);
// The levels at which a row's policy saw run times and, where the row says so, speeds: "blind,
// speeds told".
std::string information(const Json& row);

// Throws InputError: no run folder, or a file in it that is not what its kind promises.
RunRecord read_run(const std::filesystem::path& path);
// Files that are no run's together. Throws InputError, also for one that is none of these kinds.
RunRecord read_files(const std::vector<std::filesystem::path>& paths);
// Run folders, each by itself, then all files together. Names of runs are made distinct.
std::vector<RunRecord> read_all(const std::vector<std::string>& paths);

// Adds a document or a file of jobs, `path` for messages. Returns false where it is neither.
bool add_document(const std::filesystem::path& path, const Json& json, RunRecord& out);
void add_jobs(const std::filesystem::path& path, const std::string& content, RunRecord& out);
// Gives policies their labels, once all is added.
void settle(RunRecord& out);

}  // namespace yard::report
