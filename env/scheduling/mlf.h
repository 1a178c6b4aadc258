// Heuristic MLF-H of MLFS (Wang, Liu and Shen, CoNEXT 2020), for its policy and for the agent that
// learns from MLF-H: job priorities (mlf_priority.h), preemption and ideal servers.
//
// Not specified in the paper: an iteration is one minute of work; the urgency is 1 by default; role
// groups with GPUs are the partitions of the model, all of one size. A loss that is not measured
// falls by the same amount in each iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/scheduling/mlf_priority.h"
#include "env/sim/view/view.h"

namespace yard {

// Function that estimates a job's total run time in seconds from the job's slot.
using RunEstimate = std::function<double(int32_t)>;

MlfsJobState mlfs_job_state(const View& view, const RunEstimate& total_s, int32_t slot);
int32_t mlfs_num_model_partitions(const View& view, int32_t slot);
// Returns the priority of the job's first task by eq. 6 of MLFS.
double mlf_priority(const View& view, const RunEstimate& total_s,
                    const MlfsPriorityWeights& weights, int32_t slot);

// Returns the progress of the job's training metric from its first value to View::enough(), 0 to 1.
// Requires: may_end_early().
double mlfs_progress_to_target(const View& view, int32_t slot);

// Settings of MLF-H.
struct MlfsSettings {
  MlfsPriorityWeights weights;
  double overloaded = 0.9;     // h_r: share in use above which a server is overloaded
  double stopped_share = 0.1;  // p_s: share of running jobs that may be preempted at a time
  double quantum_s = 0;        // [s] minimum run time after a start; not in the paper
  // [s] No job is preempted for this long after the preemption of a job that still waits.
  double round_s = 60;

  int64_t round_length_us() const { return static_cast<int64_t>(round_s * 1e6); }
};

// A running job that may be preempted. Lists of these are in order of rising priority.
struct MlfsPreemptibleJob {
  int32_t slot;
  double priority;
};
std::vector<MlfsPreemptibleJob> mlfs_preemptible_jobs(const View& view, const RunEstimate& total_s,
                                                      const MlfsSettings& rule);
// Returns the number of jobs that may be preempted now: 0 within a round after the preemption of a
// job that still waits. The number depends on the view alone, as stateless servers need.
int32_t mlfs_preemption_budget(const View& view, const RunEstimate& total_s,
                               const MlfsSettings& rule);

// Returns the next job that MLF-H starts: of the waiting jobs that have room, the job of highest
// priority. If no waiting job has room, returns the first by priority for which up to `may_stop`
// jobs of lower priority hold enough GPUs, with these jobs as `victims` for preempt_to_start().
// Skips jobs whose entry in skipped_slots (S) is not 0.
struct MlfsNextStart {
  int32_t slot = kNone;  // kNone: no job
  std::vector<int32_t> victims = {};
};
MlfsNextStart mlfs_next_start(const View& view, const RunEstimate& total_s,
                              const MlfsSettings& rule, int32_t may_stop,
                              const uint8_t* skipped_slots);

// Returns a placement of each task on the server nearest to the ideal server, which is as free as
// the freest server and holds the job's other tasks. Servers whose CPUs or memory a task would
// overload come last; GPU use overloads no server. Returns no pieces if there is no room.
std::vector<Piece> mlfs_place_near_ideal_server(const View& view, const MlfsSettings& rule,
                                                int32_t slot);

}  // namespace yard
