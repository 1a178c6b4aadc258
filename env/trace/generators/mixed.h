// The generator `synthetic:mixed`, for which placement and GPU type matter. The jobs, of 24 classes
// of users, name the models that they train. The cluster `mixed-9` defines the speed of each model
// by GPU type, and how spreading and co-location slow jobs.
// An episode is 256 jobs of one seed.
// The workload is frozen, because agents are trained and compared on it.
#pragma once

#include <vector>

#include "env/trace/generators/generator_common.h"

namespace yard {

// All default values are chosen, not measured.
struct MixedJobsParams {
  static constexpr const char* kRevision = "1";
  int jobs = 256;
  int cluster_gpus = 72;  // of mixed-9
  double load = 0.6;
  // Shares of jobs by size. Given a job's size, its user class is drawn, preferably one of the
  // classes that have this favourite size.
  double share_1 = 0.40, share_2 = 0.15, share_4 = 0.20, share_8 = 0.17, share_16 = 0.08;
  double favourite = 6;  // weight of a user class for jobs of its favourite size; 1 for other sizes
  double first_model_share = 0.7;
  double shortest_s = 60, longest_s = 172800;

  void fields(auto& f) {
    f("jobs", jobs, 1, 10'000'000, "number of jobs");
    f("cluster_gpus", cluster_gpus, 1, 1 << 26, "GPUs of the cluster that `load` refers to");
    f("load", load, 0.01, 10.0, "GPU time asked for divided by GPU time offered, at speed 1");
    f("share_1", share_1, 0.0, 1.0, "share of jobs of 1 GPU");
    f("share_2", share_2, 0.0, 1.0, "share of jobs of 2 GPUs");
    f("share_4", share_4, 0.0, 1.0, "share of jobs of 4 GPUs");
    f("share_8", share_8, 0.0, 1.0, "share of jobs of 8 GPUs");
    f("share_16", share_16, 0.0, 1.0, "share of jobs of 16 GPUs");
    f("favourite", favourite, 1.0, 1000.0,
      "weight of a user class for jobs of its preferred size; 1 for other sizes");
    f("first_model_share", first_model_share, 0.0, 1.0,
      "share of a user class's jobs that train its first model");
    f("shortest_s", shortest_s, 1.0, 1e8, "shortest run time, in seconds");
    f("longest_s", longest_s, 1.0, 1e8, "longest run time, in seconds");
  }
};

// Generates the jobs of `synthetic:mixed`. No job asks for more GPUs than the cluster has.
std::vector<Job> generate_mixed_jobs(const MixedJobsParams& params, const GenerateOptions& options);

}  // namespace yard
