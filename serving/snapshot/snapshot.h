// Converts the snapshot of a cluster manager to a simulator state for policies, and converts a plan
// of a policy back to the manager's names.
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/sim/state/tables.h"
#include "env/sim/view/plan.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

// Bounds on one request, so that a small message cannot exhaust the server's time or memory. They
// stand in policy.proto.
inline constexpr int kMaxSnapshotNodes = 1 << 14;
inline constexpr int kMaxJobs = 1 << 18;  // and the same number of finished ones
inline constexpr int kMaxSnapshotTypes = 64;
inline constexpr int kMaxAllowed = 16;
inline constexpr size_t kMaxIdBytes = 1024;  // of ids and names
inline constexpr double kMaxSeconds = 1e10;

class Snapshot {
 public:
  // Sets records that make no sense aside: what waits is left out, and what holds GPUs keeps them
  // and is not preempted. Throws InputError if the request contradicts itself, as by two jobs on
  // one GPU. Requires: `request` outlives this and does not change.
  explicit Snapshot(const pb::DecideRequest& request);
  Snapshot(const Snapshot&) = delete;

  const SimModel& fixed() const { return fixed_; }
  int64_t now_us() const { return now_us_; }
  int32_t num_jobs() const { return static_cast<int32_t>(jobs_.size()); }
  const Quarantine& quarantine() const { return quarantine_; }
  bool has_usable_gpus() const { return fixed_.spec.total_gpus > 0; }

  // Returns a fresh state. It leaves out GPUs which are down and not in use.
  LiveState state() const;

  // Index in the request's jobs of the job in a slot of a state made by state().
  // Requires: the slot holds a waiting, starting, running or stopping job.
  int32_t request_index(const SimState& state, int32_t slot) const {
    return request_index_[static_cast<size_t>(state.job[slot])];
  }
  // Requires: `entry` is an index in the request's jobs.
  bool waits(int32_t entry) const { return request_.jobs(entry).state() == pb::WAITING; }

  // Appends the plan to the response. Jobs and nodes in the plan which do not exist get no name.
  // Requires: `state` is made by state() and then changed by the plan only.
  void write(const SimState& state, const Plan& plan, pb::DecideResponse& response) const;

  // Returns the placement of an action; empty if it names a node which is unknown or down.
  std::vector<Piece> pieces(const pb::Action& action) const;

 private:
  struct Vacating {
    LivePart part;
    int64_t until_us;
  };

  const pb::DecideRequest& request_;
  Quarantine quarantine_;
  int64_t now_us_ = 0;
  std::vector<int32_t> node_of_;        // index in the spec -> index in the request
  std::vector<int32_t> request_index_;  // by job of the table: in request.jobs(); kNone: finished
  std::vector<LiveJob> jobs_;           // finished, held and stopping, then waiting in queue order
  std::vector<Vacating> vacating_;
  std::vector<SpecTable>
      spec_table_;  // a vector, so that its one element can be made after all is read
  std::vector<JobTable> job_table_;
  SimModel fixed_;

  friend class SnapshotReader;
};

}  // namespace yard
