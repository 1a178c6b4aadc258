// Reads the snapshot of a cluster manager as tables of the simulator, from which ClusterMemory
// makes a state, and converts the plan of a policy back to the manager's names.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/rules/restore.h"
#include "env/sim/state/columns.h"
#include "env/sim/view/plan.h"
#include "env/trace/core/job.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/preemption_bounds.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

// Bounds on one request, so that a small message cannot exhaust the server's time or memory.
// The file policy.proto states the bounds, too.
inline constexpr int kMaxSnapshotNodes = 1 << 14;
inline constexpr int kMaxJobs = 1 << 18;  // bound on live jobs, and on finished jobs
inline constexpr int kMaxSnapshotTypes = 64;
inline constexpr int kMaxAllowed = 16;
inline constexpr size_t kMaxIdBytes = 1024;  // length of an id or name
inline constexpr double kMaxSeconds = 1e10;

struct ClusterTables;
class SnapshotReadings;
class SnapshotState;

class Snapshot {
 public:
  // A GPU which a stopping job still holds.
  struct VacatingGpu {
    LivePart part;
    int64_t until_us;
  };

  // Sets invalid records aside: waiting jobs are left out; jobs that hold GPUs keep them and are
  // not preempted. Throws InputError if the request contradicts itself, as by two jobs on one GPU.
  // `readings`: those of the state before, which are brought up to date; null: the whole request is
  // read. Requires: `request` and the readings outlive the snapshot and do not change.
  explicit Snapshot(const pb::DecideRequest& request, PreemptionBounds bounds = {},
                    SnapshotReadings* readings = nullptr);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;

  int64_t now_us() const { return now_us_; }
  const PreemptionCosts& costs() const { return costs_; }
  const AllowedActions& allowed_actions() const { return allows_; }
  const PreemptionBounds& bounds() const { return bounds_; }
  const Quarantine& quarantine() const { return quarantine_; }

  // Returns the cluster without GPUs which are down and not in use.
  const ClusterSpec& cluster() const;
  const SpecColumns& spec() const;
  bool has_usable_gpus() const { return spec().total_gpus > 0; }
  const std::vector<VacatingGpu>& vacating_gpus() const { return vacating_; }

  // Returns all jobs by rising submit time. A job's index is called its row.
  const std::vector<const Job*>& jobs() const { return jobs_; }
  // Returns finished jobs by end time, then jobs that hold GPUs or stop, then waiting jobs in the
  // order of the queue. LiveJob::job is an index in jobs().
  const std::vector<LiveJob>& live_jobs() const { return live_; }
  // Returns the index in the request's jobs of the job in a row; kNone if the job has finished.
  int32_t request_index(int32_t row) const { return request_index_[static_cast<size_t>(row)]; }
  // Requires: `entry` is an index in the request's jobs.
  bool waits(int32_t entry) const { return request_.jobs(entry).state() == pb::WAITING; }

  // Appends the plan to the response. Jobs and nodes in the plan which do not exist get no name.
  // Requires: `state` is made of this snapshot and then changed by the plan only.
  void write(const SnapshotState& state, const Plan& plan, pb::DecideResponse& response) const;

  // Returns the placement of an action; empty if it names a node which is unknown or down.
  std::vector<Piece> placement_of(const pb::Action& action) const;

 private:
  const pb::DecideRequest& request_;
  const PreemptionBounds bounds_;
  std::unique_ptr<SnapshotReadings> own_readings_;  // null: the readings are of the caller
  Quarantine quarantine_;
  int64_t now_us_ = 0;
  std::vector<int32_t> request_index_;  // by row
  std::vector<const Job*> jobs_;
  std::deque<Job> holders_;  // jobs of which only their GPUs are known
  std::vector<LiveJob> live_;
  std::vector<VacatingGpu> vacating_;
  PreemptionCosts costs_;
  AllowedActions allows_;
  std::shared_ptr<const ClusterTables> tables_;

  friend class SnapshotReader;
};

}  // namespace yard
