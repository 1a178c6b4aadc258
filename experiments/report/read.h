// What a report is made from: run folders, read back and held to their form.
//
// In `evaluations/` a file says by its content what it is, and its name is free:
//   *.json  an object with "cells" (evaluate --json-out), "runs" (simulate --json-out) or "series"
//           (simulate --series-out)
//   *.csv   a row a job (--jobs-out)
// Other files are left alone.
#pragma once

#include <filesystem>
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
  std::string name;  // of the folder
  Json run;          // run.json
  std::vector<std::pair<std::string, std::string>> config;
  std::optional<MetricsCsv> metrics;
  std::vector<Document> comparisons, replays, series;
  std::vector<JobsFile> jobs;
  std::set<std::string> bounds;  // policies that are told run times, by any of the documents

  std::string agent() const;
};

// The value of a key as text; empty where it is absent or null.
std::string text(const Json& object, const char* key);
std::optional<double> number(const Json& object, const char* key);

// Whether a document's row is about a policy that is told run times.
bool is_bound(const Json& row);
// What a row's policy was told of run times, and of speeds where the row says so: "blind, speeds
// told".
std::string information(const Json& row);

// Throws InputError: no run folder, or a file in it that is not what its kind promises.
RunRecord read_run(const std::filesystem::path& path);

}  // namespace yard::report
