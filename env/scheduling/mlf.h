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

MlfJob mlf_job(const View& view, const RunEstimate& total_s, int32_t slot);
int32_t mlf_partitions(const View& view, int32_t slot);
// Eq. 6 of the job's first task.
double mlf_priority(const View& view, const RunEstimate& total_s, const MlfWeights& weights,
                    int32_t slot);

// Progress of the job's measure from its first value to View::enough(), 0 to 1. Requires:
// may_end().
double mlf_accuracy(const View& view, int32_t slot);

// Settings of MLF-H.
struct MlfRule {
  MlfWeights weights;
  double overloaded = 0.9;     // h_r: share in use above which a server is overloaded
  double stopped_share = 0.1;  // p_s: share of running jobs that may be preempted at a time
  double quantum_s = 0;        // minimum run time after a start; not in the paper
  double round_s = 60;         // no preemption this soon after that of a job which still waits

  int64_t round_us() const { return static_cast<int64_t>(round_s * 1e6); }
};

// Running jobs that may be preempted, the lowest priority first.
struct MlfHolder {
  int32_t slot;
  double priority;
};
std::vector<MlfHolder> mlf_holders(const View& view, const RunEstimate& total_s,
                                   const MlfRule& rule);
// Returns the number of jobs that may be preempted: 0 within a round after the last preemption of a
// job that still waits. Depends on the view alone, so that a server without memory can compute it.
int32_t mlf_may_stop(const View& view, const RunEstimate& total_s, const MlfRule& rule);

// Returns the next step of MLF-H. If waiting jobs have room, the job of highest priority starts.
// Otherwise, the first job by priority is chosen for which up to `may_stop` jobs of lower priority
// hold enough GPUs; preempt_to_start() takes the `victims`. given_up (S): not 0 for jobs to skip.
struct MlfStep {
  int32_t slot = kNone;  // kNone: no step
  std::vector<int32_t> victims = {};
};
MlfStep mlf_step(const View& view, const RunEstimate& total_s, const MlfRule& rule,
                 int32_t may_stop, const uint8_t* given_up);

// Returns a placement of each task on the server nearest to the ideal server, which is as free as
// the freest and has the job's other tasks. Servers whose CPUs or memory a task would overload come
// last; GPUs overload no server. Empty if there is no room.
std::vector<Piece> nearest_ideal_place(const View& view, const MlfRule& rule, int32_t slot);

}  // namespace yard
