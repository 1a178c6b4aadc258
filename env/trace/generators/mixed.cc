#include "env/trace/generators/mixed.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/config/registry.h"

namespace yard {
namespace {

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

const Registry<TraceGenerator>::Add<FunctionTraceGenerator<MixedJobsParams, generate_mixed_jobs>>
    kAdd{"mixed",
         {.help = "jobs of 24 user classes, with speeds that depend on placement and GPU type, for "
                  "cluster mixed-9",
          .fields = describe<MixedJobsParams>}};

}  // namespace

std::vector<Job> generate_mixed_jobs(const MixedJobsParams& params,
                                     const GenerateOptions& options) {
  const MixedJobsParams p =
      with_options(params, options, "synthetic:mixed", 1, "at least one job and one GPU");
  const std::vector<double> shares =
      shares_of_fitting_sizes({p.share_1, p.share_2, p.share_4, p.share_8, p.share_16},
                              p.cluster_gpus, p.shortest_s, p.longest_s, "synthetic:mixed");

  // Draws the size before the user class, so that the shares of sizes are exactly as set.
  const Rng seed(options.seed);
  std::vector<Job> jobs(static_cast<size_t>(p.jobs));
  double work_gpu_s = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Rng rng = seed.split(kJobStream).split(j);
    Job& job = jobs[j];
    job.gpus = kGpuCounts[draw_by_weight(shares, rng)];
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

  draw_uniform_arrivals(jobs, work_gpu_s / (p.load * p.cluster_gpus), seed.split(kArrivalStream));
  return jobs;
}

}  // namespace yard
