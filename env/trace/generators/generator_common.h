// Tools shared by workload generators. Each generator has a struct of parameters with the members
// `jobs`, `cluster_gpus`, fields() and `kRevision`. kRevision must change whenever unchanged
// parameters and an unchanged seed generate different jobs. A function generate_NAME(params,
// options) returns jobs sorted by submission, with run times in whole seconds. The options `jobs`
// and `cluster_gpus`, if set, replace the parameters of these names.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/trace/core/job.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

// Draws an index in proportion to its weight, never one of weight 0. Requires: a positive sum.
size_t draw_by_weight(std::span<const double> weights, Rng& rng);

// Draws indices in proportion to weights, faster than draw_by_weight() if it draws many.
class WeightedSampler {
 public:
  WeightedSampler() = default;
  explicit WeightedSampler(std::span<const double> weights) {
    for (const double weight : weights) add(weight);
  }
  void add(double weight) { sums_.push_back(weight + (sums_.empty() ? 0 : sums_.back())); }
  bool any() const { return !sums_.empty() && sums_.back() > 0; }
  size_t operator()(Rng& rng) const;  // Requires: any()

 private:
  std::vector<double> sums_;
};

// Sorts the jobs by submission and gives them the ids 0, 1, 2, ...
void sort_and_number(std::vector<Job>& jobs);

// Draws arrivals uniformly over `span_s` seconds, in whole seconds, and sorts and numbers the jobs.
// The load of a cluster is L if the span is the jobs' GPU time / (L x GPUs of the cluster).
void draw_uniform_arrivals(std::vector<Job>& jobs, double span_s, Rng rng);

// The numbers of GPUs that jobs ask for, whose shares are the parameters share_1 to share_16.
inline constexpr std::array<int32_t, 5> kGpuCounts = {1, 2, 4, 8, 16};

// Sets the shares of jobs with more than `cluster_gpus` GPUs to 0. Throws InputError naming `where`
// if no share is left, or if shortest_s is above longest_s.
std::vector<double> shares_of_fitting_sizes(std::vector<double> shares, int cluster_gpus,
                                            double shortest_s, double longest_s,
                                            const std::string& where);

// Returns the parameters with the numbers of jobs and GPUs from `options`, if set. Throws
// InputError naming `where` if there are no jobs, or fewer GPUs than `least_gpus`.
template <class Params>
Params with_options(Params params, const GenerateOptions& options, const std::string& where,
                    int least_gpus, const std::string& expected) {
  if (options.jobs != 0) params.jobs = options.jobs;
  if (options.cluster_gpus != 0) params.cluster_gpus = options.cluster_gpus;
  if (params.jobs >= 1 && params.cluster_gpus >= least_gpus) return params;
  throw InputError(
      where, expected,
      std::to_string(params.jobs) + " jobs, " + std::to_string(params.cluster_gpus) + " GPUs");
}

// Returns a SHA-256 of the revision and of one line `name=value` per parameter. Every score
// contains the hash, so that scores on different workloads are never compared.
std::string hash_of_lines(const std::string& revision,
                          const std::vector<std::pair<std::string, std::string>>& parameters);
template <class Params>
std::string hash_of_parameters(const Params& params) {
  return hash_of_lines(Params::kRevision, keys_and_values(params));
}

// The workload generator that calls the function generate_jobs(params, options).
template <class Params, auto generate_jobs>
class FunctionTraceGenerator final : public TraceGenerator {
 public:
  explicit FunctionTraceGenerator(const Settings& settings) : params_(parse<Params>(settings)) {}

  std::vector<Job> generate(const GenerateOptions& options) const override {
    return generate_jobs(params_, options);
  }
  std::string parameters_hash() const override { return hash_of_parameters(params_); }

 private:
  Params params_;
};

}  // namespace yard
