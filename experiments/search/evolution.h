// Learns a policy's numeric settings from many short episodes, which change with each generation.
// The method is separable natural evolution (Schaul, Glasmachers, Schmidhuber, "High dimensions and
// heavy tails for natural evolution strategies", GECCO 2011, algorithm SNES):
//   z_k ~ N(0, I), in mirrored pairs;  x_k = mu + sigma z_k;  u_k by the rank of f(x_k)
//   mu    <- mu + sigma sum_k u_k z_k
//   sigma <- sigma exp(eta / 2 sum_k u_k (z_k^2 - 1))
// Dims: D numbers, K candidates per generation, E episodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/replay/replay.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// The state of the strategy between generations.
struct SeparableNaturalEvolution {
  std::vector<double> mu, sigma;  // (D)
  int generation = 0;             // completed generations

  // Runs one generation. `f` returns the score of each point; lower is better.
  using Score = std::function<std::vector<double>(const std::vector<std::vector<double>>& points)>;
  void step(int candidates, uint64_t seed, const Score& f);
};

struct EvolutionOptions {
  int generations = 40;
  int candidates = 16;     // population size per generation; even
  int episodes = 8;        // episodes per generation, the same for all candidates
  int validate_every = 5;  // generations
  double step = 0.05;      // initial sigma, as a share of each number's range
  std::vector<std::string>
      learn;  // names of the settings to learn; empty: all numbers without a given value
  std::vector<std::string> drop;  // boolean settings turned off at random in some episodes
  double drop_share = 0.25;       // chance that an episode turns each of these settings off
  // Weight of losses in the tail (p99) and of the largest jobs in a candidate's score:
  //   ln(mean ratio) + tails (max(0, ln(p99 ratio)) + max(0, ln(largest jobs' mean ratio)))
  double tails = 0;
  uint64_t seed = 1;
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct EvolutionResult {
  std::vector<std::pair<std::string, std::string>> settings;  // the learned numbers
  double ratio = 1;    // validation score as a ratio to the start's
  int generation = 0;  // generation in which the result was found; 0: it is the start
  int64_t played = 0;  // episodes
};

// Score of one episode.
struct EpisodeScore {
  double mean_jct_s = 0, p99_jct_s = 0;
  double largest_jct_s =
      0;  // mean JCT of the tenth of jobs with most GPUs, rounded to whole job sizes
  // Cost of the replay: job-seconds in the system, and decisions. An episode which costs many times
  // more than under the initial settings is aborted.
  double job_time_s = 0, decisions = 0;
};

// All state needed to resume a search.
struct EvolutionState {
  SeparableNaturalEvolution snes;
  EvolutionResult best;
  std::vector<EpisodeScore> start, start_on_validation;  // (E)  scores of the initial settings
};
std::string to_json(const EvolutionState& state);
// Throws InputError, naming `where`, if `json` is not such a state.
EvolutionState parse_evolution_state(const std::string& json, const std::string& where);

// Learns from `episodes` and keeps the best numbers on `validation`. `start`: initial numbers in
// place of the policy's defaults. `state`: empty, or from an earlier search with the same options
// except `generations`. Calls `keep` after every generation. Throws InputError for a number which
// the policy does not declare, and Interrupted on SIGINT or SIGTERM. Requires: both lists have
// episodes.
EvolutionResult evolve(const std::vector<Scenario>& episodes,
                       const std::vector<Scenario>& validation, const std::string& policy,
                       const RunOptions& run, const EvolutionOptions& options,
                       const Settings& start = {}, EvolutionState state = {},
                       const std::function<void(const EvolutionState&)>& keep = {});

}  // namespace yard
