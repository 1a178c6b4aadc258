// Jobs and servers in the terms of MLFS (Wang, Liu and Shen, CoNEXT 2020), for the policy MLF-H and
// the agent that learns from it: the priority of a job (mlf_priority.h), and the distance of a
// server from an ideal one (section 3.3).
//
// Where the paper leaves it open: an iteration is one minute of work; a job without urgency has 1;
// role groups with GPUs are the partitions of the model, all of one size. A loss that is not
// measured falls by the same amount in each iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/base/config/settings.h"
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

// Progress of the job's measure from its first value to what is enough for the user, 0 to 1. Used
// as the job's accuracy. Requires: may_end().
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

// Adds the fields of the rule, for all configurations that contain it.
void add_mlf_fields(FieldList& f, MlfRule& rule);

// Running jobs that may be preempted, the lowest priority first.
struct MlfHolder {
  int32_t slot;
  double priority;
};
std::vector<MlfHolder> mlf_holders(const View& view, const RunEstimate& total_s,
                                   const MlfRule& rule);
// The number of jobs that may be preempted: 0 within a round after the last preemption of a job
// that still waits. A server without memory can follow this, too; restarted jobs are not seen.
int32_t mlf_may_stop(const View& view, const RunEstimate& total_s, const MlfRule& rule);

// The next step of MLF-H. If waiting jobs have room, the one of highest priority starts on the
// servers nearest to the ideal one. Otherwise, it is the first by priority for which up to
// `may_stop` jobs of lower priority hold enough GPUs; it preempts the first of `victims` that make
// room (preempt_to_start.h). given_up (S): not 0 for jobs to skip, as preemption made no room.
struct MlfStep {
  int32_t slot = kNone;  // kNone: no step
  std::vector<int32_t> victims = {};
};
MlfStep mlf_step(const View& view, const RunEstimate& total_s, const MlfRule& rule,
                 int32_t may_stop, const uint8_t* given_up);

// Where the job would go: each task to the server nearest to the ideal one, which is as free as the
// freest and has the job's other tasks. Servers that a task would overload, by their share of CPUs
// or memory in use, come last. GPUs are held whole and overload no server. Empty if there is no
// room.
std::vector<Piece> nearest_ideal_place(const View& view, const MlfRule& rule, int32_t slot);

}  // namespace yard
