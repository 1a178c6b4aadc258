#include "env/trace/generators/rings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/config/registry.h"

namespace yard {
namespace {

constexpr std::array kModels = {"alexnet",     "bert",   "gpt2",   "inception", "lstm", "mobilenet",
                                "recommender", "resnet", "speech", "translate", "vgg",  "actor"};
constexpr std::array kOtherModels = {"detect", "graph", "segment", "vit"};

constexpr std::array<int32_t, 6> kWorkers = {1, 2, 3, 4, 6, 8};
constexpr std::array<double, 6> kSizeWeights = {15, 25, 10, 25, 10, 15};

// Standard deviations of the logarithms of a mix's weights.
constexpr double kModelSd = 1, kSizeSd = 0.5;
constexpr double kMaxRunTimeFactor = 2;

// Random streams of the seed. Mixes have their own stream, the same for every seed.
enum Stream : uint64_t { kJobStream, kArrivalStream };
constexpr uint64_t kMixes = 0x72696E6773;

struct Mix {
  std::array<double, kModels.size()> models;
  std::array<double, kWorkers.size()> sizes = kSizeWeights;
  double run_time_factor = 1;
};

Mix mix_of(const AllReduceJobsParams& p) {
  Mix out;
  out.models.fill(1);
  if (p.mix > 0) {
    Rng rng = Rng(kMixes).split(static_cast<uint64_t>(p.mix));
    for (double& weight : out.models) weight *= std::exp(kModelSd * rng.normal());
    for (double& weight : out.sizes) weight *= std::exp(kSizeSd * rng.normal());
    out.run_time_factor = std::pow(kMaxRunTimeFactor, 2 * rng.uniform() - 1);
  }
  for (size_t i = 0; i < kWorkers.size(); ++i) {
    out.sizes[i] *= std::pow(kWorkers[i], p.larger);
  }
  return out;
}

const Registry<TraceGenerator>::Add<
    FunctionTraceGenerator<AllReduceJobsParams, generate_all_reduce_jobs>>
    kAdd{"rings",
         {.help =
              "jobs with all-reduce, in different mixes of models and sizes, for cluster rings-8",
          .fields = describe<AllReduceJobsParams>}};

}  // namespace

std::vector<Job> generate_all_reduce_jobs(const AllReduceJobsParams& params,
                                          const GenerateOptions& options) {
  const AllReduceJobsParams p = with_options(
      params, options, "synthetic:rings", kWorkers.back(),
      "at least one job, and " + std::to_string(kWorkers.back()) + " GPUs for the largest job");
  const Mix mix = mix_of(p);
  const Rng seed(options.seed);
  std::vector<Job> jobs(static_cast<size_t>(p.jobs));
  double work_gpu_s = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Rng rng = seed.split(kJobStream).split(j);
    Job& job = jobs[j];
    job.gpus = kWorkers[draw_by_weight(mix.sizes, rng)];
    const bool other = rng.uniform() < p.other_models;
    const size_t model = draw_by_weight(mix.models, rng);
    job.model = job.name = other ? kOtherModels[rng.below(kOtherModels.size())] : kModels[model];
    // The mean of a lognormal is exp(mu + sd^2 / 2).
    const double mean_s = 60 * p.mean_min * mix.run_time_factor;
    const double drawn_s = mean_s * std::exp(p.log_sd * rng.normal() - p.log_sd * p.log_sd / 2);
    const double run_s = std::round(std::clamp(drawn_s, 60.0, 20 * mean_s));
    job.run_us = static_cast<int64_t>(run_s) * 1'000'000;
    const double limit_s = std::max(1.0, std::round(run_s * std::exp(p.limit_sd * rng.normal())));
    job.limit_us = static_cast<int64_t>(limit_s) * 1'000'000;
    job.user = "user" + std::to_string(1 + rng.below(8));
    job.pattern = Pattern::kRing;
    work_gpu_s += run_s * job.gpus;
  }
  draw_uniform_arrivals(jobs, work_gpu_s / (p.load * p.cluster_gpus), seed.split(kArrivalStream));
  return jobs;
}

}  // namespace yard
