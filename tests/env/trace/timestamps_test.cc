// Times in tables: dates with and without a zone, numbers since 1970 (the unit follows from the
// size), and durations in hours.
#include "env/trace/core/timestamps.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

constexpr int64_t kMay6 = 1'714'953'600;  // 2024-05-06 00:00:00 UTC
constexpr int64_t kUs = 1'000'000;

std::optional<int64_t> utc(const char* text) { return parse_iso_date_us(text, Zone()); }

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
  EXPECT_EQ(parse_iso_date_us("2024-05-06 10:00:00", berlin), (kMay6 + 28'800) * kUs);
  EXPECT_EQ(parse_iso_date_us("2024-05-06 10:00:00Z", berlin), (kMay6 + 36'000) * kUs);
}

TEST(Timestamps, DurationsAreParsed) {
  EXPECT_EQ(parse_duration_us("01:30:00"), 5'400 * kUs);
  EXPECT_EQ(parse_duration_us("100:00:00"), 360'000 * kUs);
  EXPECT_EQ(parse_duration_us("2-01:00:00"), 176'400 * kUs);
  EXPECT_EQ(parse_duration_us("0 days 00:00:30.5"), 30'500'000);
  EXPECT_EQ(parse_duration_us("1 day 00:00:00"), 86'400 * kUs);
  for (const char* none : {"", "90", "01:30", "1:2:3", "01:60:00", "x", "2 days",
                           "-1 days 00:00:00", "99999999999999999999-00:00:00"}) {
    EXPECT_FALSE(parse_duration_us(none).has_value()) << none;
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
  EXPECT_FALSE(plain.has_calendar_times());
  TimestampReader dates{Zone()};
  EXPECT_EQ(dates.read("2024-05-06"), kMay6 * kUs);
  EXPECT_FALSE(dates.read("17").has_value());
  EXPECT_FALSE(dates.read("1714953600").has_value());
  EXPECT_EQ(dates.kind_text(), "dates");
}

TEST(Timestamps, TimesOfOneFileHaveOneZero) {
  using TimestampStatus = TimestampReader::TimestampStatus;
  AmbiguousTime time;
  const auto meaning = [&](TimestampReader& timestamps, const char* text, bool required = true) {
    return timestamps.read(text, kInSeconds, required, time);
  };
  TimestampReader relative{Zone()};
  EXPECT_EQ(meaning(relative, "0"), TimestampStatus::kTime);
  EXPECT_EQ(meaning(relative, "999999999"), TimestampStatus::kTime);
  EXPECT_EQ(time.us, 999'999'999 * kUs);
  EXPECT_EQ(meaning(relative, "1714989601"), TimestampStatus::kOtherFormat);
  EXPECT_EQ(meaning(relative, "x"), TimestampStatus::kNoTime);
  TimestampReader own{Zone()};
  own.set_relative_seconds();
  EXPECT_EQ(meaning(own, "1714989601"), TimestampStatus::kTime) << "the file says so";
  TimestampReader since_1970{Zone()};
  EXPECT_EQ(meaning(since_1970, "1714989601"), TimestampStatus::kTime);
  EXPECT_EQ(meaning(since_1970, "60"), TimestampStatus::kOtherFormat);
  EXPECT_EQ(meaning(since_1970, "0"), TimestampStatus::kOtherFormat);
  EXPECT_EQ(meaning(since_1970, "0", false), TimestampStatus::kMissing);
  EXPECT_EQ(meaning(since_1970, "1714989601250"), TimestampStatus::kOtherFormat) << "milliseconds";
}

TEST(Timestamps, UnitOfANameIsUsed) {
  using Kind = TimestampReader::Kind;
  const TimeUnit& ms = *unit_in_column_name("t_ms");
  AmbiguousTime time;
  TimestampReader relative{Zone()};
  EXPECT_EQ(relative.read("60000", ms, true, time), TimestampReader::TimestampStatus::kTime);
  EXPECT_EQ(time.us, 60 * kUs);
  EXPECT_EQ(relative.kind(), Kind::kTraceSeconds);
  TimestampReader since_1970{Zone()};
  EXPECT_EQ(since_1970.read("1714953600250", ms), kMay6 * kUs + 250'000);
  EXPECT_EQ(since_1970.kind(), Kind::kMillis);
  TimestampReader minutes{Zone()};
  EXPECT_EQ(minutes.read("28582560", *unit_in_column_name("t_min")), kMay6 * kUs);
  EXPECT_EQ(minutes.kind(), Kind::kSeconds);
}

TEST(TimeUnit, IsTheLastWordOfAName) {
  const auto unit = [](const char* name) -> std::string {
    const TimeUnit* const found = unit_in_column_name(name);
    return found == nullptr ? "" : found->name;
  };
  for (const char* name : {"duration_min", "Duration (minutes)", "runMins", "wait-m"}) {
    EXPECT_EQ(unit(name), "minutes") << name;
  }
  for (const char* name : {"submit_ms", "durationMs", "DURATION_MS", "elapsed_millis", "durationms",
                           "runtimeMillis", "Elapsed [msec]"}) {
    EXPECT_EQ(unit(name), "milliseconds") << name;
  }
  for (const char* name : {"run_h", "wait_hours", "RunHrs"}) EXPECT_EQ(unit(name), "hours") << name;
  EXPECT_EQ(unit("t_us"), "microseconds");
  EXPECT_EQ(unit("t_\xC2\xB5s"), "microseconds");
  EXPECT_EQ(unit("t_ns"), "nanoseconds");
  EXPECT_EQ(unit("t_days"), "days");
  for (const char* name : {"run_s", "duration_sec", "Elapsed (s)"}) {
    EXPECT_EQ(unit(name), "seconds") << name;
  }
  for (const char* name : {"duration", "start", "end_time", "submissions", "min_duration",
                           "arrivals", "timestamp", "run_ms2", "durations", "", "_"}) {
    EXPECT_EQ(unit(name), "") << name;
  }
}

TEST(TimeUnit, NumbersAreConverted) {
  const auto us = [](const char* text, const char* name) {
    return parse_time_us(text, *unit_in_column_name(name));
  };
  EXPECT_EQ(us("90", "t_min"), 5'400 * kUs);
  EXPECT_EQ(us("1.5", "t_h"), 5'400 * kUs);
  EXPECT_EQ(us(" 250 ", "t_ms"), 250'000);
  EXPECT_EQ(us("0.4", "t_ms"), 400);
  EXPECT_EQ(us("7", "t_us"), 7);
  EXPECT_EQ(us("7500", "t_ns"), 8) << "rounded";
  EXPECT_EQ(us("1714953600000007000", "t_ns"), kMay6 * kUs + 7);
  EXPECT_EQ(us("66666666", "t_min"), kUs * 60 * 66'666'666);
  for (const char* none : {"66666667", "-1", "x", "", "nan", "1e30"}) {
    EXPECT_FALSE(us(none, "t_min").has_value()) << none;
  }
}

}  // namespace
}  // namespace yard
