// An evolution strategy: weights of a policy learned from many short episodes, each generation
// other ones. Separable natural evolution (Schaul, Glasmachers, Schmidhuber, "High dimensions and
// heavy tails for natural evolution strategies", GECCO 2011, algorithm SNES):
//   z_k ~ N(0, I), in mirrored pairs;  x_k = mu + sigma z_k;  u_k by the rank of f(x_k)
//   mu    <- mu + sigma sum_k u_k z_k
//   sigma <- sigma exp(eta / 2 sum_k u_k (z_k^2 - 1))
// Dims: D numbers, K candidates of a generation, E episodes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiments/replay.h"
#include "experiments/scenario.h"

namespace yard {

struct EvolutionOptions {
  int generations = 40;
  int candidates = 16;             // a generation; even
  int episodes = 8;                // that all candidates of a generation meet, drawn from all
  int validate_every = 5;          // generations
  double step = 0.05;              // sigma at the start, of each number's range
  std::vector<std::string> learn;  // numbers by name; empty: all that are not given
  uint64_t seed = 1;
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct Evolved {
  std::vector<std::pair<std::string, std::string>> settings;  // what was learned
  double ratio = 1;    // of mean JCTs to the start's, geometric mean over validation episodes
  int generation = 0;  // that gave it; 0: the start
  int64_t played = 0;  // episodes
};

// Learns from `episodes`, keeps what is best on `validation`. Throws InputError for a number that
// the policy does not declare; Interrupted. Requires: both have episodes.
Evolved evolve(const std::vector<Scenario>& episodes, const std::vector<Scenario>& validation,
               const std::string& policy, const RunOptions& run, const EvolutionOptions& options);

// The least of f by the strategy alone, for tests: f scores the points of a generation together.
std::vector<double> snes(std::vector<double> mu, double step, int candidates, int generations,
                         uint64_t seed,
                         const std::function<std::vector<double>(
                             int generation, const std::vector<std::vector<double>>& points)>& f,
                         const std::function<void(int generation, std::span<const double> mu)>& at);

}  // namespace yard
