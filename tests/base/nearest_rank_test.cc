#include "env/base/core/nearest_rank.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace yard {
namespace {

TEST(NearestRank, IsTheSmallestValueThatCoversTheShare) {
  std::vector<int64_t> ten = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(nearest_rank_quantile(ten, 0.5), 5);
  EXPECT_EQ(nearest_rank_quantile(ten, 0.9), 9);
  EXPECT_EQ(nearest_rank_quantile(ten, 0.99), 10) << "not 9, as by the whole part of 0.99 x 9";
  EXPECT_EQ(nearest_rank_quantile(ten, 0), 1);
  EXPECT_EQ(nearest_rank_quantile(ten, 1), 10);
  std::vector<double> two = {0.5, -0.5};
  EXPECT_EQ(nearest_rank_quantile(two, 0.5), -0.5);
  EXPECT_EQ(nearest_rank_quantile(two, 0.51), 0.5);
}

}  // namespace
}  // namespace yard
