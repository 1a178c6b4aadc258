// What a policy remembers of a live cluster from one snapshot to the next: its memory, and the
// slots, serials, users and names by which the memory refers to jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/sim/state/job_names.h"
#include "env/sim/state/tables.h"
#include "env/sim/view/plan.h"
#include "policies/memory.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// The state of a cluster for one decision. Requires: the snapshot outlives it.
class SnapshotState {
 public:
  const SimModel& fixed() const { return live_.fixed(); }
  SimState& state() { return live_.state(); }
  const SimState& state() const { return live_.state(); }

  // Index in the request's jobs of the job in a slot; kNone if it has finished.
  // Requires: 0 <= slot < high_water.
  int32_t request_index(int32_t slot) const { return request_index_[static_cast<size_t>(slot)]; }

  // The state as bytes, and the way back.
  std::vector<std::byte> copy() const { return live_.copy(); }
  void restore(const std::vector<std::byte>& earlier) { live_.restore(earlier); }

 private:
  friend class ClusterMemory;
  SnapshotState(JobTable&& table, std::vector<int32_t>&& serials, const SimModel& fixed,
                int32_t slots, int64_t now_us);

  JobTable table_;
  std::vector<int32_t> serials_;  // by row of the table
  LiveState live_;
  std::vector<int32_t> request_index_;  // by slot
};

// So many jobs at once, users and names.
struct ClusterRoom {
  int32_t slots = 0, users = 0, names = 0;
};

class ClusterMemory {
 public:
  // The room grows when needed. Then the memory begins anew.
  explicit ClusterMemory(const ClusterRoom& room = {}) : first_room_(room), room_(room) {}
  ClusterMemory(const ClusterMemory&) = delete;

  // Returns the state of the next snapshot. A job keeps its slot. Changed are the jobs that differ
  // from the last snapshot with the policy's plan carried out. A job that is gone has finished;
  // what the snapshot lists as finished counts once. Begins anew if no node is in both snapshots,
  // or the new one is older.
  SnapshotState next_state(const Snapshot& snapshot);

  // Prepares the memory of `bytes` for a decision on that state. It keeps the first `lasting`
  // bytes, unless it begins anew: then it is zero, every job counts as changed, and the result is
  // false. Requires: always for the same policy.
  bool keep_memory(SimState& state, size_t lasting, size_t bytes);
  Memory& memory() { return memory_; }

  // Call with the policy's plan for that state, which has been applied to it.
  void remember_plan(const SnapshotState& live, const Plan& plan);

  int64_t now_us() const { return now_us_; }  // of the last snapshot; -1: none
  size_t bytes() const;                       // approximately

 private:
  // A job of the last snapshot.
  struct Known {
    Job job;
    int32_t slot = kNone, serial = 0;
    int64_t rank = 0;  // rises with every entry into the queue
    // As reported, or as they will be once the plan is carried out.
    Phase phase = Phase::kFree;
    int32_t started = 0;
    int64_t attained_us = 0;  // as reported
    uint64_t snapshot = 0;    // the last one with this job
  };
  // A job that has ended. Its request is what it was while the job was there, if the job was there.
  struct Ended {
    LiveJob live;
    int32_t slot, serial;
    std::optional<Job> job;
    bool is_listed = true;  // by the snapshot, in row `live.job`
  };
  struct Entered {
    Known* known = nullptr;  // null: a finished job
    bool changed = false;
  };

  void begin_anew(const ClusterRoom& room);
  bool shares_a_node(const Snapshot& snapshot) const;
  int32_t take_slot();
  std::vector<Entered> enter_jobs(const Snapshot& snapshot, std::vector<Known>& gone);
  std::vector<Ended> end_jobs(const Snapshot& snapshot, std::vector<Known>&& gone);
  void rank_queue(const Snapshot& snapshot, const std::vector<Entered>& of_row);
  bool make_room(const SimModel& fixed);

  ClusterRoom first_room_, room_;
  bool anew_ = true;  // the memory is not kept
  int64_t now_us_ = -1;
  uint64_t snapshots_ = 0;
  int32_t next_serial_ = 0;
  int64_t next_rank_ = 0;
  int32_t high_water_ = 0;
  std::vector<int32_t> free_slots_;
  std::unordered_map<std::string, Known> jobs_;  // by id
  std::vector<Known*> in_slot_;                  // of the last state
  std::vector<std::string> some_nodes_;          // of the last snapshot
  JobNames names_;
  Memory memory_;
  size_t lasting_bytes_ = 0;
};

}  // namespace yard
