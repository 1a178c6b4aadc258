// How samples are cut into parts for threads.
#include "agents/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace yard {
namespace {

TEST(PartEnds, AreOneOrAnEvenNumberOfAboutAsManyRows) {
  const std::vector<int32_t> rows = {5, 0, 9, 1, 30, 2, 2, 2, 7, 11, 3, 0, 8, 20};  // 100
  EXPECT_EQ(part_ends(rows, 100), std::vector<size_t>{14});
  EXPECT_EQ(part_ends(rows, 50), (std::vector<size_t>{8, 14}));  // 51 and 49
  for (const int64_t most : {40, 33, 20, 10, 1}) {
    const std::vector<size_t> ends = part_ends(rows, most);
    EXPECT_EQ(ends.size() % 2, 0u);
    EXPECT_EQ(ends.back(), rows.size());
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    size_t from = 0;
    for (const size_t end : ends) {
      const auto sum = std::accumulate(rows.begin() + static_cast<int64_t>(from),
                                       rows.begin() + static_cast<int64_t>(end), int64_t{0});
      EXPECT_LE(sum, most + 30);  // by one sample more at most
      from = end;
    }
  }
}

TEST(PartEnds, OfNothingIsOnePart) { EXPECT_EQ(part_ends({}, 10), std::vector<size_t>{0}); }

}  // namespace
}  // namespace yard
