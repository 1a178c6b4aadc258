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
    double first = 0, last = 0;  // 0, 0 if empty
    void take(double value, bool fresh);
  };

  uint64_t files = 0, bytes = 0;
  uint64_t runs = 0;  // of servers
  uint64_t decisions = 0;
  uint64_t missing = 0;  // gaps in the decision numbers of a run: dropped or damaged
  Range unix_s;          // by the server's clock
  Range time_s;          // by the snapshots' clock
  std::map<std::pair<std::string, std::string>, uint64_t> models;   // (name, digest) -> decisions
  std::map<std::pair<std::string, std::string>, uint64_t> reasons;  // (source, reason) -> decisions
  std::map<std::string, uint64_t> deciders;
  uint64_t starts = 0, preemptions = 0;
  uint64_t with_options = 0;  // decisions with recorded options
  uint64_t sampled = 0;       // decisions sampled at random
  uint64_t jobs = 0;          // by id and submission
  uint64_t finished = 0, gone = 0;
  LogReader::Damage damage;
};

// Reads the log to its end. Throws InputError if it has no readable record.
LogSummary summarise(LogReader& log);

}  // namespace yard
