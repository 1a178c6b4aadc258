// The log of a server's decisions as training data: each response with its snapshot, and the
// outcomes of jobs (decision_log.proto). A separate thread writes the log, so that no response is
// delayed. Records which the queue or the disk cannot take are dropped and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "serving/snapshot/messages.h"
#include "serving/snapshot/preemption_bounds.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

struct DecisionLogOptions {
  std::string folder;  // empty: no log
  int max_mib = 1024;  // of all files together; the oldest are deleted first
  int file_mib = 64;   // of one file
  // Records would survive a power cut after so many seconds; absent: when the system decides.
  std::optional<double> sync_s;
  // Limits of the queue to the writing thread.
  size_t max_waiting = 1024;
  size_t max_waiting_bytes = size_t{64} << 20;
};

// What is recorded of a decision beside its request and answer.
struct Circumstances {
  std::string traceparent = {};  // of the request
  pb::LoggedDecision::Recall recall = pb::LoggedDecision::RECALL_UNSPECIFIED;
};

class DecisionLog {
 public:
  struct Counts {
    uint64_t decisions = 0;  // records written
    uint64_t outcomes = 0;
    uint64_t late = 0;       // dropped: the queue was full
    uint64_t refused = 0;    // dropped: the write failed
    uint64_t syncs = 0;      // successful ones, after one or more records
    uint64_t too_large = 0;  // dropped: larger than a file may be
    uint64_t bytes = 0;      // of all files
    std::string trouble;     // error of the last write; empty: it succeeded
  };

  // Throws InputError if the folder is not writable or belongs to another server, or if the limits
  // leave no room for two files.
  explicit DecisionLog(const DecisionLogOptions& options);
  ~DecisionLog();  // writes what is queued, unless the disk hangs
  DecisionLog(const DecisionLog&) = delete;

  // `bounds` are written into the request. Thread-safe. Neither blocks nor throws.
  void add(std::shared_ptr<const pb::DecideRequest> request, const pb::DecideResponse& response,
           pb::DecisionTrace&& trace, PreemptionBounds bounds = {}, Circumstances more = {});

  // Waits until all earlier records are written or dropped. Returns false after `most`.
  bool flush(std::chrono::seconds most);

  Counts counts() const;

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace yard
