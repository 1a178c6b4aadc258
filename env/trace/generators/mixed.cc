#include "env/trace/generators/mixed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "env/base/config/registry.h"
#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/base/text/text.h"
#include "env/trace/generators/generator_common.h"

namespace yard {
namespace {

constexpr std::array<int32_t, 5> kSizes = {1, 2, 4, 8, 16};

// Change it whenever the same parameters and seed generate other jobs.
constexpr const char* kRevision = "1";

// Random streams of the seed.
enum Stream : uint64_t { kJobStream, kArrivalStream };

struct UserClass {
  double median_s;
  double log_sd;           // of the run time of one job
  int32_t favourite_gpus;  // the size that it submits most
  const char* model;
  const char* other_model;
};

// Medians rise by a fifth from class to class, from five minutes to six hours. Spreads, sizes and
// models repeat with other periods, so that none of them predicts another.
constexpr std::array<UserClass, 24> kClasses = {{
    {300, 0.3, 1, "recommend", "graph"},    {361, 0.8, 4, "vision", "detect"},
    {435, 0.5, 1, "reinforce", "graph"},    {524, 1.1, 8, "language", "translate"},
    {631, 0.3, 2, "detect", "vision"},      {760, 0.8, 1, "speech", "recommend"},
    {915, 0.5, 4, "translate", "language"}, {1102, 1.1, 1, "graph", "reinforce"},
    {1327, 0.3, 8, "vision", "detect"},     {1598, 0.8, 2, "reinforce", "recommend"},
    {1924, 0.5, 1, "language", "speech"},   {2317, 1.1, 4, "recommend", "graph"},
    {2791, 0.3, 16, "translate", "vision"}, {3361, 0.8, 1, "vision", "speech"},
    {4047, 0.5, 2, "speech", "translate"},  {4873, 1.1, 1, "detect", "vision"},
    {5868, 0.3, 4, "graph", "reinforce"},   {7067, 0.8, 8, "translate", "language"},
    {8510, 0.5, 1, "recommend", "detect"},  {10248, 1.1, 2, "language", "translate"},
    {12341, 0.3, 4, "detect", "speech"},    {14861, 0.8, 16, "language", "vision"},
    {17896, 0.5, 1, "reinforce", "graph"},  {21550, 1.1, 8, "speech", "language"},
}};

class Mixed final : public TraceGenerator {
 public:
  explicit Mixed(const Settings& settings) : params_(parse<MixedParams>(settings)) {}

  std::vector<Job> generate(const GenerateOptions& options) const override {
    return generate_mixed(params_, options);
  }

  std::string parameters_hash() const override { return mixed_hash(params_); }

 private:
  MixedParams params_;
};

const Registry<TraceGenerator>::Add<Mixed> kAdd{
    "mixed",
    {.help = "jobs of 24 user classes, with speeds that depend on placement and GPU type, for "
             "cluster mixed-9",
     .fields = describe<MixedParams>}};

}  // namespace

std::string mixed_hash(const MixedParams& params) {
  return hash_of_parameters(kRevision, record(params));
}

std::vector<Job> generate_mixed(const MixedParams& params, const GenerateOptions& options) {
  MixedParams p = params;
  if (options.jobs != 0) p.jobs = options.jobs;
  if (options.cluster_gpus != 0) p.cluster_gpus = options.cluster_gpus;
  if (p.jobs < 1 || p.cluster_gpus < 1) {
    throw InputError("synthetic:mixed", "at least one job and one GPU",
                     std::to_string(p.jobs) + " jobs, " + std::to_string(p.cluster_gpus) + " GPUs");
  }
  std::vector<double> shares = {p.share_1, p.share_2, p.share_4, p.share_8, p.share_16};
  for (size_t i = 0; i < kSizes.size(); ++i) {
    if (kSizes[i] > p.cluster_gpus) shares[i] = 0;
  }
  if (std::accumulate(shares.begin(), shares.end(), 0.0) <= 0) {
    throw InputError("synthetic:mixed",
                     "a positive share (share_1 to share_16) of a size that fits the cluster",
                     "none");
  }
  if (p.shortest_s > p.longest_s) {
    throw InputError("synthetic:mixed",
                     "shortest_s of at most longest_s (" + shortest(p.longest_s) + ")",
                     shortest(p.shortest_s));
  }

  // Draws the size before the user class, so that the shares of sizes are exactly as set.
  const Rng seed(options.seed);
  std::vector<Job> jobs(static_cast<size_t>(p.jobs));
  double work_gpu_s = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Rng rng = seed.split(kJobStream).split(j);
    Job& job = jobs[j];
    job.gpus = kSizes[draw_by_weight(shares, rng)];
    std::vector<double> whose;
    for (const UserClass& c : kClasses) {
      whose.push_back(c.favourite_gpus == job.gpus ? p.favourite : 1);
    }
    const size_t class_index = draw_by_weight(whose, rng);
    const UserClass& user = kClasses[class_index];
    job.user = "class" + std::to_string(class_index + 1);
    job.model = rng.uniform() < p.first_model_share ? user.model : user.other_model;
    const double drawn_s = user.median_s * std::exp(user.log_sd * rng.normal());
    const double run_s = std::round(std::clamp(drawn_s, p.shortest_s, p.longest_s));
    job.run_us = static_cast<int64_t>(run_s) * 1'000'000;
    work_gpu_s += run_s * job.gpus;
  }

  // Spreads arrivals uniformly over the time in which the cluster offers work / load.
  const double span_s = work_gpu_s / (p.load * p.cluster_gpus);
  spread_arrivals(jobs, span_s, seed.split(kArrivalStream));
  return jobs;
}

}  // namespace yard
