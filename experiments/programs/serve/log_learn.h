// `log choices` and `log fit` convert a decision log to files of training data without Protobuf.
#pragma once

#include <nlohmann/json.hpp>

#include "serving/log/log_summary.h"

namespace yard {

// run_log_choices() and run_log_fit() write files and print counts. Both throw InputError.
struct LogChoicesOptions {
  std::string log, agent = "dispatcher", task, out;
  bool json = false;
};
void run_log_choices(const LogChoicesOptions& options);

struct LogFitOptions {
  std::string log, out;
  int draws = 1;
  uint64_t seed = 1;
  bool json = false;
};
void run_log_fit(const LogFitOptions& options);
// Writes the files and returns the content of log.json without printing it.
nlohmann::ordered_json write_log_fit(const LogFitOptions& options);
std::string log_fit_jobs_name(int draw);  // name of the file with a draw of the jobs, from 0

void print_json(const nlohmann::ordered_json& document);

// Prints on stderr what was skipped in a damaged log. Call print_damage() after reading the log.
void print_damage(const LogReader& log);

}  // namespace yard
