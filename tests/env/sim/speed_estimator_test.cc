// Speeds shown to policies at levels below `told`: errors of the right size which follow from the
// seed, a prior without models, and the observed rates of running jobs.
#include "env/sim/rulesets/speed_estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "env/base/core/error.h"
#include "tests/support/exchange_scene.h"
#include "tests/support/random_speeds.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

constexpr int32_t kKinds = 2, kTypes = 2, kGpus = 4;

// Two models on two types. The reference of a class is one GPU of the first type; that of the last
// class is four GPUs of a faster type which the cluster lacks.
struct Tables : InventedTables {
  Tables() {
    num_kinds = kKinds;
    num_types = kTypes;
    max_gpus = kGpus;
    for (int32_t kind = 0; kind < kKinds; ++kind) {
      for (int32_t type = 0; type < kTypes; ++type) {
        for (int32_t n = 0; n <= kGpus; ++n) {
          for (int32_t span = 0; span < kSpans; ++span) {
            const bool fits = kind == 0 || type == 0;
            const double spread = span < 2 ? 1 : 0.5;
            const double speed = (10 + 5 * kind) * n * (1 - 0.1 * n) * spread / (1 + 2 * type);
            steps_per_s.push_back(fits ? speed : 0);
          }
        }
      }
    }
    exchange_share.assign(steps_per_s.size(), 0.25);
    class_kind = {-1, 0, 1, 0};
    class_reference = {1, steps_per_s[at(0, 0, 1)], steps_per_s[at(1, 0, 1)],
                       1.25 * steps_per_s[at(0, 0, 4)]};
    type_speed = {1, 0.5};
    gradient_bytes = {1e6, 1e6};
    pair_rate = {0.5, 0.8, 0.9, 0, 0.5, 0.8, 0.9, 0};  // (type, one, other)
    counts_worker_steps = server_exchange = {0, 0};
  }
  static size_t at(int32_t kind, int32_t type, int32_t gpus, int32_t span = 0) {
    return static_cast<size_t>(((kind * kTypes + type) * (kGpus + 1) + gpus) * kSpans + span);
  }
};

ClusterSpec two_types(double neighbours = 0) {
  ClusterSpec cluster = load_cluster("1x4:v100+1x4:k80");
  cluster.slowdowns.neighbours = neighbours;
  return cluster;
}

double shown_speed(const SpeedEstimator& speeds, int32_t job_class, int32_t type, int32_t gpus,
                   Tier tier = Tier::kIsland, int32_t nodes = 1) {
  return speed_of(speeds.estimates_for_views()->table, job_class, type, gpus, tier, nodes);
}

TEST(SpeedLevels, HaveNames) {
  for (const SpeedInformation level :
       {SpeedInformation::kExact, SpeedInformation::kNoisy, SpeedInformation::kLearned}) {
    EXPECT_EQ(parse_speed_information(speed_information_name(level), "--speeds"), level);
  }
  try {
    parse_speed_information("guessed", "--speeds");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "--speeds: expected one of: exact, noisy, learned, got 'guessed'");
  }
}

TEST(ExactSpeeds, AreTheTables) {
  const Tables tables;
  Scene scene(two_types(), jobs_of({{0, 1, 100}}), no_costs());
  scene.set_speeds(tables.columns(), {1});
  EXPECT_EQ(SpeedEstimator(scene.fixed(), SpeedInformation::kExact, 0.25, 1).estimates_for_views(),
            nullptr);
}

TEST(NoisySpeeds, HaveTheGivenErrorAndFollowTheSeed) {
  const Tables tables;
  Scene scene(two_types(), jobs_of({{0, 1, 100}}), no_costs());
  scene.set_speeds(tables.columns(), {1});
  const auto drawn = [&](uint64_t seed) {
    const SpeedEstimator noisy(scene.fixed(), SpeedInformation::kNoisy, 0.25, seed);
    const SpeedColumns& shown = noisy.estimates_for_views()->table;
    // A model, a type, consolidated and spread; a pair.
    return std::array{
        std::log(shown.steps_per_s[Tables::at(0, 0, 1)] / tables.steps_per_s[Tables::at(0, 0, 1)]),
        std::log(shown.steps_per_s[Tables::at(0, 1, 2)] / tables.steps_per_s[Tables::at(0, 1, 2)]),
        std::log(shown.steps_per_s[Tables::at(1, 0, 4, 2)] /
                 tables.steps_per_s[Tables::at(1, 0, 4, 2)]),
        std::log(shown.pair_rate[0] / tables.pair_rate[0])};
  };
  EXPECT_EQ(drawn(7), drawn(7));
  constexpr int kSeeds = 2000;
  std::array<double, 4> sum{}, squares{};
  double together = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto errors = drawn(static_cast<uint64_t>(seed));
    for (size_t i = 0; i < errors.size(); ++i) {
      sum[i] += errors[i] / kSeeds;
      squares[i] += errors[i] * errors[i] / kSeeds;
    }
    together += errors[0] * errors[1] / kSeeds;
  }
  for (size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(sum[i], 0, 0.025) << i;
    EXPECT_NEAR(std::sqrt(squares[i]), 0.25, 0.0125) << i;
  }
  EXPECT_NEAR(together, 0, 0.01) << "types have independent errors";
}

TEST(NoisySpeeds, KeepMissingSpeeds) {
  const Tables tables;
  Scene scene(two_types(), jobs_of({{0, 1, 100}}), no_costs());
  scene.set_speeds(tables.columns(), {1});
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const SpeedEstimator noisy(scene.fixed(), SpeedInformation::kNoisy, 0.25, seed);
    EXPECT_EQ(shown_speed(noisy, 2, 1, 1), 0) << "it does not fit";
    EXPECT_EQ(shown_speed(noisy, 0, 1, 1), 0.5) << "of no known model";
    EXPECT_EQ(noisy.estimates_for_views()->table.pair_rate[3], 0) << "they do not fit together";
    for (int i = 0; i < 8; ++i) EXPECT_LE(noisy.estimates_for_views()->table.pair_rate[i], 1);
    // All numbers of GPUs have the same error: a scaling curve keeps its shape.
    EXPECT_NEAR(shown_speed(noisy, 1, 0, 4) / shown_speed(noisy, 1, 0, 1), 4 * 0.6 / 0.9, 1e-12);
  }
}

// Each all-reduce of a job has its own error.
TEST(NoisySpeeds, HaveSeparateErrorsForEachAllReduce) {
  std::vector<Job> jobs = jobs_of({{0, 4, 1000}});
  jobs[0].model = "large";
  const ExchangeScene scene(two_racks(), jobs);
  const std::array all = {Pattern::kRing, Pattern::kTree, Pattern::kHierarchical};
  const auto speeds_by = [&](const SpeedColumns& table) {
    std::array<double, 3> out;
    for (size_t i = 0; i < all.size(); ++i) {
      out[i] = speed_of(table, scene.first_class(), 0, 4, Tier::kRack, 2, 0, all[i]);
    }
    return out;
  };
  const auto truth = speeds_by(scene.fixed().speed);
  const auto best = [](const auto& speeds) {
    return std::ranges::max_element(speeds) - &speeds[0];
  };
  constexpr int kSeeds = 1000;
  double squares = 0, together = 0;
  int others_seem_best = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const SpeedEstimator noisy(scene.fixed(), SpeedInformation::kNoisy, 0.25,
                               static_cast<uint64_t>(seed));
    const auto shown = speeds_by(noisy.estimates_for_views()->table);
    others_seem_best += best(shown) != best(truth);
    const double ring = std::log(shown[0] / truth[0]), tree = std::log(shown[1] / truth[1]);
    squares += ring * ring / kSeeds;
    together += ring * tree / kSeeds;
  }
  EXPECT_NEAR(std::sqrt(squares), 0.25, 0.02);
  EXPECT_NEAR(together, 0, 0.01);
  EXPECT_GT(others_seem_best, kSeeds / 20);
}

TEST(LearnedSpeeds, StartAtTheSpeedOfTheType) {
  const Tables tables;
  Scene scene(two_types(0.5), jobs_of({{0, 1, 100}, {0, 2, 100}}), no_costs());
  scene.set_speeds(tables.columns(), {1, 2});
  const SpeedEstimator learned(scene.fixed(), SpeedInformation::kLearned, 0.25, 1);
  EXPECT_DOUBLE_EQ(shown_speed(learned, 1, 0, 1), 1);
  EXPECT_DOUBLE_EQ(shown_speed(learned, 1, 1, 1), 0.5);
  EXPECT_DOUBLE_EQ(shown_speed(learned, 1, 0, 4), 4) << "twice the GPUs, twice the work";
  EXPECT_DOUBLE_EQ(shown_speed(learned, 2, 0, 2, Tier::kRack, 2), 1) << "no loss from spreading";
  EXPECT_EQ(shown_speed(learned, 2, 1, 1), 0) << "that it does not fit is known";
  const SpeedColumns& shown = learned.estimates_for_views()->table;
  EXPECT_EQ(shown.pair_rate[1], 1) << "no loss to neighbours";
  EXPECT_EQ(shown.exchange_share[Tables::at(0, 0, 2)], 0);
  EXPECT_EQ(shown.gradient_bytes[0], 0);
}

// Plays fifo and shows the estimates after each event.
template <class OnEvent>
void play(const Scene& scene, const OnEvent& on_event) {
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  SpeedEstimator learned(scene.fixed(), SpeedInformation::kLearned, 0.25, 1);
  for (int event = 0; runner.advance(); ++event) {
    learned.learn_from_progress(runner.state());
    on_event(event, learned);
    if (!runner.decide()) break;
    learned.record_placements(runner.state());
  }
}

TEST(LearnedSpeeds, ComeOnlyFromRunningJobs) {
  const Tables tables;
  // The first job takes all of the first node, the second is placed on the other; the third arrives
  // later.
  Scene scene(two_types(), jobs_of({{0, 4, 1000}, {0, 1, 1000}, {50, 1, 10}}), no_costs());
  scene.set_speeds(tables.columns(), {3, 1, 2});
  std::vector<double> first, other;
  play(scene, [&](int, const SpeedEstimator& learned) {
    first.push_back(shown_speed(learned, 3, 0, 4));
    other.push_back(shown_speed(learned, 2, 0, 1));
  });
  ASSERT_GE(first.size(), 3u);
  EXPECT_NEAR(first[0], 1, 1e-12) << "the requested size, while nothing is known";
  const double truth = tables.steps_per_s[Tables::at(0, 0, 4)] / tables.class_reference[3];
  EXPECT_NEAR(first[1], truth, 1e-6);
  EXPECT_NEAR(first.back(), truth, 1e-6);
  EXPECT_EQ(other[0], other[1]) << "no job of the model ran before";
}

TEST(LearnedSpeeds, SeparateInterferenceFromTheModelsSpeed) {
  const Tables tables;
  // A job of the first model alone, then one of the second model on the same node.
  ClusterSpec cluster = two_types(0.5);
  Scene scene(cluster, jobs_of({{0, 1, 1000}, {100, 2, 400}, {150, 1, 10}, {300, 1, 10}}),
              no_costs());
  scene.set_speeds(tables.columns(), {1, 2, 0, 0});
  double alone = 0, pair = 0;
  play(scene, [&](int, const SpeedEstimator& learned) {
    alone = shown_speed(learned, 1, 0, 1);
    pair = learned.estimates_for_views()->table.pair_rate[1];
  });
  EXPECT_NEAR(alone, 1, 1e-9);
  EXPECT_LT(pair, 1);
  EXPECT_GE(pair, tables.pair_rate[1] - 1e-9);
}

}  // namespace
}  // namespace yard::testing
