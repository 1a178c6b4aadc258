// Jobs and servers in the terms of MLFS (Wang, Liu and Shen, CoNEXT 2020), for the policy MLF-H and
// the agent that learns from MLF-H: job priorities (mlf_priority.h) and ideal servers.
//
// Where the paper leaves it open: an iteration is one minute of work; a job without urgency has 1;
// role groups with GPUs are the partitions of the model, all of one size. A loss that is not
// measured falls by the same amount in each iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/scheduling/mlf_priority.h"
#include "env/sim/view/view.h"

namespace yard {

// Estimates the total run time of the job in a slot, in seconds.
using RunEstimate = std::function<double(int32_t)>;

MlfsJobState mlfs_job_state(const View& view, const RunEstimate& total_s, int32_t slot);
int32_t mlfs_num_model_partitions(const View& view, int32_t slot);
// Eq. 6 of the job's first task.
double mlf_priority(const View& view, const RunEstimate& total_s,
                    const MlfsPriorityWeights& weights, int32_t slot);

// Progress of the job's measure from its first value to View::enough(), 0 to 1. Requires:
// may_end_early().
double mlfs_progress_to_enough(const View& view, int32_t slot);

// Settings of MLF-H.
struct MlfsSettings {
  MlfsPriorityWeights weights;
  double overloaded = 0.9;     // h_r: share in use above which a server is overloaded
  double stopped_share = 0.1;  // p_s: share of running jobs that may be preempted at a time
  double quantum_s = 0;        // minimum run time after a start; not in the paper
  double round_s = 60;         // no preemption this soon after that of a job which still waits

  int64_t round_us() const { return static_cast<int64_t>(round_s * 1e6); }
};

// Running jobs that may be preempted, the lowest priority first.
struct MlfsPreemptibleJob {
  int32_t slot;
  double priority;
};
std::vector<MlfsPreemptibleJob> mlfs_preemptible_jobs(const View& view, const RunEstimate& total_s,
                                                      const MlfsSettings& rule);
// Returns the number of jobs that may be preempted: 0 within a round after the last preemption of a
// job that still waits. Depends on the view alone, so that a server without memory can compute it.
int32_t mlfs_preemption_budget(const View& view, const RunEstimate& total_s,
                               const MlfsSettings& rule);

// Returns the next step of MLF-H. If waiting jobs have room, the job of highest priority starts.
// Otherwise, the first job by priority is chosen for which up to `may_stop` jobs of lower priority
// hold enough GPUs; preempt_to_start() takes the `victims`. skipped_slots (S): not 0 for jobs to
// skip.
struct MlfsNextStart {
  int32_t slot = kNone;  // kNone: no step
  std::vector<int32_t> victims = {};
};
MlfsNextStart mlfs_next_start(const View& view, const RunEstimate& total_s,
                              const MlfsSettings& rule, int32_t may_stop,
                              const uint8_t* skipped_slots);

// Returns a placement of each task on the server nearest to the ideal server, which is as free as
// the freest and has the job's other tasks. Servers whose CPUs or memory a task would overload come
// last; GPUs overload no server. Empty if there is no room.
std::vector<Piece> mlfs_place_near_ideal_server(const View& view, const MlfsSettings& rule,
                                                int32_t slot);

}  // namespace yard
