// `log choices|fit`: converts a decision log to training data, in files that need no Protobuf.
#pragma once

#include <nlohmann/json.hpp>

#include "serving/log/log_summary.h"

namespace yard {

// Both commands, `log choices` and `log fit`, write files and print counts as text or one JSON
// document. Throw InputError.
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

void print_json(const nlohmann::ordered_json& document);

// Prints on stderr what was left out of a damaged log. Call it after reading the log.
void print_damage(const LogReader& log);

}  // namespace yard
