// The generator `synthetic:servers`: jobs of workers and parameter servers, as in DL2 and
// Harmony. It belongs to the cluster `servers-13` and the speeds of
// experiments/speeds/servers.csv.
// The workload is frozen, because agents are trained and compared on it. Each seed is one episode.
// DL2's paper gives 30 jobs on 13 servers, eight models, a mean of 147 minutes, and at most 16
// tasks of each kind. All other values are chosen, not measured.
#pragma once

#include <vector>

#include "env/trace/generators/generator_common.h"

namespace yard {

struct ParameterServerJobsParams {
  static constexpr const char* kRevision = "1";
  int jobs = 30;
  int cluster_gpus = 26;  // of servers-13
  double load = 1;
  double mean_min = 147;
  double log_sd = 1;
  int workers = 2, servers = 2;
  bool drawn = false;
  int most = 16;
  double worker_cores = 2, server_cores = 2;

  void fields(auto& f) {
    f("jobs", jobs, 1, 10'000'000, "number of jobs");
    f("cluster_gpus", cluster_gpus, 1, 1 << 26, "GPUs of the cluster that `load` refers to");
    f("load", load, 0.01, 10.0,
      "GPU time asked for divided by GPU time offered, at the sizes asked for");
    f("mean_min", mean_min, 1.0, 1e6, "mean run time at the size asked for, in minutes");
    f("log_sd", log_sd, 0.0, 4.0, "standard deviation of the logarithm of run times");
    f("workers", workers, 1, 1024, "workers that a job asks for, with one GPU each");
    f("servers", servers, 1, 1024, "parameter servers that a job asks for");
    f("drawn", drawn,
      "draw each job's number of workers from 1 to `workers`, with an equal number of servers");
    f("most", most, 0, 1024,
      "largest number of workers, and of servers, of an elastic job; 0: jobs are not elastic");
    f("worker_cores", worker_cores, 0.001, 1024.0, "CPU cores of a worker");
    f("server_cores", server_cores, 0.001, 1024.0, "CPU cores of a parameter server");
  }
};

// Generates the jobs of `synthetic:servers`. The time limit of a job equals its run time.
std::vector<Job> generate_parameter_server_jobs(const ParameterServerJobsParams& params,
                                                const GenerateOptions& options);

}  // namespace yard
