// The log of a server's decisions, for learning from them: every answer with its snapshot, and what
// became of the jobs (decision_log.proto). It never holds up an answer: a thread of its own writes,
// what it cannot keep up with or the disk does not take is dropped and counted.
//
//   DecisionLog log({.folder = "log"});
//   log.add(request, response, std::move(account));
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "serving/messages.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

struct DecisionLogOptions {
  std::string folder;   // empty: no log
  int most_mib = 1024;  // of all files together; the oldest go first
  int file_mib = 64;    // of one file
  // What waits to be written.
  size_t most_waiting = 1024;
  size_t most_waiting_bytes = size_t{64} << 20;
};

class DecisionLog {
 public:
  struct Counts {
    uint64_t decisions = 0;  // records written
    uint64_t outcomes = 0;
    uint64_t late = 0;       // dropped: too much waited
    uint64_t refused = 0;    // dropped: the disk did not take them
    uint64_t too_large = 0;  // dropped: larger than a file may be
    uint64_t bytes = 0;      // of all files
    std::string trouble;     // why the disk refused the last one; empty: it took it
  };

  // Throws InputError: the folder cannot be written, is another server's, or bounds that leave no
  // room for two files.
  explicit DecisionLog(const DecisionLogOptions& options);
  ~DecisionLog();  // what waits is written, unless the disk hangs
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  // Thread-safe, waits for nothing, never throws.
  void add(std::shared_ptr<const pb::DecideRequest> request, const pb::DecideResponse& response,
           pb::Account&& account);

  // Returns when all that was added before is written or dropped; false where `most` was over
  // first.
  bool flush(std::chrono::seconds most);

  Counts counts() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace yard
