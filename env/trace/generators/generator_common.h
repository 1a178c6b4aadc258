// Tools shared by workload generators: weighted draws, random arrivals and a hash of parameters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/base/core/rng.h"
#include "env/trace/core/job.h"

namespace yard {

// Draws an index in proportion to its weight, never one of weight 0. Requires: a positive sum.
size_t draw_by_weight(std::span<const double> weights, Rng& rng);

// Draws arrivals uniformly over `span_s` seconds, in whole seconds. Sorts the jobs and numbers
// them.
void spread_arrivals(std::vector<Job>& jobs, double span_s, Rng rng);

// Returns a SHA-256. Change `revision` when the same parameters and seed generate other jobs.
std::string hash_of_parameters(const std::string& revision,
                               const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace yard
