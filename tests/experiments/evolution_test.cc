#include "experiments/search/evolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "env/base/error.h"

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

TEST(Snes, FindsThePlantedOptimum) {
  const std::vector<double> planted = {0.7, 0.2, 0.55, 0.4, 0.9, 0.3, 0.6, 0.5};
  const auto f = [&](int, const Points& points) {
    std::vector<double> out;
    for (const auto& x : points) out.push_back(bowl(x, planted));
    return out;
  };
  const std::vector<double> found =
      snes(std::vector<double>(planted.size(), 0.5), 0.1, 16, 200, 1, f, [](int, auto) {});
  for (size_t i = 0; i < planted.size(); ++i) EXPECT_NEAR(found[i], planted[i], 1e-3) << i;
}

// Noise that all candidates of a generation share, as they share their episodes, does not matter at
// all: only ranks count.
TEST(Snes, CommonNoiseChangesNothing) {
  const std::vector<double> planted = {0.7, 0.2, 0.5};
  const auto search = [&](double noise) {
    return snes(
        {0.5, 0.5, 0.5}, 0.1, 12, 40, 3,
        [&](int generation, const Points& points) {
          std::vector<double> out;
          for (const auto& x : points) out.push_back(bowl(x, planted) + noise * generation);
          return out;
        },
        [](int, auto) {});
  };
  EXPECT_EQ(search(0), search(1024));
}

TEST(Snes, IsTheSameForTheSameSeedAndOtherForAnother) {
  const auto search = [](uint64_t seed) {
    return snes(
        {0.5, 0.5}, 0.1, 8, 10, seed,
        [](int, const Points& points) {
          std::vector<double> out;
          for (const auto& x : points) out.push_back(bowl(x, {0.1, 0.9}));
          return out;
        },
        [](int, auto) {});
  };
  EXPECT_EQ(search(1), search(1));
  EXPECT_NE(search(1), search(2));
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

TEST(Evolve, LearnsWhatItsStartLacksAndKeepsWhatHoldsElsewhere) {
  const auto train = episodes(6, 100), validation = episodes(4, 200), fresh = episodes(4, 300);
  EvolutionOptions options;
  options.generations = 12;
  options.candidates = 8;
  options.episodes = 4;
  options.step = 0.1;
  // Candidates whose second limit is below the first are refused, and are only the worst.
  const Evolved evolved = evolve(train, validation, "las", {}, options);
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
  EXPECT_NEAR(std::exp(log_ratio_on(validation)), evolved.ratio, 1e-9);  // it says what it does
  EXPECT_LT(evolved.ratio, 0.95);
  EXPECT_LT(std::exp(log_ratio_on(fresh)), 0.97);
  // All candidates of 12 generations met 4 episodes; the start met all, validation came thrice.
  EXPECT_EQ(evolved.played, 12 * 8 * 4 + 6 + 4 + 3 * 4);
}

TEST(Evolve, RefusesANumberThatIsNotThere) {
  const auto one = episodes(1, 1);
  EvolutionOptions options;
  options.learn = {"gpu_exponent", "luck"};
  EXPECT_THROW(evolve(one, one, "joint", {}, options), InputError);
}

}  // namespace
}  // namespace yard
