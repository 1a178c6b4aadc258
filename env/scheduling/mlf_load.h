// Load control after MLFS (Wang, Liu and Shen, CoNEXT 2020, MLF-C). A job with Job::enough ends
// once training is near its limit ("OptStop"). While the cluster is overloaded, the job ends once
// `enough` is reached. A cluster is overloaded if jobs wait or servers are used above a share.
//
// Not specified in the paper: the use of a server is the root mean square of the shares in use of
// its GPUs, CPUs and memory, as far as given. The limit is that of 1 / (b0 x + b1) + b2
// (training_curves.h) through the first, the halfway and the present measurement.
#pragma once

#include <cstdint>
#include <optional>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

struct MlfsLoadControlSettings {
  bool on = false;
  double overloaded = 0.9;   // h_s
  double near_limit = 0.95;  // share of the way from the first measurement to the limit
};

// Mean use of servers, 0 to 1.
double mlfs_mean_server_utilisation(const View& view);
bool mlfs_is_cluster_overloaded(const View& view, const MlfsLoadControlSettings& rule);

// The limit of the job's measure; empty in the first ten minutes or if none. Requires:
// has_training_metric().
std::optional<double> mlfs_extrapolated_metric_limit(const View& view, int32_t slot);

// Whether the measure has reached `enough`, from above or below. Requires: may_end_early().
bool mlfs_has_reached_enough(const View& view, int32_t slot);

// Ends the jobs to end, in order of submission. While jobs that may be ended hold GPUs, it requests
// a decision in the next round: the progress of training causes no event.
void mlfs_end_jobs_early(const View& view, const MlfsLoadControlSettings& rule, int64_t round_us,
                         Draft& draft);

}  // namespace yard
