#include "env/trace/generators/servers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/config/registry.h"

namespace yard {
namespace {

constexpr std::array kModels = {"vision", "detect",    "language", "translate",
                                "speech", "recommend", "graph",    "reinforce"};

enum Stream : uint64_t { kJobStream, kArrivalStream };

RoleGroup group(const char* role, int count, int max_tasks, double cores, int gpus) {
  RoleGroup out;
  out.role = role;
  out.count = count;
  out.min_count = max_tasks > 0 ? 1 : 0;
  out.max_count = max_tasks > 0 ? std::max(count, max_tasks) : 0;
  out.task.gpus = gpus;
  out.task.cpu_milli = static_cast<int32_t>(std::lround(1000 * cores));
  return out;
}

const Registry<TraceGenerator>::Add<
    FunctionTraceGenerator<ParameterServerJobsParams, generate_parameter_server_jobs>>
    kAdd{"servers",
         {.help = "jobs with workers and parameter servers, elastic or not, for cluster servers-13",
          .fields = describe<ParameterServerJobsParams>}};

}  // namespace

std::vector<Job> generate_parameter_server_jobs(const ParameterServerJobsParams& params,
                                                const GenerateOptions& options) {
  const ParameterServerJobsParams p =
      with_options(params, options, "synthetic:servers", params.workers,
                   "at least one job, and a GPU for each of its workers");
  const Rng seed(options.seed);
  std::vector<Job> jobs(static_cast<size_t>(p.jobs));
  double work_gpu_s = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Rng rng = seed.split(kJobStream).split(j);
    Job& job = jobs[j];
    // The mean of a lognormal is exp(mu + sd^2 / 2).
    const double drawn_s =
        60 * p.mean_min * std::exp(p.log_sd * rng.normal() - p.log_sd * p.log_sd / 2);
    const double run_s = std::round(std::clamp(drawn_s, 60.0, 20 * 60 * p.mean_min));
    job.run_us = job.limit_us = static_cast<int64_t>(run_s) * 1'000'000;
    job.model = job.name = kModels[rng.below(kModels.size())];
    job.user = "user" + std::to_string(1 + rng.below(8));
    job.pattern = Pattern::kParameterServer;
    const int workers =
        p.drawn ? 1 + static_cast<int>(rng.below(static_cast<uint32_t>(p.workers))) : p.workers;
    job.groups = {group("ps", p.drawn ? workers : p.servers, p.most, p.server_cores, 0),
                  group("worker", workers, p.most, p.worker_cores, 1)};
    job.gpus = workers;
    work_gpu_s += run_s * workers;
  }
  draw_uniform_arrivals(jobs, work_gpu_s / (p.load * p.cluster_gpus), seed.split(kArrivalStream));
  return jobs;
}

}  // namespace yard
