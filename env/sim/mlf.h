// What MLFS (Wang, Liu and Shen, CoNEXT 2020) makes of jobs and servers, for the policy MLF-H and
// the agent that learns from it: a job as its equations see it (mlf_priority.h), and how near a
// server is to an ideal one (section 3.3).
//
// Ours, where the paper leaves it open: an iteration is a minute of work; a job without urgency has
// 1; role groups that have GPUs are the partitions of its model, all of one size; where nobody
// measures a loss, it is taken to fall alike in every iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/base/settings.h"
#include "env/sim/mlf_priority.h"
#include "env/sim/view.h"

namespace yard {

// Seconds that a job, by its slot, will have run when it ends.
using RunEstimate = std::function<double(int32_t)>;

MlfJob mlf_job(const View& view, const RunEstimate& total_s, int32_t slot);
int32_t mlf_partitions(const View& view, int32_t slot);
// Eq. 6 of its first task.
double mlf_priority(const View& view, const RunEstimate& total_s, const MlfWeights& weights,
                    int32_t slot);

// Share of the way from the first measure to what is enough for the user that a job's training has
// come, at most 1: what stands for its accuracy here. Requires: may_end().
double mlf_accuracy(const View& view, int32_t slot);

// MLF-H's own numbers.
struct MlfRule {
  MlfWeights weights;
  double overloaded = 0.9;     // h_r: share in use above which a server is overloaded
  double stopped_share = 0.1;  // p_s: of those that run, that may be stopped at a time
  double quantum_s = 0;        // who was started runs at least so long; not the paper's
  double round_s = 60;         // nobody is stopped so soon after anybody who waits was

  int64_t round_us() const { return static_cast<int64_t>(round_s * 1e6); }
};

// Of the rule; shared by whoever is set by it.
void add_mlf_fields(FieldList& f, MlfRule& rule);

// Running jobs that may be stopped, the lowest priority first.
struct MlfHolder {
  int32_t slot;
  double priority;
};
std::vector<MlfHolder> mlf_holders(const View& view, const RunEstimate& total_s,
                                   const MlfRule& rule);
// How many it may stop now: none within a round of the last stop of a job that still waits; so a
// server that remembers nothing keeps to it, too. Who went on within the round is not seen.
int32_t mlf_may_stop(const View& view, const RunEstimate& total_s, const MlfRule& rule);

// What MLF-H does next: the job of the highest priority that has room starts, on servers nearest to
// the ideal; where none has, that of the highest priority for which `may_stop` of the lowest would
// make GPUs enough, all lower than it, starts in the place of the first of them that it takes
// (in_place_of.h). given_up (S): who found no place even so.
struct MlfStep {
  int32_t slot = kNone;  // nobody
  std::vector<int32_t> stops = {};
};
MlfStep mlf_step(const View& view, const RunEstimate& total_s, const MlfRule& rule,
                 int32_t may_stop, const uint8_t* given_up);

// Where the job would go, each task to the server that is nearest to the ideal one, which is as
// little used as the least used and has the job's other tasks on it; servers that a task would
// overload, with more than that share of their CPUs or memory in use, come last. GPUs are held
// whole and overload nobody. Empty: it has no room.
std::vector<Piece> nearest_ideal_place(const View& view, const MlfRule& rule, int32_t slot);

}  // namespace yard
