// The generator `synthetic:rings`: jobs of one to eight workers with one GPU each, which exchange
// gradients by all-reduce on the cluster `rings-8`. On this cluster, a policy can choose the
// all-reduce algorithm and the priority on a full link. Each mix of jobs has its own weights of
// models and sizes, so that agents can be trained on some mixes and tested on others
// (meta-learning). All values are chosen, not measured.
#pragma once

#include <vector>

#include "env/trace/generators/generator_common.h"

namespace yard {

struct AllReduceJobsParams {
  static constexpr const char* kRevision = "1";
  int jobs = 200;
  int cluster_gpus = 32;  // of rings-8
  int mix = 0;
  double load = 0.9;
  double mean_min = 40;
  double log_sd = 1;
  double larger = 0;
  double other_models = 0;
  double limit_sd = 0;

  void fields(auto& f) {
    f("jobs", jobs, 1, 10'000'000, "number of jobs");
    f("cluster_gpus", cluster_gpus, 1, 1 << 26, "GPUs of the cluster that `load` refers to");
    f("mix", mix, 0, 1'000'000,
      "number of the mix, which sets the weights of models and sizes and scales run times; 0: no "
      "mix");
    f("load", load, 0.01, 10.0, "GPU time asked for divided by GPU time offered");
    f("mean_min", mean_min, 1.0, 1e6, "mean run time, in minutes; a mix multiplies it by 0.5 to 2");
    f("log_sd", log_sd, 0.0, 4.0, "standard deviation of the logarithm of run times");
    f("larger", larger, -4.0, 4.0,
      "exponent x: the weight of jobs with w workers is multiplied by w^x");
    f("other_models", other_models, 0.0, 1.0,
      "share of jobs whose model is one of four that are in no mix");
    f("limit_sd", limit_sd, 0.0, 4.0,
      "standard deviation of the logarithm of limit divided by run time; 0: limits equal run "
      "times");
  }
};

std::vector<Job> generate_all_reduce_jobs(const AllReduceJobsParams& params,
                                          const GenerateOptions& options);

}  // namespace yard
