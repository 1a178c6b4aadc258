#include "env/base/text/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "env/base/core/rng.h"

namespace yard {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(split(",a,,", ','), (Parts{"", "a", "", ""}));
  EXPECT_EQ(split("", ','), (Parts{""}));
}

TEST(Text, JoinIsTheInverseOfSplit) {
  EXPECT_EQ(join({"a", "", "a"}, ","), "a,,a");
  EXPECT_EQ(join({"a", "b"}), "a, b");
  EXPECT_EQ(join({}), "");
}

TEST(Text, TrimRemovesOuterWhiteSpaceOnly) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, ParseIntNeedsACompleteIntegerInRange) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "9223372036854775808", "-"}) {
    EXPECT_FALSE(parse_int(bad)) << bad;
  }
}

TEST(Text, ParseDoubleNeedsACompleteFiniteNumber) {
  EXPECT_EQ(parse_double("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_double("7"), 7.0);
  for (const char* bad : {"", " 1", "1,5", "1.5x", "nan", "inf", "-inf", "1e999", "."}) {
    EXPECT_FALSE(parse_double(bad)) << bad;
  }
}

TEST(Text, ShortestRoundTripsEveryBitPattern) {
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(0.1f), "0.1");
  EXPECT_EQ(shortest_text(100.0), "100");
  Rng rng(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::bit_cast<double>(rng.next64());
    if (!std::isfinite(x)) continue;
    const auto back = parse_double(shortest_text(x));
    ASSERT_TRUE(back) << shortest_text(x);
    ASSERT_EQ(std::bit_cast<uint64_t>(*back), std::bit_cast<uint64_t>(x));
  }
}

TEST(Text, SecondsAreShortAndExact) {
  EXPECT_EQ(format_seconds(0), "0");
  EXPECT_EQ(format_seconds(12'000'000), "12");
  EXPECT_EQ(format_seconds(12'500'000), "12.5");
  EXPECT_EQ(format_seconds(1), "0.000001");
  EXPECT_EQ(format_seconds(-500'000), "-0.5");
  EXPECT_EQ(format_seconds(100'000'010), "100.00001");
  EXPECT_EQ(format_seconds(std::numeric_limits<int64_t>::min()), "-9223372036854.775808");
}

TEST(Text, SecondsRoundTripExactly) {
  Rng rng(2);
  for (int i = 0; i < 100000; ++i) {
    // Draws the shift too, so that all magnitudes occur.
    const int64_t us =
        static_cast<int64_t>(rng.next64() >> 1 >> rng.below(63)) * (rng.below(2) == 0 ? 1 : -1);
    ASSERT_EQ(parse_seconds_us(format_seconds(us)), us);
  }
}

TEST(Text, SecondsMayBeDecimalOrScientific) {
  EXPECT_EQ(parse_seconds_us("1.5e3"), 1'500'000'000);
  EXPECT_EQ(parse_seconds_us("1E+2"), 100'000'000);
  EXPECT_EQ(parse_seconds_us("2500e-3"), 2'500'000);
  EXPECT_EQ(parse_seconds_us(".5"), 500'000);
  EXPECT_EQ(parse_seconds_us("5."), 5'000'000);
  EXPECT_EQ(parse_seconds_us("000000000000000000000000001"), 1'000'000);
  EXPECT_EQ(parse_seconds_us("-0"), 0);
  EXPECT_EQ(parse_seconds_us("0e999999999"), 0);
  EXPECT_EQ(parse_seconds_us("1e-999999999"), 0);
}

TEST(Text, SecondsRoundHalfAwayFromZero) {
  EXPECT_EQ(parse_seconds_us("0.0000014999999"), 1);
  EXPECT_EQ(parse_seconds_us("0.0000015"), 2);
  EXPECT_EQ(parse_seconds_us("-0.0000015"), -2);
  EXPECT_EQ(parse_seconds_us("0.0000005"), 1);
  EXPECT_EQ(parse_seconds_us("0.00000049"), 0);
  EXPECT_EQ(parse_seconds_us("0.9999999"), 1'000'000);
}

TEST(Text, InvalidOrOverflowingSecondsAreRejected) {
  EXPECT_EQ(parse_seconds_us("9223372036854.775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", "-", ".", "e3", "1e", "1e+-3", "--1", "+1", "1s", "1.2.3", "nan",
                          "inf", " 1", "9223372036854.775808", "1e20", "1e999999999999"}) {
    EXPECT_FALSE(parse_seconds_us(bad)) << bad;
  }
}

}  // namespace
}  // namespace yard
