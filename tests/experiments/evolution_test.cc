// SNES finds known optima. evolve() learns settings, resumes, and refuses wrong input.
#include "experiments/search/evolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "env/base/core/error.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

using Points = std::vector<std::vector<double>>;

double bowl(const std::vector<double>& x, const std::vector<double>& at) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += std::pow(10.0, static_cast<double>(i) / 4) * (x[i] - at[i]) * (x[i] - at[i]);
  }
  return sum;
}

// Returns the minimum of f found from the centre `mu`.
std::vector<double> search(std::vector<double> mu, int candidates, int generations, uint64_t seed,
                           const std::function<double(int, const std::vector<double>&)>& f) {
  SeparableNaturalEvolution snes{mu, std::vector<double>(mu.size(), 0.1), 0};
  for (int g = 1; g <= generations; ++g) {
    snes.step(candidates, seed, [&](const Points& points) {
      std::vector<double> out;
      for (const auto& x : points) out.push_back(f(g, x));
      return out;
    });
  }
  return snes.mu;
}

TEST(SeparableNaturalEvolution, FindsThePlantedOptimum) {
  const std::vector<double> planted = {0.7, 0.2, 0.55, 0.4, 0.9, 0.3, 0.6, 0.5};
  const auto found = search(std::vector<double>(planted.size(), 0.5), 16, 200, 1,
                            [&](int, const auto& x) { return bowl(x, planted); });
  for (size_t i = 0; i < planted.size(); ++i) EXPECT_NEAR(found[i], planted[i], 1e-3) << i;
}

// Noise shared by a generation, as by shared episodes, has no effect: only ranks count.
TEST(SeparableNaturalEvolution, CommonNoiseChangesNothing) {
  const auto with = [](double noise) {
    return search({0.5, 0.5, 0.5}, 12, 40, 3, [&](int generation, const auto& x) {
      return bowl(x, {0.7, 0.2, 0.5}) + noise * generation;
    });
  };
  EXPECT_EQ(with(0), with(1024));
}

TEST(SeparableNaturalEvolution, DependsOnTheSeed) {
  const auto by = [](uint64_t seed) {
    return search({0.5, 0.5}, 8, 10, seed, [](int, const auto& x) { return bowl(x, {0.1, 0.9}); });
  };
  EXPECT_EQ(by(1), by(1));
  EXPECT_NE(by(1), by(2));
}

std::vector<Scenario> episodes(int count, uint64_t seed) {
  std::vector<Scenario> out;
  for (int i = 0; i < count; ++i) {
    ScenarioOptions options;
    options.trace = "synthetic:habits";
    options.cluster = "4x8";
    options.seed = seed + static_cast<uint64_t>(i);
    options.generate_jobs = 200;
    out.push_back(load_scenario(options));
  }
  return out;
}

TEST(Evolve, ImprovesOnTheStartAndKeepsWhatGeneralises) {
  const auto train = episodes(6, 100), validation = episodes(4, 200), fresh = episodes(4, 300);
  EvolutionOptions options;
  options.generations = 12;
  options.candidates = 8;
  options.episodes = 4;
  options.step = 0.1;
  // Candidates whose second limit is below the first are refused and rank last.
  const EvolutionResult evolved = evolve(train, validation, "las", {}, options);
  RunOptions learned;
  for (const auto& [key, value] : evolved.settings) learned.policy.set(key, value, "test");
  const auto log_ratio_on = [&](const std::vector<Scenario>& scenarios) {
    double sum = 0;
    for (const Scenario& one : scenarios) {
      sum += std::log(run_policy(one, "las", learned).summary.all.mean_jct_s /
                      run_policy(one, "las", {}).summary.all.mean_jct_s);
    }
    return sum / 4;
  };
  EXPECT_NEAR(std::exp(log_ratio_on(validation)), evolved.ratio, 1e-9);  // as reported
  EXPECT_LT(evolved.ratio, 0.95);
  EXPECT_LT(std::exp(log_ratio_on(fresh)), 0.97);
  // 12 generations of 8 candidates on 4 episodes; the start on all 6 + 4; 3 validations on 4.
  EXPECT_EQ(evolved.played, 12 * 8 * 4 + 6 + 4 + 3 * 4);
}

// The state kept after any generation is enough to resume.
TEST(Evolve, ResumesIdentically) {
  const auto train = episodes(4, 100), validation = episodes(2, 200);
  EvolutionOptions options;
  options.generations = 4;
  options.candidates = 4;
  options.episodes = 2;
  options.validate_every = 2;
  options.tails = 0.5;
  std::vector<std::string> kept;
  const auto keep = [&](const EvolutionState& state) { kept.push_back(to_json(state)); };
  const EvolutionResult whole = evolve(train, validation, "las", {}, options, {}, {}, keep);
  ASSERT_EQ(kept.size(), 4u);
  for (size_t g = 0; g < 4; ++g) {
    std::string last;
    const EvolutionResult rest =
        evolve(train, validation, "las", {}, options, {}, parse_evolution_state(kept[g], "kept"),
               [&](const EvolutionState& state) { last = to_json(state); });
    EXPECT_EQ(rest.settings, whole.settings) << g;
    EXPECT_EQ(rest.played, whole.played) << g;
    if (g < 3) {
      EXPECT_EQ(last, kept.back()) << g;
    }
  }
  EXPECT_THROW(parse_evolution_state("{}", "kept"), InputError);
  EXPECT_THROW(
      evolve(validation, train, "las", {}, options, {}, parse_evolution_state(kept[0], "kept")),
      InputError);
}

// In some episodes, the same for all candidates, a verb is off. A policy which never preempts gains
// nothing by better preemption settings.
TEST(Evolve, DroppedVerbsAreDisabled) {
  const auto some = episodes(2, 100);
  EvolutionOptions options;
  options.generations = 3;
  options.candidates = 4;
  options.validate_every = 1;
  options.learn = {"margin_log2", "settle_s"};  // of preemption and moves
  options.drop = {"preempt", "move"};
  options.drop_share = 1;
  EXPECT_EQ(evolve(some, some, "joint", {}, options).ratio, 1);
  options.drop_share = 0;
  EXPECT_LT(evolve(some, some, "joint", {}, options).ratio, 1);
}

TEST(Evolve, StartsFromTheGivenValues) {
  const auto one = episodes(1, 1);
  EvolutionOptions options;
  options.generations = 1;
  options.candidates = 2;
  options.step = 1e-9;
  Settings start;
  start.set("gpu_exponent", "0.25", "test");
  const EvolutionResult found = evolve(one, one, "las", {}, options, start);
  for (const auto& [key, value] : found.settings) {
    if (key == "gpu_exponent") {
      EXPECT_EQ(value, "0.25");
    }
  }
}

TEST(Evolve, RejectsUnknownParameters) {
  const auto one = episodes(1, 1);
  EvolutionOptions options;
  options.learn = {"gpu_exponent", "luck"};
  EXPECT_THROW(evolve(one, one, "joint", {}, options), InputError);
}

}  // namespace
}  // namespace yard
