// Statistics of a decision log, and of a policy that decides on the log's snapshots again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "policies/policy.h"
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

struct LogReplay {
  uint64_t replayed = 0;
  uint64_t same = 0;          // decisions with the recorded actions and wake-up
  uint64_t same_actions = 0;  // decisions with the recorded actions
  uint64_t acts = 0;          // recorded decisions that have actions
  uint64_t same_acts = 0;     // recorded decisions with actions that the policy repeats
  uint64_t failed = 0;        // decisions in which the policy fails
  uint64_t skipped = 0;       // recorded decisions left out because a fallback made them
  std::string first;          // id of the first decision whose actions differ
};

enum class Decisions { kOfPolicy, kAll };

// Runs the policy on the log's snapshots, and compares its decisions with the recorded
// decisions. Reads the log to its end.
LogReplay replay(LogReader& log, const Policy& policy, Decisions which);

}  // namespace yard
