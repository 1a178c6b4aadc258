// Times in tables: dates with and without a zone, numbers since 1970 (the unit follows from the
// size), and durations in hours.
#include "env/trace/core/timestamps.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

constexpr int64_t kMay6 = 1'714'953'600;  // 2024-05-06 00:00:00 UTC
constexpr int64_t kUs = 1'000'000;

std::optional<int64_t> utc(const char* text) { return calendar_us(text, Zone()); }

TEST(Timestamps, DatesMayHaveAUtcOffset) {
  EXPECT_EQ(utc("2024-05-06"), kMay6 * kUs);
  EXPECT_EQ(utc("2024-05-06 10:00"), (kMay6 + 36'000) * kUs);
  EXPECT_EQ(utc("2024-05-06T10:00:00Z"), (kMay6 + 36'000) * kUs);
  EXPECT_EQ(utc("2024-05-06 10:00:00 UTC"), (kMay6 + 36'000) * kUs);
  EXPECT_EQ(utc("2024-05-06 10:00:00UTC"), (kMay6 + 36'000) * kUs);
  EXPECT_EQ(utc("2024-05-06T10:00:00.25"), (kMay6 + 36'000) * kUs + 250'000);
  EXPECT_EQ(utc("2024-05-06 10:00:00,5"), (kMay6 + 36'000) * kUs + 500'000);
  EXPECT_EQ(utc("2024-05-06T10:00:00+08:00"), (kMay6 + 7'200) * kUs);
  EXPECT_EQ(utc("2024-05-06T10:00:00.000001-0530"), (kMay6 + 36'000 + 19'800) * kUs + 1);
  EXPECT_EQ(utc("2024-05-06T10:00:00 +02"), (kMay6 + 28'800) * kUs);
  for (const char* none : {"", "10:00:00", "2024-13-01", "2024-05-06T10:00:00+8", "2024-05-06x",
                           "2024-05-06T10:00:00.x", "2024-05-06T10:00:00+08:00x", "NaT"}) {
    EXPECT_FALSE(utc(none).has_value()) << none;
  }
}

TEST(Timestamps, ZoneAppliesToDatesWithoutAnOffset) {
  const Zone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(calendar_us("2024-05-06 10:00:00", berlin), (kMay6 + 28'800) * kUs);
  EXPECT_EQ(calendar_us("2024-05-06 10:00:00Z", berlin), (kMay6 + 36'000) * kUs);
}

TEST(Timestamps, DurationsAreParsed) {
  EXPECT_EQ(span_us("01:30:00"), 5'400 * kUs);
  EXPECT_EQ(span_us("100:00:00"), 360'000 * kUs);
  EXPECT_EQ(span_us("2-01:00:00"), 176'400 * kUs);
  EXPECT_EQ(span_us("0 days 00:00:30.5"), 30'500'000);
  EXPECT_EQ(span_us("1 day 00:00:00"), 86'400 * kUs);
  for (const char* none : {"", "90", "01:30", "1:2:3", "01:60:00", "x", "2 days",
                           "-1 days 00:00:00", "99999999999999999999-00:00:00"}) {
    EXPECT_FALSE(span_us(none).has_value()) << none;
  }
}

TEST(Timestamps, FirstNumberSetsTheUnit) {
  using Kind = TimestampReader::Kind;
  const auto read = [](const char* text, Kind kind, int64_t us) {
    TimestampReader timestamps{Zone()};
    EXPECT_EQ(timestamps.read(text), us) << text;
    EXPECT_EQ(timestamps.kind(), kind) << text;
  };
  read("1714953600", Kind::kSeconds, kMay6 * kUs);
  read("1714953600.5", Kind::kSeconds, kMay6 * kUs + 500'000);
  read("1714953600250", Kind::kMillis, kMay6 * kUs + 250'000);
  read("1714953600000007", Kind::kMicros, kMay6 * kUs + 7);
  read("1714953600000007000", Kind::kNanos, kMay6 * kUs + 7);
  read("1.7149536e9", Kind::kSeconds, kMay6 * kUs);
  TimestampReader plain{Zone()};
  EXPECT_FALSE(plain.read("0").has_value());
  EXPECT_EQ(plain.kind(), Kind::kTraceSeconds);
  EXPECT_FALSE(plain.read("1714953600").has_value()) << "seconds from time zero, if large";
  EXPECT_FALSE(plain.calendar());
  TimestampReader dates{Zone()};
  EXPECT_EQ(dates.read("2024-05-06"), kMay6 * kUs);
  EXPECT_FALSE(dates.read("17").has_value());
  EXPECT_FALSE(dates.read("1714953600").has_value());
  EXPECT_EQ(dates.kind_text(), "dates");
}

}  // namespace
}  // namespace yard
