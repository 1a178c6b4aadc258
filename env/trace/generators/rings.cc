#include "env/trace/generators/rings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/config/registry.h"
#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/trace/generators/generator_common.h"

namespace yard {
namespace {

// Change it whenever the same parameters and seed generate other jobs.
constexpr const char* kRevision = "1";

// Models of the cluster rings-8.
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

Mix mix_of(const RingsParams& p) {
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

class Rings final : public TraceGenerator {
 public:
  explicit Rings(const Settings& settings) : params_(parse<RingsParams>(settings)) {}

  std::vector<Job> generate(const GenerateOptions& options) const override {
    return generate_rings(params_, options);
  }

  std::string parameters_hash() const override {
    return hash_of_parameters(kRevision, record(params_));
  }

 private:
  RingsParams params_;
};

const Registry<TraceGenerator>::Add<Rings> kAdd{
    "rings",
    {.help = "jobs with all-reduce, in different mixes of models and sizes, for cluster rings-8",
     .fields = describe<RingsParams>}};

}  // namespace

std::vector<Job> generate_rings(const RingsParams& params, const GenerateOptions& options) {
  RingsParams p = params;
  if (options.jobs != 0) p.jobs = options.jobs;
  if (options.cluster_gpus != 0) p.cluster_gpus = options.cluster_gpus;
  if (p.jobs < 1 || p.cluster_gpus < kWorkers.back()) {
    throw InputError(
        "synthetic:rings",
        "at least one job, and " + std::to_string(kWorkers.back()) + " GPUs for the largest job",
        std::to_string(p.jobs) + " jobs, " + std::to_string(p.cluster_gpus) + " GPUs");
  }
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
  // Spreads arrivals uniformly over the time in which the cluster offers work / load.
  const double span_s = work_gpu_s / (p.load * p.cluster_gpus);
  spread_arrivals(jobs, span_s, seed.split(kArrivalStream));
  return jobs;
}

}  // namespace yard
