// Statistics of a decision log, and of a policy's decisions on its snapshots.
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
  uint64_t reported = 0;  // outcomes that managers reported
  LogReader::Damage damage;
};

// Reads the log to its end. Throws InputError if it has no readable record.
LogSummary summarise(LogReader& log);

struct LogReplay {
  uint64_t replayed = 0;
  uint64_t same = 0;          // same actions and wake-up
  uint64_t same_actions = 0;  // same actions
  uint64_t acts = 0;          // recorded decisions with actions
  uint64_t same_acts = 0;     // of those, with the same actions
  uint64_t failed = 0;        // the policy failed to decide
  uint64_t skipped = 0;       // recorded decisions which the policy did not make
  std::string first;          // decision_id of the first with other actions
};

enum class Decisions { kOfPolicy, kAll };

// Runs the policy on the log's snapshots, and compares its decisions with the recorded ones. Reads
// the log to its end.
LogReplay replay(LogReader& log, const Policy& policy, Decisions which);

}  // namespace yard
