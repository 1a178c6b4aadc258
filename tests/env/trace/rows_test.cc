// Rows of tables: units and dates, free texts, skipped rows, the order of jobs, and the splitting
// of lines into fields.
#include "env/trace/core/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/base/files/lines.h"
#include "env/trace/core/split_line.h"

namespace yard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Reads one column with a getter. Returns the error's message, or "" if there is none.
template <class T, class Get>
std::string read(const std::string& cells, Get get, std::vector<T>& out) {
  const std::string text = "id,x\n" + cells;
  Lines lines = Lines::of_text(text, "t");
  Rows rows(lines, {});
  while (rows.next()) {
    T value{};
    if (!get(rows, value)) continue;
    out.push_back(value);
    Job job;
    job.id = std::to_string(out.size());
    rows.add(std::move(job));
  }
  try {
    Trace trace;
    rows.finish(false, trace);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Rows, TimeUnitsAreParsed) {
  std::vector<int64_t> us;
  EXPECT_EQ(
      read(
          ",7\n,0.25\n,1e3\n, 8 \n", [](Rows& r, int64_t& v) { return r.milliseconds(1, v); }, us),
      "");
  EXPECT_THAT(us, ElementsAre(7000, 250, 1'000'000, 8000));
  us.clear();
  EXPECT_EQ(read(
                ",7\n,0.5\n", [](Rows& r, int64_t& v) { return r.minutes(1, v); }, us),
            "");
  EXPECT_THAT(us, ElementsAre(420'000'000, 30'000'000));
  EXPECT_THAT(read(
                  ",x\n", [](Rows& r, int64_t& v) { return r.minutes(1, v); }, us),
              HasSubstr("t:2: column 2 (x): expected x in minutes, got 'x'"));
  EXPECT_THAT(read(
                  ",66666667\n", [](Rows& r, int64_t& v) { return r.minutes(1, v); }, us),
              HasSubstr("expected x of at most 66666666 min, got 66666667"));
  EXPECT_THAT(
      read(
          ",100000000000001\n", [](Rows& r, int64_t& v) { return r.milliseconds(1, v); }, us),
      HasSubstr("expected x of at most 4000000000000 ms"));
  EXPECT_THAT(read(
                  ",1e30\n", [](Rows& r, int64_t& v) { return r.seconds(1, v); }, us),
              HasSubstr("expected x of at most 4000000000 s, got 1e30"));
  EXPECT_THAT(read(
                  ",-1e30\n", [](Rows& r, int64_t& v) { return r.seconds(1, v); }, us),
              HasSubstr("expected x of at least 0 s, got -1e30"));
}

TEST(Rows, DatesAreParsed) {
  std::vector<int64_t> us;
  const auto date = [](Rows& r, int64_t& v) { return r.date(1, Zone("UTC0"), v); };
  EXPECT_EQ(read(",2021-03-04T12:30:15\n,1614861015\n,2021-03-04 12:30:15\n", date, us), "");
  EXPECT_THAT(us, ElementsAre(1614861015'000'000, 1614861015'000'000, 1614861015'000'000));
  for (const char* bad : {"", "Unknown", "1969-12-31T23:59:59", "9999-01-01", "-5"}) {
    EXPECT_THAT(read(std::string(",") + bad + "\n", date, us),
                HasSubstr("t:2: column 2 (x): expected x as a date like 2021-03-04T12:30:15"))
        << bad;
  }
}

TEST(Rows, NumbersAreParsed) {
  std::vector<int64_t> whole;
  const auto small = [](Rows& r, int64_t& v) { return r.integer(1, v, 2, 5); };
  EXPECT_EQ(read(",2\n, 5\n", small, whole), "");
  EXPECT_THAT(read(",6\n", small, whole),
              HasSubstr("column 2 (x): expected x as a whole number, 2 to 5, got '6'"));
  EXPECT_THAT(read(",1.5\n", small, whole), HasSubstr("as a whole number"));
  std::vector<double> real;
  const auto number = [](Rows& r, double& v) { return r.number(1, v); };
  EXPECT_EQ(read(",1.5\n,1e-3\n", number, real), "");
  EXPECT_THAT(real, ElementsAre(1.5, 1e-3));
  EXPECT_THAT(read(",-1\n", number, real), HasSubstr("expected x as a number of at least 0"));
  EXPECT_THAT(read(",inf\n", number, real), HasSubstr("expected x as a number"));
}

TEST(Rows, SurplusSeparatorsBelongToTheFreeText) {
  const std::string text = "id|name|gpus\n1|a|b|c|4\n2|x|8\n3|8\n";
  Lines lines = Lines::of_text(text, "t");
  Rows rows(lines, {.separator = '|', .free_text = "name"});
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.field(1), "a|b|c");
  EXPECT_EQ(rows.field(2), "4");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.field(1), "x");
  EXPECT_FALSE(rows.next()) << "too few fields";
}

TEST(Rows, SkippedRowsAreCountedAndNoError) {
  const std::string text = "id\na\nb\nc\nd\n";
  Lines lines = Lines::of_text(text, "t");
  Rows rows(lines, {});
  while (rows.next()) {
    if (rows.field(0) != "c") {
      rows.leave_out_row("no job");
      continue;
    }
    Job job;
    job.id = "c";
    rows.add(std::move(job));
  }
  Trace trace;
  rows.finish(false, trace);
  EXPECT_EQ(trace.jobs.size(), 1u);
  ASSERT_EQ(trace.skipped.size(), 1u);
  EXPECT_EQ(trace.skipped[0].reason, "no job");
  EXPECT_EQ(trace.skipped[0].count, 3);
  EXPECT_EQ(trace.skipped[0].first, "t:2");
}

// The numbers include more jobs than a chunk holds, so that several chunks are merged.
TEST(Rows, AnyNumberOfJobsIsSortedStably) {
  Rng rng{5};
  for (const int count : {1, 2, 3, 100, 2047, 2048, 2049, 10'000}) {
    std::string text = "id,submit\n";
    std::vector<std::pair<int64_t, int>> expected;
    for (int j = 0; j < count; ++j) {
      const int64_t submit = rng.below(1 + static_cast<uint32_t>(count) / 2);
      text += std::to_string(j) + "," + std::to_string(submit) + "\n";
      expected.emplace_back(submit, j);
    }
    std::ranges::sort(expected);
    Lines lines = Lines::of_text(text, "t");
    Rows rows(lines, {});
    while (rows.next()) {
      Job job;
      job.id = rows.field(0);
      ASSERT_TRUE(rows.seconds(1, job.submit_us));
      rows.add(std::move(job));
    }
    Trace trace;
    rows.finish(false, trace);
    ASSERT_EQ(trace.jobs.size(), expected.size());
    for (size_t j = 0; j < expected.size(); ++j) {
      ASSERT_EQ(trace.jobs[j].submit_us, expected[j].first * 1'000'000);
      ASSERT_EQ(trace.jobs[j].id, std::to_string(expected[j].second));
      ASSERT_EQ(trace.jobs[j].line, expected[j].second + 2);
    }
  }
}

TEST(Rows, TimeZeroMayBeTheFirstSubmission) {
  const std::string text = "id,t\na,2021-03-04T00:00:10\nb,2021-03-04T00:00:05\n";
  Lines lines = Lines::of_text(text, "t");
  Rows rows(lines, {});
  rows.move_zero_to_first_submission();
  while (rows.next()) {
    Job job;
    job.id = rows.field(0);
    ASSERT_TRUE(rows.date(1, Zone(), job.submit_us));
    job.logged_start_us = job.submit_us + 3'000'000;
    rows.add(std::move(job));
  }
  Trace trace;
  rows.finish(false, trace);
  EXPECT_EQ(trace.epoch_unix_s, 1614816005);
  EXPECT_EQ(trace.jobs[0].id, "b");
  EXPECT_EQ(trace.jobs[0].submit_us, 0);
  EXPECT_EQ(trace.jobs[1].submit_us, 5'000'000);
  EXPECT_EQ(trace.jobs[1].logged_start_us, 8'000'000);
  EXPECT_EQ(trace.jobs[1].logged_end_us, -1);
}

TEST(Split, SplitsAtSeparatorsAndBlanks) {
  std::vector<std::string_view> fields;
  split_line("a,,b,", ',', fields);
  EXPECT_THAT(fields, ElementsAre("a", "", "b", ""));
  split_line("  a \t b  ", ' ', fields);
  EXPECT_THAT(fields, ElementsAre("a", "b"));
  split_line("a, b", '\0', fields);
  EXPECT_THAT(fields, ElementsAre("a, b"));
}

TEST(Split, HandlesQuotes) {
  std::vector<std::string_view> fields;
  std::string unquoted;
  EXPECT_TRUE(split_quoted(R"("a,b","","say ""x""",plain,pl"ain)", ',', unquoted, fields));
  EXPECT_THAT(fields, ElementsAre("a,b", "", "say \"x\"", "plain", "pl\"ain"));
  EXPECT_TRUE(split_quoted("\"a\",", ',', unquoted, fields));
  EXPECT_THAT(fields, ElementsAre("a", ""));
  EXPECT_FALSE(split_quoted("\"a\"b,c", ',', unquoted, fields));
  EXPECT_TRUE(ends_inside_quotes("a,\"b", ','));
  EXPECT_TRUE(ends_inside_quotes("\"a\"\"", ','));
  EXPECT_FALSE(ends_inside_quotes("\"a\",b\"", ','));
  EXPECT_FALSE(ends_inside_quotes("a\"b", ','));
}

TEST(Lines, ReportTheirLineEndings) {
  Lines lines = Lines::of_text("a\nb\r\nc\r", "t");
  std::string_view line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(lines.line_ending(), "\n");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "b");
  EXPECT_EQ(lines.line_ending(), "\r\n");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_EQ(lines.line_ending(), "\r");
  EXPECT_FALSE(lines.next(line));
}

}  // namespace
}  // namespace yard
