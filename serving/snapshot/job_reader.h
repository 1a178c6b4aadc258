// Reads the records of jobs in a snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/trace/core/job.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/node_table.h"

namespace yard {

// What a record of a job says, whatever other jobs there are.
struct JobReading {
  Job job;
  LiveJob live;                // without its GPUs
  std::vector<int32_t> nodes;  // node of each piece of its placement; kNone: no node with GPUs
  int64_t queue_rank = 0;
  std::string flaw;            // what is invalid in the record; empty: nothing
  std::string placement_flaw;  // the same of the placement alone
  // Whether a later state may use the reading again if the record stays as it is.
  bool lasts = false;
};

class JobReader {
 public:
  // Requires: `nodes` outlives the reader. `now_s` is the time of the snapshot.
  JobReader(const NodeTable& nodes, double now_s, int64_t now_us);

  // Fill a new reading. `index`: that of the record in the request.
  void read(const pb::Job& entry, int index, JobReading& out);
  void read(const pb::FinishedJob& entry, JobReading& out);
  // Brings a lasting reading of an earlier time up to date. Returns false if the record has to be
  // read again. Requires: the record and the nodes are as they were, except that a running job has
  // run on.
  bool update(const pb::Job& entry, JobReading& reading);

 private:
  // Each of these sets `flaw_` if the value makes no sense.
  int64_t us(const char* what, double seconds);
  int64_t past_us(const char* what, double seconds);
  double worked_us(double seconds);
  void check_id(const std::string& id);
  Phase read_phase(pb::JobState state);
  void read_times(const pb::Job& entry, JobReading& reading);
  void read_attained(const pb::Job& entry, JobReading& reading);

  const NodeTable& nodes_;
  const double now_s_;
  const int64_t now_us_;
  std::string flaw_;
};

}  // namespace yard
