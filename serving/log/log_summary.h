// Statistics of a decision log.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "serving/log/log_reader.h"

namespace yard {

struct LogSummary {
  struct Range {
    double first = 0, last = 0;  // both 0 if the range is empty
    void take(double value, bool fresh);
  };

  uint64_t files = 0, bytes = 0;
  uint64_t runs = 0;  // number of server runs
  uint64_t decisions = 0;
  uint64_t missing = 0;  // decisions dropped or damaged, as gaps in their numbers show
  Range unix_s;          // times of decisions by the server's clock
  Range time_s;          // times of snapshots by the cluster manager's clock
  std::map<std::pair<std::string, std::string>, uint64_t> models;   // decisions by model and digest
  std::map<std::pair<std::string, std::string>, uint64_t> reasons;  // decisions by source, reason
  std::map<std::string, uint64_t> deciders;
  uint64_t starts = 0, preemptions = 0;
  uint64_t with_options = 0;  // decisions whose options are recorded
  uint64_t sampled = 0;       // decisions whose actions were sampled at random
  uint64_t jobs = 0;          // distinct jobs, by id and submission time
  uint64_t finished = 0, gone = 0;
  uint64_t reported = 0;  // outcomes that managers reported
  LogReader::Damage damage;
};

// Reads a log to its end. Throws InputError if a damaged log has no readable record.
LogSummary summarise(LogReader& log);

}  // namespace yard
