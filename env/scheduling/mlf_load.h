// Load control of MLFS (Wang, Liu and Shen, CoNEXT 2020, MLF-C). A job with Job::enough ends once
// its training metric is near its limit ("OptStop") or, in an overloaded cluster, has reached
// Job::enough. A cluster is overloaded if jobs wait or the mean use of servers exceeds a limit.
//
// Not specified in the paper: the use of a server is the root mean square of the used shares of its
// GPUs, CPUs and memory, if known. The limit of a training metric is that of a curve 1 / (b0 x +
// b1) + b2 (training_curves.h) through the first, the halfway and the present measurement.
#pragma once

#include <cstdint>
#include <optional>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

struct MlfsLoadControlSettings {
  bool on = false;
  double overloaded = 0.9;   // h_s
  double near_limit = 0.95;  // share of the way from the first metric value to the limit
};

// Returns the mean over servers, 0 to 1, of the root mean square of their used shares of GPUs,
// cores and memory.
double mlfs_mean_server_utilisation(const View& view);
bool mlfs_is_cluster_overloaded(const View& view, const MlfsLoadControlSettings& rule);

// Returns the extrapolated limit of the job's training metric; empty in the first ten minutes of
// work, or if the metric does not level off. Requires: has_training_metric().
std::optional<double> mlfs_extrapolated_final_metric(const View& view, int32_t slot);

// Returns whether the training metric has reached View::enough(). Requires: may_end_early().
bool mlfs_has_reached_target(const View& view, int32_t slot);

// Ends jobs by MLF-C, in order of submission. While jobs that may be ended hold GPUs, requests a
// decision in the next round, because the progress of training causes no event.
void mlfs_end_jobs_early(const View& view, const MlfsLoadControlSettings& rule, int64_t round_us,
                         Draft& draft);

}  // namespace yard
