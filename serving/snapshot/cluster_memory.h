// What a policy remembers of a live cluster between snapshots: the policy's memory, and the slots,
// serials, users and names by which that memory refers to jobs.
#pragma once

#include <absl/container/node_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/sim/state/job_names.h"
#include "env/sim/state/tables.h"
#include "env/sim/view/plan.h"
#include "policies/memory.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// The state of a cluster for one decision. Requires: the snapshot outlives the state.
class SnapshotState {
 public:
  const SimModel& fixed() const { return live_.fixed(); }
  SimState& state() { return live_.state(); }
  const SimState& state() const { return live_.state(); }

  // Returns the index in the request's jobs of the job in a slot; kNone if the job has finished.
  // Requires: 0 <= slot < high_water.
  int32_t request_index(int32_t slot) const { return request_index_[static_cast<size_t>(slot)]; }

  // copy() returns the state as bytes, from which restore() sets it again.
  std::vector<std::byte> copy() const { return live_.copy(); }
  void restore(const std::vector<std::byte>& earlier) { live_.restore(earlier); }

 private:
  friend class ClusterMemory;
  SnapshotState(JobTable&& table, std::vector<int32_t>&& serials, const SimModel& fixed,
                int32_t slots, int64_t now_us);

  JobTable table_;
  std::vector<int32_t> serials_;  // serial number of each job, by row of the table
  LiveState live_;
  std::vector<int32_t> request_index_;  // by slot
};

// The numbers of jobs at once, of users and of job names for which a memory has room.
struct ClusterMemoryCapacity {
  int32_t slots = 0, users = 0, names = 0;
};

class ClusterMemory {
 public:
  // When a snapshot needs more than `room`, the room grows and the memory begins anew.
  explicit ClusterMemory(const ClusterMemoryCapacity& room = {}) : first_room_(room), room_(room) {}
  ClusterMemory(const ClusterMemory&) = delete;

  // Returns the state of the next snapshot. A job keeps its slot. A job counts as changed unless it
  // is as the policy's plan for the last snapshot left it. A job that is gone counts as finished,
  // and only once if the snapshot also lists it as finished. The memory begins anew if the last
  // snapshot is newer than `snapshot` or has none of its nodes.
  SnapshotState next_state(const Snapshot& snapshot);

  // Prepares a memory of `bytes` bytes for a decision on `state`. Keeps the first `lasting` bytes
  // and returns true. If the memory begins anew, fills it with zeros, marks every job as changed
  // and returns false. Requires: all calls are for one policy.
  bool keep_or_clear_memory(SimState& state, size_t lasting, size_t bytes);
  Memory& memory() { return memory_; }

  // Remembers the policy's plan for the state `live`, to which the plan has been applied.
  void remember_plan(const SnapshotState& live, const Plan& plan);

  int64_t now_us() const { return now_us_; }  // time of the last snapshot; -1: none
  size_t bytes() const;                       // approximately

 private:
  // A job of the last snapshot.
  struct KnownJob {
    Job job;
    int32_t slot = kNone, serial = 0;
    int64_t rank = 0;  // order in the queue; rises with each entry into the queue
    // Phase and starts as reported, or as they will be after the plan is carried out.
    Phase phase = Phase::kFree;
    int32_t started = 0;
    int64_t attained_us = 0;  // as reported
    uint64_t snapshot = 0;    // number of the last snapshot with this job
  };
  // A job that has ended. `job` is the job as the last snapshot before its end listed it.
  struct GoneJob {
    LiveJob live;
    int32_t slot, serial;
    std::optional<Job> job;
    bool is_listed = true;  // whether row `live.job` of the snapshot lists the job
  };
  struct EnteredJob {
    KnownJob* known = nullptr;  // null: a finished job
    bool changed = false;
  };

  static size_t bytes_of(const KnownJob& known);
  void begin_anew(const ClusterMemoryCapacity& room);
  bool shares_node_with_last(const Snapshot& snapshot) const;
  int32_t take_slot();
  std::vector<EnteredJob> enter_jobs(const Snapshot& snapshot, std::vector<KnownJob>& gone);
  std::vector<GoneJob> list_ended_jobs(const Snapshot& snapshot, std::vector<KnownJob>&& gone);
  void rank_queue(const Snapshot& snapshot, const std::vector<EnteredJob>& of_row);
  bool make_room(const SimModel& fixed);

  ClusterMemoryCapacity first_room_, room_;
  bool anew_ = true;  // whether the policy's memory has to be cleared
  int64_t now_us_ = -1;
  uint64_t snapshots_ = 0;
  int32_t next_serial_ = 0;
  int64_t next_rank_ = 0;
  int32_t high_water_ = 0;
  std::vector<int32_t> free_slots_;
  absl::node_hash_map<std::string, KnownJob> jobs_;  // by id
  size_t job_bytes_ = 0;                             // of jobs_, approximately
  std::vector<KnownJob*> in_slot_;                   // jobs of the last state, by slot
  std::vector<std::string> some_nodes_;              // names of some nodes in the last snapshot
  JobNames names_;
  Memory memory_;
  size_t lasting_bytes_ = 0;
};

}  // namespace yard
