// Equation 7 of MLFS in its units. The defaults give the reward without units. With measured units,
// a difference as large as that between heuristics has the weight of the paper.
#include "env/task/mlfs_goals.h"

#include <gtest/gtest.h>

namespace yard::testing {
namespace {

TEST(MlfsRewardConfig, WithoutUnitsAreWeightedSums) {
  const MlfsRewardConfig shipped;
  const MlfsRewardSums sums{7200, 3, 2.5e12, 2, 1.75};
  EXPECT_EQ(shipped.reward(sums),
            -0.5 * 7200 / 3600 + 0.55 * 3 - 0.25 * 1e-12 * 2.5e12 + 0.15 * 2 + 0.15 * 1.75);
}

TEST(MlfsRewardConfig, MeasuredUnitsNormaliseDifferences) {
  MlfsRewardConfig goals;
  goals.jct_unit = 3, goals.deadline_unit = 0.05, goals.bytes_unit = 1.2, goals.enough_unit = 0.08;
  goals.accuracy_unit = 0.001;
  EXPECT_NEAR(goals.reward({.job_s = 3600 * 3}), -0.5, 1e-12);
  EXPECT_NEAR(goals.reward({.met = 0.05}), 0.55, 1e-12);
  EXPECT_NEAR(goals.reward({.bytes = 1.2e12}), -0.25, 1e-12);
  EXPECT_NEAR(goals.reward({.satisfied = 0.08}), 0.15, 1e-12);
  EXPECT_NEAR(goals.reward({.accuracy = 0.001}), 0.15, 1e-12);
}

TEST(MlfsRewardConfig, ChargingMissesKeepsTheDifferences) {
  MlfsRewardConfig reward;
  reward.deadline_unit = 0.1;
  MlfsRewardConfig charged = reward;
  charged.pay_misses = true;
  const MlfsRewardSums one{3600, 3, 1e12, 2, 1.5, 4, 2}, other{7200, 1, 2e12, 1, 1.25, 4, 2};
  EXPECT_NEAR(reward.reward(one) - reward.reward(other),
              charged.reward(one) - charged.reward(other), 1e-12);
  EXPECT_EQ(charged.reward({0, 4, 0, 2, 2, 4, 2}), 0) << "nothing missed";
}

// The configuration mlfs-links has measured units: none is left at 1 for lack of differences.
TEST(MlfsRewardConfig, LinksConfigurationHasUnits) {
  const Settings config = Settings::from_yaml("experiments/configs/mlfs-links.yaml");
  for (const char* key :
       {"jct_unit", "deadline_unit", "bytes_unit", "enough_unit", "accuracy_unit"}) {
    const GivenSetting* unit = config.find(key);
    ASSERT_NE(unit, nullptr) << key;
    EXPECT_NE(unit->value, "1") << key;
  }
  const Settings frozen = Settings::from_yaml("experiments/configs/mlfs.yaml");
  EXPECT_EQ(frozen.find("jct_unit"), nullptr);
}

}  // namespace
}  // namespace yard::testing
