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
#include <string>
#include <utility>
#include <vector>

#include "experiments/replay.h"
#include "experiments/scenario.h"

namespace yard {

// The strategy between two generations.
struct Snes {
  std::vector<double> mu, sigma;  // (D)
  int generation = 0;             // that have been

  // One more. f scores the points of a generation together, the least being the best.
  using Score = std::function<std::vector<double>(const std::vector<std::vector<double>>& points)>;
  void step(int candidates, uint64_t seed, const Score& f);
};

struct EvolutionOptions {
  int generations = 40;
  int candidates = 16;             // a generation; even
  int episodes = 8;                // that all candidates of a generation meet, drawn from all
  int validate_every = 5;          // generations
  double step = 0.05;              // sigma at the start, of each number's range
  std::vector<std::string> learn;  // numbers by name; empty: all that are not given
  std::vector<std::string> drop;   // yes-or-no settings that are off in some episodes, by lot
  double drop_share = 0.25;        // in how many of them, each on its own
  // Weight of what the tail (p99) and the jobs of most GPUs lose: a candidate is scored by means
  // over its episodes,
  //   ln(mean ratio) + tails (max(0, ln(p99 ratio)) + max(0, ln(largest jobs' mean ratio)))
  double tails = 0;
  uint64_t seed = 1;
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct Evolved {
  std::vector<std::pair<std::string, std::string>> settings;  // what was learned
  double ratio = 1;    // its score on validation episodes, as a ratio to the start's
  int generation = 0;  // that gave it; 0: the start
  int64_t played = 0;  // episodes
};

// What an episode came to.
struct EpisodeScore {
  double mean_jct_s = 0, p99_jct_s = 0;
  double largest_jct_s = 0;  // mean over the tenth of jobs with most GPUs, and all of their size
  // What it took: jobs in the system, integrated over time, and decisions. A candidate that takes
  // many times what the start took is given up.
  double job_time_s = 0, decisions = 0;
};

// All that a search needs to go on.
struct EvolutionState {
  Snes snes;
  Evolved best;
  std::vector<EpisodeScore> start, start_on_validation;  // (E) the start's
};
std::string to_json(const EvolutionState& state);
// Throws InputError where it is not one.
EvolutionState evolution_state(const std::string& json, const std::string& where);

// Learns from `episodes`, keeps what is best on `validation`. `start`: numbers to begin with
// instead of the policy's own. `state`: empty (no generation, no mu) or an earlier search's, under
// the same options but for `generations`. `keep` is called after every generation. Throws
// InputError for a number that the policy does not declare; Interrupted. Requires: both have
// episodes.
Evolved evolve(const std::vector<Scenario>& episodes, const std::vector<Scenario>& validation,
               const std::string& policy, const RunOptions& run, const EvolutionOptions& options,
               const Settings& start = {}, EvolutionState state = {},
               const std::function<void(const EvolutionState&)>& keep = {});

}  // namespace yard
