// What generators of workloads share: lots by weight, arrivals at random, and a hash of what
// decides what they make.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/base/rng.h"
#include "env/trace/job.h"

namespace yard {

// An index by weights; none of a weight of 0. Requires: a positive sum.
size_t draw_by_weight(std::span<const double> weights, Rng& rng);

// Submits the jobs at random over `span_s` seconds, whole ones, and names them in that order.
void spread_arrivals(std::vector<Job>& jobs, double span_s, Rng rng);

// `revision`: to be raised with every change of what the same parameters and seed generate.
std::string hash_of_parameters(const std::string& revision,
                               const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace yard
