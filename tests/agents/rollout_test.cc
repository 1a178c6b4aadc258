// Checks how samples are divided into parts for threads.
#include "agents/rollout/rollout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace yard {
namespace {

TEST(PartsOf, GivesOneOrAnEvenNumberOfBalancedParts) {
  const std::vector<int32_t> rows = {5, 0, 9, 1, 30, 2, 2, 2, 7, 11, 3, 0, 8, 20};  // 100 rows
  EXPECT_EQ(split_by_rows(rows, 100).size(), 1u);
  EXPECT_EQ(split_by_rows(rows, 50).size(), 2u);
  EXPECT_EQ(split_by_rows(rows, 50)[0].count, 8u);  // 51 and 49 rows
  for (const int64_t max_rows : {100, 50, 40, 33, 20, 10, 1}) {
    const std::vector<SampleRange> parts = split_by_rows(rows, max_rows);
    EXPECT_TRUE(parts.size() == 1 || parts.size() % 2 == 0);
    size_t next = 0;
    for (const SampleRange& part : parts) {
      EXPECT_EQ(part.from, next);
      next += part.count;
      const auto first = rows.begin() + static_cast<int64_t>(part.from);
      const auto sum = std::accumulate(first, first + static_cast<int64_t>(part.count), int64_t{0});
      EXPECT_LE(sum, max_rows + 30);  // over by at max_rows one sample
    }
    EXPECT_EQ(next, rows.size());
  }
}

TEST(PartsOf, EmptyInputGivesOnePart) {
  ASSERT_EQ(split_by_rows({}, 10).size(), 1u);
  EXPECT_EQ(split_by_rows({}, 10)[0].count, 0u);
}

}  // namespace
}  // namespace yard
