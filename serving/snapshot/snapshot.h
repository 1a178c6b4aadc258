// Reads the snapshot of a cluster manager as tables of the simulator, from which ClusterMemory
// makes a state, and converts the plan of a policy back to the manager's names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/sim/state/tables.h"
#include "env/sim/view/plan.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/preemption_bounds.h"
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

class SnapshotState;

class Snapshot {
 public:
  // A GPU which a stopping job still holds.
  struct Vacating {
    LivePart part;
    int64_t until_us;
  };

  // Sets records that make no sense aside: what waits is left out, and what holds GPUs keeps them
  // and is not preempted. Throws InputError if the request contradicts itself, as by two jobs on
  // one GPU. Requires: `request` outlives this and does not change.
  explicit Snapshot(const pb::DecideRequest& request, PreemptionBounds bounds = {});
  Snapshot(const Snapshot&) = delete;

  int64_t now_us() const { return now_us_; }
  const Costs& costs() const { return costs_; }
  const AllowedActions& allows() const { return allows_; }
  const PreemptionBounds& bounds() const { return bounds_; }
  const Quarantine& quarantine() const { return quarantine_; }

  // The cluster without GPUs which are down and not in use.
  const ClusterSpec& cluster() const { return cluster_; }
  const SpecColumns& spec() const { return spec_table_[0].columns(); }
  bool has_usable_gpus() const { return spec().total_gpus > 0; }
  const std::vector<Vacating>& vacating() const { return vacating_; }

  // All jobs, by rising submit time, in rows from 0.
  const std::vector<Job>& jobs() const { return jobs_; }
  // Finished ones by their ends, then those with GPUs and the stopping, then the waiting in queue
  // order. LiveJob::job is the row.
  const std::vector<LiveJob>& live() const { return live_; }
  // Index of a row's job in the request's jobs; kNone: a finished one.
  int32_t request_index(int32_t row) const { return request_index_[static_cast<size_t>(row)]; }
  // Requires: `entry` is an index in the request's jobs.
  bool waits(int32_t entry) const { return request_.jobs(entry).state() == pb::WAITING; }

  // Appends the plan to the response. Jobs and nodes in the plan which do not exist get no name.
  // Requires: `state` is made of this snapshot and then changed by the plan only.
  void write(const SnapshotState& state, const Plan& plan, pb::DecideResponse& response) const;

  // Returns the placement of an action; empty if it names a node which is unknown or down.
  std::vector<Piece> pieces(const pb::Action& action) const;

 private:
  const pb::DecideRequest& request_;
  const PreemptionBounds bounds_;
  Quarantine quarantine_;
  int64_t now_us_ = 0;
  std::vector<int32_t> node_of_;        // index in the spec -> index in the request
  std::vector<int32_t> request_index_;  // by row
  std::vector<Job> jobs_;
  std::vector<LiveJob> live_;
  std::vector<Vacating> vacating_;
  Costs costs_;
  AllowedActions allows_;
  ClusterSpec cluster_;
  // A vector, so that its one element can be made after all is read.
  std::vector<SpecTable> spec_table_;

  friend class SnapshotReader;
};

}  // namespace yard
