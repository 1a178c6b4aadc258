// Windows by number and by time, and arrivals which are scaled and jittered.
#include "env/trace/core/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kDayS = 86400;

// Returns jobs "0", "1", ... of 2 GPUs and 100 s, submitted at these seconds.
Trace trace_at(const std::vector<int64_t>& submit_s) {
  Trace trace;
  trace.source = "jobs.csv";
  for (const int64_t s : submit_s) {
    Job job;
    job.id = std::to_string(trace.jobs.size());
    job.submit_us = s * kUsPerS;
    job.run_us = 100 * kUsPerS;
    job.gpus = 2;
    trace.jobs.push_back(job);
  }
  return trace;
}

std::vector<std::string> scored(const Trace& trace) {
  std::vector<std::string> ids;
  for (const Job& job : trace.jobs) {
    if (job.scored) ids.push_back(job.id);
  }
  return ids;
}

std::vector<std::string> unscored(const Trace& trace) {
  std::vector<std::string> ids;
  for (const Job& job : trace.jobs) {
    if (!job.scored) ids.push_back(job.id);
  }
  return ids;
}

std::string error_of(Trace trace, const WindowOptions& options) {
  try {
    select_window(trace, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Window, WithoutOptionsIsTheWholeTrace) {
  Trace trace = trace_at({5, 10, 10, 20});
  const Window window = select_window(trace, {});
  EXPECT_THAT(scored(trace), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(unscored(trace), ElementsAre());
  EXPECT_EQ(window.scored, 4);
  EXPECT_EQ(window.from_us, 5 * kUsPerS);
  EXPECT_EQ(window.warm_from_us, 5 * kUsPerS);
  EXPECT_EQ(window.to_us, 20 * kUsPerS + 1);
}

TEST(Window, ByNumberSplitsSimultaneousJobs) {
  Trace trace = trace_at({5, 10, 10, 10, 20});
  const Window window = select_window(
      trace, {.jobs_from = 1, .jobs_count = 2, .after = ArrivalsAfterWindow::kNothing});
  EXPECT_THAT(scored(trace), ElementsAre("1", "2"));
  EXPECT_THAT(unscored(trace), ElementsAre("0"));
  EXPECT_EQ(window.scored, 2);
  EXPECT_LT(window.from_us, window.to_us);
}

TEST(Window, ByTimeIncludesFromAndExcludesTo) {
  Trace trace = trace_at({0, 10, 20, 30, 40});
  const Window window = select_window(trace, {.from = "10",
                                              .to = "30",
                                              .warmup = "0",
                                              .after = ArrivalsAfterWindow::kTrace,
                                              .repeats = 0});
  EXPECT_THAT(scored(trace), ElementsAre("1", "2"));
  EXPECT_THAT(unscored(trace), ElementsAre("3", "4"));
  EXPECT_EQ(window.from_us, 10 * kUsPerS);
  EXPECT_EQ(window.to_us, 30 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].submit_us, 10 * kUsPerS) << "the trace's time zero is kept";
}

TEST(Window, PercentIsOfTheSubmissionSpan) {
  Trace trace = trace_at({1000, 1040, 1059, 1061, 1081, 1100});
  select_window(trace, {.from = "60%", .to = "80%", .after = ArrivalsAfterWindow::kNothing});
  EXPECT_THAT(scored(trace), ElementsAre("3"));
  trace = trace_at({1000, 1040, 1100});
  select_window(trace, {.from = "0%", .to = "100%"});
  EXPECT_THAT(scored(trace), ElementsAre("0", "1", "2"));
}

TEST(Window, PlusIsSecondsAfterTheFirstJob) {
  Trace trace = trace_at({1000, 1040, 1059, 1061, 1081, 1100});
  const Window window = select_window(trace, {.from = "+59", .to = "+61", .warmup = "0"});
  EXPECT_EQ(window.from_us, 1059 * kUsPerS);
  EXPECT_EQ(window.scored, 1);
  EXPECT_THAT(error_of(trace, {.from = "+-5"}), HasSubstr("--from: expected seconds"));
}

// Adjacent parts share no job and omit none.
TEST(Window, PartsByPercentCoverTheTraceOnce) {
  Rng rng(1);
  std::vector<int64_t> times(500);
  for (int64_t& t : times) t = rng.below(1000);
  std::sort(times.begin(), times.end());
  std::map<std::string, int> seen;
  const char* const cuts[] = {"0%", "33.3%", "60%", "80%", "100%"};
  for (int k = 0; k < 4; ++k) {
    Trace trace = trace_at(times);
    select_window(trace, {.from = cuts[k], .to = cuts[k + 1]});
    for (const std::string& id : scored(trace)) ++seen[id];
  }
  EXPECT_EQ(seen.size(), times.size());
  for (const auto& [id, count] : seen) EXPECT_EQ(count, 1) << id;
}

TEST(Window, WarmupIsAWeekIfAvailable) {
  const std::vector<int64_t> days = {0, 2 * kDayS, 4 * kDayS, 10 * kDayS, 11 * kDayS};
  Trace trace = trace_at(days);
  const std::string from = std::to_string(10 * kDayS);
  Window window = select_window(trace, {.from = from, .after = ArrivalsAfterWindow::kNothing});
  EXPECT_EQ(window.warm_from_us, 3 * kDayS * kUsPerS);
  EXPECT_THAT(unscored(trace), ElementsAre("2"));
  EXPECT_THAT(scored(trace), ElementsAre("3", "4"));

  trace = trace_at(days);
  window = select_window(trace, {.from = std::to_string(4 * kDayS)});
  EXPECT_EQ(window.warm_from_us, 0) << "the trace has only four days before";

  trace = trace_at(days);
  window = select_window(trace, {.from = from, .warmup = std::to_string(9 * kDayS)});
  EXPECT_EQ(window.warm_from_us, 1 * kDayS * kUsPerS);
}

TEST(Window, DatesNeedACalendar) {
  Trace trace = trace_at({0, kDayS, 2 * kDayS});
  EXPECT_THAT(error_of(trace, {.from = "2021-03-05"}),
              AllOf(HasSubstr("--from"), HasSubstr("has no calendar dates")));
  trace.epoch_unix_s = 1614816000;  // 2021-03-04
  const Window window =
      select_window(trace, {.from = "2021-03-05T00:00", .to = "2021-03-05T12:30:10Z"});
  EXPECT_EQ(window.from_us, kDayS * kUsPerS);
  EXPECT_EQ(window.to_us, (kDayS + 12 * 3600 + 30 * 60 + 10) * kUsPerS);
  EXPECT_THAT(scored(trace), ElementsAre("1"));
  EXPECT_THAT(error_of(trace, {.from = "2021-02-30"}), HasSubstr("or a date like"));
}

TEST(Window, CopiesDependOnCopies) {
  Trace trace = trace_at({0, 10, 15, 30});
  trace.jobs[1].after = {"0"};  // in the warm-up, which is not repeated
  trace.jobs[2].after = {"1", "0"};
  select_window(trace, {.from = "10", .to = "20", .repeats = 2});
  std::map<std::string, std::vector<std::string>> after;
  for (const Job& job : trace.jobs) after[job.id] = job.after;
  EXPECT_THAT(after["2"], ElementsAre("1", "0"));
  EXPECT_THAT(after["1#1"], ElementsAre("0"));
  EXPECT_THAT(after["2#1"], ElementsAre("1#1", "0"));
  EXPECT_THAT(after["2#2"], ElementsAre("1#2", "0"));
}

TEST(Window, SimultaneousArrivalsHaveNoLoad) {
  Trace trace = trace_at({7, 7, 7});
  const Window window = select_window(trace, {});
  EXPECT_TRUE(std::isnan(offered_load(trace, window, 8)));
  Trace later = trace_at({7, 7, 8});
  EXPECT_GT(offered_load(later, select_window(later, {}), 8), 0);
}

TEST(Window, TailIsTheTraceThenTheRepeatedWindow) {
  const std::vector<int64_t> times = {0, 10, 15, 30, 40};
  Trace trace = trace_at(times);
  select_window(trace, {.from = "10", .to = "20", .repeats = 2});
  EXPECT_THAT(scored(trace), ElementsAre("1", "2"));
  EXPECT_THAT(unscored(trace), ElementsAre("0", "3", "4", "1#1", "2#1", "1#2", "2#2"));
  EXPECT_EQ(trace.jobs[5].submit_us, 40 * kUsPerS + 1);
  EXPECT_EQ(trace.jobs[8].submit_us, 55 * kUsPerS + 1);

  trace = trace_at(times);
  select_window(trace,
                {.from = "10", .to = "20", .after = ArrivalsAfterWindow::kRepeat, .repeats = 1});
  EXPECT_THAT(unscored(trace), ElementsAre("0", "1#1", "2#1"));
  EXPECT_EQ(trace.jobs[4].submit_us, 25 * kUsPerS);
  EXPECT_TRUE(std::is_sorted(trace.jobs.begin(), trace.jobs.end(),
                             [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; }));
}

TEST(Window, CopiesAreMarked) {
  Trace trace = trace_at({0, 10, 15, 30, 40});
  select_window(trace, {.from = "10", .to = "20", .repeats = 2});
  EXPECT_EQ(count_copied_jobs(trace), 4);
  for (const Job& job : trace.jobs) {
    EXPECT_EQ(job.copy, job.id.find('#') != job.id.npos) << job.id;
    EXPECT_FALSE(job.copy && job.scored);
  }
}

TEST(Window, TailMayBeTheTraceWithoutCopies) {
  Trace trace = trace_at({0, 10, 15, 30, 40});
  select_window(trace, {.from = "10", .to = "20", .after = ArrivalsAfterWindow::kTraceOnly});
  EXPECT_THAT(scored(trace), ElementsAre("1", "2"));
  EXPECT_THAT(unscored(trace), ElementsAre("0", "3", "4"));
  EXPECT_EQ(count_copied_jobs(trace), 0);
}

TEST(Window, InvalidOptionsAreNamed) {
  const Trace trace = trace_at({0, 10, 20});
  EXPECT_THAT(error_of(trace, {.jobs_from = 0, .from = "5"}), HasSubstr("got both"));
  EXPECT_THAT(error_of(trace, {.jobs_from = 3}), HasSubstr("--jobs-from: expected 0 to 2, got 3"));
  EXPECT_THAT(error_of(trace, {.jobs_from = -1}), HasSubstr("got -1"));
  EXPECT_THAT(error_of(trace, {.jobs_from = 1, .jobs_count = 3}),
              HasSubstr("--jobs-count: expected 1 to 2"));
  EXPECT_THAT(error_of(trace, {.jobs_count = 0}), HasSubstr("got 0"));
  EXPECT_THAT(error_of(trace, {.from = "11", .to = "20"}), HasSubstr("a window with jobs"));
  EXPECT_THAT(error_of(trace, {.from = "20", .to = "10"}),
              HasSubstr("expected a start before the end, got from 20 s to 10 s"));
  EXPECT_THAT(error_of(trace, {.from = "101%"}), HasSubstr("got '101%'"));
  EXPECT_THAT(error_of(trace, {.to = "soon"}), HasSubstr("--to: expected"));
  EXPECT_THAT(error_of(trace, {.warmup = "-1"}), HasSubstr("--warmup: expected"));
}

// If the bounds are dates, the error states dates.
TEST(Window, EmptyWindowErrorUsesTheTracesCalendar) {
  Trace trace = trace_at({0, 10, kDayS});
  EXPECT_THAT(error_of(trace, {.from = "20", .to = "30"}),
              HasSubstr("submitted from 0 s to 86400 s), got none from 20 s to 30 s"));
  EXPECT_THAT(error_of(trace, {.from = "90000"}), HasSubstr("got none from 90000 s on"));
  EXPECT_THAT(error_of(trace, {.to = "0"}), HasSubstr("got none before 0 s"));
  trace.epoch_unix_s = 19'000 * kDayS;  // 2022-01-08
  EXPECT_THAT(error_of(trace, {.from = "2023-01-01", .to = "2023-02-01"}),
              AllOf(HasSubstr("0 s (2022-01-08T00:00:00) to 86400 s (2022-01-09T00:00:00)"),
                    HasSubstr("(2023-01-01T00:00:00)"), HasSubstr("(2023-02-01T00:00:00)")));
  EXPECT_THAT(error_of(trace, {.from = "2023-02-01", .to = "2023-01-01"}),
              HasSubstr("expected a start before the end"));
}

TEST(Arrivals, AreScaledAboutTheWindowsStart) {
  Trace trace = trace_at({0, 60, 100, 120, 160});
  Window window = select_window(trace, {.from = "100", .to = "140", .repeats = 0});
  const double load = offered_load(trace, window, 4);
  EXPECT_DOUBLE_EQ(load, 2 * 2 * 100 / (4 * 40.0));
  scale_arrivals(trace, window, 0.5);
  std::vector<int64_t> submit_s;
  for (const Job& job : trace.jobs) submit_s.push_back(job.submit_us / kUsPerS);
  EXPECT_THAT(submit_s, ElementsAre(50, 80, 100, 110, 130));
  EXPECT_EQ(window.warm_from_us, 50 * kUsPerS);
  EXPECT_EQ(window.from_us, 100 * kUsPerS);
  EXPECT_EQ(window.to_us, 120 * kUsPerS);
  EXPECT_DOUBLE_EQ(offered_load(trace, window, 4), 2 * load);
}

TEST(Arrivals, StretchingKeepsThemAfterTheWarmupsStart) {
  Trace trace = trace_at({0, 60, 100, 120, 160});
  Window window = select_window(trace, {.from = "100", .to = "140", .repeats = 0});
  scale_arrivals(trace, window, 2);
  EXPECT_EQ(window.warm_from_us, 0);
  EXPECT_EQ(window.to_us, 180 * kUsPerS);
  std::vector<int64_t> submit_s;
  for (const Job& job : trace.jobs) submit_s.push_back(job.submit_us / kUsPerS);
  EXPECT_THAT(submit_s, ElementsAre(20, 100, 140, 220));
  EXPECT_EQ(trace.jobs.front().id, "1");
}

TEST(Arrivals, ScalingByOneChangesNothing) {
  Trace trace = trace_at({3, 60, 100, 120, 160});
  Window window = select_window(trace, {.from = "100"});
  const Trace before = trace;
  scale_arrivals(trace, window, 1);
  ASSERT_EQ(trace.jobs.size(), before.jobs.size());
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    EXPECT_EQ(trace.jobs[j].submit_us, before.jobs[j].submit_us);
  }
}

TEST(Arrivals, JitterStaysInItsBoundsAndIsKeyedByJob) {
  std::vector<int64_t> times;
  for (int64_t i = 0; i < 1000; ++i) times.push_back(i * 60);
  const int64_t max_us = 600 * kUsPerS;
  Trace trace = trace_at(times);
  Window window = select_window(trace, {.from = "1000", .repeats = 0});
  const Trace before = trace;
  const size_t was_scored = scored(trace).size();
  Trace again = trace;
  Window again_window = window;
  Trace fewer = trace;  // without its first ten jobs
  fewer.jobs.erase(fewer.jobs.begin(), fewer.jobs.begin() + 10);
  Window fewer_window = window;
  const Rng rng = Rng(3).split(1);
  jitter_arrivals(trace, window, rng, max_us, 0);
  jitter_arrivals(again, again_window, rng, max_us, 0);
  jitter_arrivals(fewer, fewer_window, rng, max_us, 0);

  std::map<std::string, int64_t> at;
  for (const Job& job : before.jobs) at[job.id] = job.submit_us;
  std::map<std::string, int64_t> moved;
  double sum = 0;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    ASSERT_GE(job.submit_us, j == 0 ? 0 : trace.jobs[j - 1].submit_us);
    ASSERT_EQ(job.submit_us, again.jobs[j].submit_us);
    ASSERT_LE(std::abs(job.submit_us - at[job.id]), max_us);
    moved[job.id] = job.submit_us;
    sum += static_cast<double>(job.submit_us - at[job.id]);
  }
  EXPECT_EQ(moved.size(), before.jobs.size());
  EXPECT_EQ(scored(trace).size(), was_scored);
  for (const Job& job : fewer.jobs) ASSERT_EQ(job.submit_us, moved[job.id]);
  // Four standard errors of a mean of uniform draws: max / sqrt(3) / sqrt(1000).
  EXPECT_NEAR(sum / 1000, 0, 4 * max_us / 54.8);
}

TEST(Arrivals, LoadJitterScalesTheWindow) {
  double lowest = 2, highest = 0;
  for (uint64_t replica = 0; replica < 200; ++replica) {
    Trace trace = trace_at({0, 1000, 2000, 3000});
    Window window = select_window(trace, {.from = "1000", .repeats = 0});
    const double before = offered_load(trace, window, 1);
    jitter_arrivals(trace, window, Rng(9).split(replica), 0, 0.04);
    const double ratio = offered_load(trace, window, 1) / before;
    lowest = std::min(lowest, ratio);
    highest = std::max(highest, ratio);
  }
  // Rounding to microseconds adds 1e-9.
  EXPECT_GE(lowest, 0.96 - 1e-8);
  EXPECT_LE(highest, 1.04 + 1e-8);
  EXPECT_LT(lowest, 0.965);
  EXPECT_GT(highest, 1.035);
}

}  // namespace
}  // namespace yard
