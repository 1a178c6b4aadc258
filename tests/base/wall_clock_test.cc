// Dates and time zones. Expected values were printed by `date -u` and `TZ=... date`.
#include "env/base/text/wall_clock.h"

#include <gtest/gtest.h>

#include "env/base/core/error.h"

namespace yard {
namespace {

int64_t unix_s(const char* zone, const char* date) {
  return Zone(zone).unix_s(parse_date_s(date).value());
}

TEST(Date, ParsesAllThreeLengths) {
  EXPECT_EQ(parse_date_s("1970-01-01"), 0);
  EXPECT_EQ(parse_date_s("2021-03-04T12:30"), 1614861000);
  EXPECT_EQ(parse_date_s("2021-03-04 12:30:15"), 1614861015);
  EXPECT_EQ(parse_date_s("2021-03-04T12:30:15Z"), 1614861015);
  EXPECT_EQ(parse_date_s("2024-02-29"), 1709164800);
  EXPECT_EQ(parse_date_s("1969-12-31T23:59:59"), -1);
}

TEST(Date, RoundTrips) {
  EXPECT_EQ(date_text(1614861015), "2021-03-04T12:30:15");
  for (const int64_t unix_s : {int64_t{0}, int64_t{-1}, int64_t{1709164800}, int64_t{86399}}) {
    EXPECT_EQ(parse_date_s(date_text(unix_s)), unix_s);
  }
}

TEST(Date, RejectsInvalidDates) {
  for (const char* text :
       {"", "2021", "2021-02-29", "2021-13-01", "2021-00-01", "2021-01-00", "2021-03-04T24:00",
        "2021-03-04T12:60", "2021-03-04T12:30:60", "2021/03/04", "2021-03-04T12:30:1x",
        "2021-03-04x12:30", "-021-03-04", "+021-03-04", "2021-03-04T12-30-15", "Unknown", "None"}) {
    EXPECT_EQ(parse_date_s(text), std::nullopt) << text;
  }
}

TEST(Zone, AppliesAFixedOffset) {
  EXPECT_EQ(Zone().unix_s(5), 5);
  EXPECT_EQ(unix_s("UTC0", "2021-03-04T12:30:15"), 1614861015);
  EXPECT_EQ(unix_s("JST-9", "2021-03-04T21:30:15"), 1614861015);
  EXPECT_EQ(unix_s("<+0530>-5:30", "2021-03-04T18:00:15"), 1614861015);
}

TEST(Zone, AppliesDaylightSavingTime) {
  const char* chicago = "CST6CDT,M3.2.0,M11.1.0";
  EXPECT_EQ(unix_s(chicago, "2023-03-12T01:59:59"), 1678607999);
  EXPECT_EQ(unix_s(chicago, "2023-03-12T03:00:00"), 1678608000) << "a second later";
  EXPECT_EQ(unix_s(chicago, "2023-03-12T02:30:00"), 1678609800) << "never shown: as CST";
  EXPECT_EQ(unix_s(chicago, "2022-11-06T00:59:59"), 1667714399);
  EXPECT_EQ(unix_s(chicago, "2022-11-06T01:00:00"), 1667718000) << "twice: the second";
  EXPECT_EQ(unix_s(chicago, "2022-11-06T02:00:00"), 1667721600);
  EXPECT_EQ(unix_s(chicago, "2022-07-01T00:00:00"), 1656651600);
  const char* berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(unix_s(berlin, "2023-03-26T01:59:59"), 1679792399);
  EXPECT_EQ(unix_s(berlin, "2023-03-26T03:00:00"), 1679792400);
  EXPECT_EQ(unix_s(berlin, "2023-10-29T03:00:00"), 1698544800);
  // In the southern hemisphere, daylight saving time spans the turn of the year.
  const char* sydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
  EXPECT_EQ(unix_s(sydney, "2023-01-01T00:00:00"), 1672491600);
  EXPECT_EQ(unix_s(sydney, "2023-07-01T00:00:00"), 1688133600);
  EXPECT_EQ(unix_s(sydney, "2023-12-01T00:00:00"), 1701349200);
}

TEST(Zone, ResolvesRepeatedAndSkippedHours) {
  const Zone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  const auto apart = [&](const char* date) {
    const int64_t wall_s = *parse_date_s(date);
    return berlin.unix_s(wall_s) - berlin.other_unix_s_if_ambiguous(wall_s);
  };
  EXPECT_EQ(apart("2023-10-29T01:59:59"), 0);
  EXPECT_EQ(apart("2023-10-29T02:00:00"), 3600) << "twice";
  EXPECT_EQ(apart("2023-10-29T02:59:59"), 3600);
  EXPECT_EQ(apart("2023-10-29T03:00:00"), 0);
  EXPECT_EQ(apart("2023-03-26T01:59:59"), 0);
  EXPECT_EQ(apart("2023-03-26T02:30:00"), 3600) << "never";
  EXPECT_EQ(apart("2023-03-26T03:00:00"), 0);
  EXPECT_EQ(Zone("JST-9").other_unix_s_if_ambiguous(0), Zone("JST-9").unix_s(0));
}

TEST(Zone, RejectsInvalidRules) {
  for (const char* rule : {"", "UTC", "6", "CST6CDT", "CST6CDT,M3.2.0", "CST6CDT,M3.2.0,M13.1.0",
                           "CST6CDT,M3.6.0,M11.1.0", "CST6CDT,J60,J300", "CST6CDT,M3.2.0,M11.1.0x",
                           "CST6CDT7,M3.2.0,M11.1.0", "<UTC0", "America/Chicago", "UTC999"}) {
    EXPECT_THROW(Zone(rule, "zone"), InputError) << rule;
  }
}

}  // namespace
}  // namespace yard
