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
  int max_mib = 1024;  // MiB of all files together; the oldest files are deleted first
  int file_mib = 64;   // largest size of one file in MiB
  // Seconds after which records are synced to disk; absent: the operating system decides when.
  std::optional<double> sync_s;
  // Limits of the queue of records that wait for the writing thread.
  size_t max_waiting = 1024;
  size_t max_waiting_bytes = size_t{64} << 20;
};

// What is recorded of a decision beside its request and answer.
struct DecisionContext {
  std::string traceparent = {};  // of the request
  pb::LoggedDecision::Recall recall = pb::LoggedDecision::RECALL_UNSPECIFIED;
};

class DecisionLog {
 public:
  struct Counts {
    uint64_t decisions = 0;  // records written
    uint64_t outcomes = 0;   // records written of jobs that are gone from snapshots
    uint64_t reported = 0;   // records written of outcomes that managers reported
    uint64_t late = 0;       // records dropped because the queue was full
    uint64_t refused = 0;    // records dropped because the write failed
    uint64_t syncs = 0;      // successful syncs of one or more records
    uint64_t too_large = 0;  // records dropped as larger than a file may be
    uint64_t bytes = 0;      // size of all files
    std::string trouble;     // error of the last write; empty: the write succeeded
  };

  // Throws InputError if the folder is not writable or belongs to another server, or if the limits
  // leave no room for two files.
  explicit DecisionLog(const DecisionLogOptions& options);
  ~DecisionLog();  // writes the queued records, unless the disk hangs
  DecisionLog(const DecisionLog&) = delete;

  // Queues a decision; `bounds` are recorded in its request. Thread-safe. add() never blocks or
  // throws.
  void add(std::shared_ptr<const pb::DecideRequest> request, const pb::DecideResponse& response,
           pb::DecisionTrace&& trace, PreemptionBounds bounds = {}, DecisionContext more = {});

  // Adds the outcome of a job. Returns false if the record was dropped. Thread-safe. Neither blocks
  // nor throws.
  bool add(const std::string& cluster, const pb::Outcome& outcome);

  // Waits until all earlier records are written or dropped. Returns false if `timeout` ends first.
  bool flush(std::chrono::seconds timeout);

  Counts counts() const;

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace yard
