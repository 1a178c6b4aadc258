// From what a cluster manager tells to the state that policies see, and from their plans back to
// its names.
//
//   Snapshot snapshot(request);
//   LiveState live = snapshot.state();
//   ... decide on live.state() ...
//   snapshot.write(live.state(), plan, response);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/plan.h"
#include "env/sim/restore.h"
#include "env/sim/tables.h"
#include "serving/messages.h"

namespace yard {

// Bounds on one request, so that no message of a few bytes takes the server's memory.
inline constexpr int kMostNodes = 1 << 14;
inline constexpr int kMostJobs = 1 << 18;  // and as many finished ones
inline constexpr double kMostSeconds = 1e10;

class Snapshot {
 public:
  // Throws InputError about the first thing in the request that cannot be.
  // Requires: `request` outlives this and does not change.
  explicit Snapshot(const pb::DecideRequest& request);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const Fixed& fixed() const { return fixed_; }
  int64_t now_us() const { return now_us_; }
  int32_t num_jobs() const { return static_cast<int32_t>(jobs_.size()); }
  bool may_start_anything() const { return fixed_.spec.total_gpus > 0; }

  // A fresh state. GPUs that are down and not in use are left out of it.
  LiveState state() const;

  // Index in the request's jobs of who stands in a slot of a state from here.
  // Requires: it is live.
  int32_t told_as(const ClusterState& state, int32_t slot) const {
    return told_as_[static_cast<size_t>(state.job[slot])];
  }
  // Requires: `told` is an index in the request's jobs.
  bool waits(int32_t told) const { return request_.jobs(told).state() == pb::WAITING; }

  // Adds the plan to the response; what it names that does not exist comes out without a name.
  // Requires: `state` is from here, carried on by the plan.
  void write(const ClusterState& state, const Plan& plan, pb::DecideResponse& response) const;

  // The place that an action names; empty where it names a node that is not there or not up.
  std::vector<Piece> pieces(const pb::Action& action) const;

 private:
  struct Vacating {
    LivePart part;
    int64_t until_us;
  };

  const pb::DecideRequest& request_;
  int64_t now_us_ = 0;
  std::vector<int32_t> node_of_;  // index in the spec -> index in the request
  std::vector<int32_t> told_as_;  // index in the job table -> in request.jobs(), kNone: finished
  std::vector<LiveJob> jobs_;     // finished, held and stopping, then waiting in queue order
  std::vector<Vacating> vacating_;
  std::vector<SpecTable> spec_table_;  // one; made once all is known
  std::vector<JobTable> job_table_;
  Fixed fixed_;

  friend class SnapshotReader;
};

}  // namespace yard
