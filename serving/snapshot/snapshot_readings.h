// What was read of the records of a state, kept with the state so that the next one, made of it by
// a delta, only reads the records that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/state/tables.h"
#include "serving/snapshot/delta.h"
#include "serving/snapshot/job_reader.h"
#include "serving/snapshot/node_table.h"

namespace yard {

// The cluster of a snapshot, without GPUs which are down and not in use.
struct ClusterTables {
  ClusterSpec cluster;
  std::unique_ptr<const SpecTable> spec;
  std::vector<int32_t> node_of;     // index of a node in the request, by its index in the spec
  std::vector<int32_t> spec_index;  // the reverse; kNone: a node without usable GPUs
};

// The readings of a list of records. They stay where they are in memory.
class JobReadings {
 public:
  size_t size() const { return of_.size(); }
  // Returns null for a record that has to be read.
  JobReading* operator[](size_t record) const { return of_[record]; }
  // Returns a new reading for a record, in place of the one that it may have.
  JobReading& renew(size_t record);

  // Makes room for so many records.
  void resize(size_t count);
  // Keeps the readings of records that a delta left as they were.
  void follow(const std::vector<int32_t>& origins);

 private:
  std::vector<JobReading*> of_;  // by record
  std::vector<JobReading*> unused_;
  std::vector<std::unique_ptr<JobReading[]>> blocks_;
};

class SnapshotReadings {
 public:
  // Keeps what a delta left as it was.
  void follow(const DeltaOrigins& origins);

  size_t bytes() const;  // approximately

 private:
  friend class SnapshotReader;

  // The time of the state that was read. Readings are only used again for later ones.
  int64_t now_us_ = -1;
  bool has_unique_ids_ = false;
  std::unique_ptr<const NodeTable> nodes_;        // null: to be read
  std::shared_ptr<const ClusterTables> cluster_;  // null: to be read
  JobReadings jobs_, finished_;                   // by index in the state
};

}  // namespace yard
