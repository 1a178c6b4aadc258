// `log choices` and `log fit` convert a decision log to files of training data without Protobuf.
#pragma once

#include <nlohmann/json.hpp>

#include "serving/log/log_summary.h"

namespace yard {

// write_choices_from_log() and write_training_workload_from_log() write files and print counts.
// Both throw InputError.
struct ChoicesFromLogOptions {
  std::string log, agent = "dispatcher", task, out;
  bool json = false;
};
void write_choices_from_log(const ChoicesFromLogOptions& options);

struct TrainingWorkloadOptions {
  std::string log, out;
  int draws = 1;
  uint64_t seed = 1;
  bool json = false;
};
void write_and_print_training_workload_from_log(const TrainingWorkloadOptions& options);
// Writes the files and returns the content of log.json without printing it.
nlohmann::ordered_json write_training_workload_from_log(const TrainingWorkloadOptions& options);
// Returns the name of the file of the log's jobs, with draw number `draw`, from 0, of the run times
// that the log lacks.
std::string logged_jobs_file_name(int draw);

void print_json(const nlohmann::ordered_json& document);

// Prints on stderr what was skipped in a damaged log. Call print_log_damage() after reading the
// log.
void print_log_damage(const LogReader& log);

}  // namespace yard
