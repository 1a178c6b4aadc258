// The Standard Workload Format: the meaning of its fields, and errors for unusable rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

std::string swf_error(const std::string& text) {
  try {
    parse_trace(text, "log.swf", {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Swf, FieldsBecomeAJob) {
  const Trace trace = parse_trace(
      "; Version: 2.2\r\n"
      ";\r\n"
      "\r\n"
      "  12\t100 5   3600 64 3500.5 -1 128 7200 -1 1 3 4 17 2 1 -1 -1\r\n"
      "11 100 -1 0 8 -1 -1 -1 -1 -1 0 -1 4 -1 -1 -1 -1 -1\r\n"
      "10 0 0 1.5 8 -1 -1 8 0 -1 -1 -1 -1 -1 -1 -1 -1 -1\r\n",
      "log.swf", {});
  EXPECT_EQ(trace.format, "swf");
  ASSERT_EQ(trace.jobs.size(), 3u);
  const Job& full = trace.jobs[1];
  EXPECT_EQ(full.id, "12");
  EXPECT_EQ(full.line, 4);
  EXPECT_EQ(full.submit_us, 100 * kUsPerS);
  EXPECT_EQ(full.run_us, 3600 * kUsPerS);
  EXPECT_EQ(full.gpus, 128) << "the larger of those allocated and requested";
  EXPECT_EQ(full.limit_us, 7200 * kUsPerS);
  EXPECT_EQ(full.logged_start_us, 105 * kUsPerS);
  EXPECT_EQ(full.logged_end_us, 3705 * kUsPerS);
  EXPECT_EQ(full.status, "1");
  EXPECT_EQ(full.user, "3");
  EXPECT_EQ(full.name, "17");
  EXPECT_EQ(full.tenant, "queue2");
  const Job& bare = trace.jobs[2];
  EXPECT_EQ(bare.id, "11") << "simultaneous jobs keep their order";
  EXPECT_EQ(bare.run_us, 0);
  EXPECT_EQ(bare.gpus, 8);
  EXPECT_EQ(bare.limit_us, -1);
  EXPECT_EQ(bare.logged_start_us, -1);
  EXPECT_EQ(bare.user, "");
  EXPECT_EQ(bare.tenant, "group4");
  EXPECT_EQ(trace.jobs[0].run_us, 1'500'000);
  EXPECT_EQ(trace.jobs[0].limit_us, -1) << "0 is an unknown request, as -1 is";
  EXPECT_EQ(trace.jobs[0].tenant, "");
}

TEST(Swf, UnusableRowsAreNamedAndCounted) {
  const std::string good = "1 0 0 10 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
  const auto row = [](const std::string& begin) { return begin + " -1 -1 1 1 1 -1 -1 -1 -1 -1\n"; };
  const std::string no_run = row("2 5 0 -1 4 -1 -1 4"), no_processors = row("3 5 0 10 -1 -1 -1 0");
  EXPECT_THAT(swf_error(good + no_run + no_processors),
              HasSubstr("log.swf:2: expected a run time in seconds (--set trace.unknown_run_s=10 "
                        "sets one for such jobs), got -1 (first of 2 unusable"));
  const Trace trace =
      parse_trace(good + no_run + no_processors + no_run, "log.swf", {.skip_unusable = true});
  EXPECT_EQ(trace.jobs.size(), 1u);
  ASSERT_EQ(trace.skipped.size(), 2u);
  EXPECT_EQ(trace.skipped[0].reason, "unknown run time");
  EXPECT_EQ(trace.skipped[0].count, 2);
  EXPECT_EQ(trace.skipped[1].reason, "no GPUs");
  EXPECT_THAT(swf_error(good + row("2 5 0 10 many -1 -1 4")),
              HasSubstr("processors as a whole number"));
  EXPECT_THAT(swf_error(good + row("2 -5 0 10 4 -1 -1 4")),
              HasSubstr("submit time of at least 0 s"));
  EXPECT_THAT(swf_error(good + row("2 5 0 10 4 -1 -1")), HasSubstr("expected 18 fields, got 17"));
  EXPECT_THAT(swf_error(good + good), HasSubstr("a unique job id"));
}

// The users of an archive cannot correct it.
TEST(Swf, RowsThatEndBeforeTheyStartAreSkipped) {
  const std::string rest = " -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
  const Trace trace = parse_trace(
      "1 0 0 10 4 -1 -1 4" + rest + "2 5 0 -30 4 -1 -1 4" + rest + "3 9 -4 10 4 -1 -1 4" + rest,
      "log.swf", {});
  ASSERT_EQ(trace.jobs.size(), 2u);
  ASSERT_EQ(trace.skipped.size(), 1u);
  EXPECT_EQ(trace.skipped[0].reason, "ends before it starts: its run time is negative");
  EXPECT_EQ(trace.skipped[0].first, "log.swf:2");
  EXPECT_EQ(trace.jobs[1].id, "3") << "a negative wait drops only the logged times";
  EXPECT_EQ(trace.jobs[1].logged_start_us, -1);
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_EQ(trace.notices[0].reason, "starts before its submission: its logged times are not used");
}

Trace with(const std::string& text, std::initializer_list<const char*> settings,
           bool skip_unusable = false) {
  LoadOptions options{.skip_unusable = skip_unusable};
  for (const char* setting : settings) options.settings.overlay(setting);
  return parse_trace(text, "log.swf", options);
}

TEST(Swf, HeaderGivesCalendarAndMachineSize) {
  const std::string row = "1 0 0 10 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
  const Trace log = with(";  UnixStartTime:  893466664 \n; MaxNodes: 8\n;MaxProcs: 16\n" + row, {});
  EXPECT_EQ(log.epoch_unix_s, 893466664);
  EXPECT_EQ(log.machine_gpus, 16);
  EXPECT_EQ(with("; MaxNodes: 8\n; MaxProcs: -1\n" + row, {}).machine_gpus, 8);
  const Trace model = with("; UnixStartTime: 0\n; Note: x\n" + row + "; MaxProcs: 9\n", {});
  EXPECT_FALSE(model.epoch_unix_s.has_value());
  EXPECT_EQ(model.machine_gpus, 0) << "after the rows it is not a header";
}

TEST(Swf, PartialAndUnstartedJobsAreSkipped) {
  const Trace trace = with(
      "1 0 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "1 0 5 60 4 -1 -1 4 -1 -1 2 1 1 -1 -1 -1 -1 -1\n"
      "1 70 5 40 4 -1 -1 4 -1 -1 3 1 1 -1 -1 -1 -1 -1\n"
      "2 80 9 -1 -1 -1 -1 4 -1 -1 5 1 1 -1 -1 -1 -1 -1\n"
      "3 90 9 7 4 -1 -1 4 -1 -1 5 1 1 -1 -1 -1 -1 -1\n",
      {});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].run_us, 100 * kUsPerS) << "the summary row";
  EXPECT_EQ(trace.jobs[1].id, "3") << "cancelled while it ran";
  ASSERT_EQ(trace.skipped.size(), 2u);
  EXPECT_EQ(trace.skipped[0].reason, "a part of a job");
  EXPECT_EQ(trace.skipped[0].count, 2);
  EXPECT_EQ(trace.skipped[1].reason, "cancelled before it ran");
  EXPECT_EQ(trace.skipped[1].first, "log.swf:4");
}

TEST(Swf, JobWaitsForAPrecedingJobThatRan) {
  const std::string text =
      "1 0 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "2 80 9 -1 -1 -1 -1 4 -1 -1 5 1 1 -1 -1 -1 -1 -1\n"
      "3 90 9 7 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 1 60\n"
      "4 95 9 7 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 2 -1\n";
  const Trace trace = with(text, {});
  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.jobs[1].after, std::vector<std::string>{"1"});
  EXPECT_TRUE(trace.jobs[2].after.empty());
  EXPECT_TRUE(with(text, {"dependencies=false"}).jobs[1].after.empty());
}

TEST(Swf, UnknownValuesCanBeGiven) {
  const std::string text =
      "1 0 5 -1 4 -1 -1 8 -1 -1 5 1 7 -1 -1 3 -1 -1\n"
      "2 0 5 9 -1 -1 -1 8 -1 -1 0 1 7 -1 2 -1 -1 -1\n"
      "3 0 5 9 16 -1 -1 -1 -1 -1 0 1 7 -1 2 -1 -1 -1\n";
  const Trace trace = with(text, {"unknown_run_s=10"});
  ASSERT_EQ(trace.jobs.size(), 3u) << "cancelled or not";
  EXPECT_EQ(trace.jobs[0].run_us, 10 * kUsPerS);
  EXPECT_TRUE(trace.jobs[0].run_unknown);
  EXPECT_FALSE(trace.jobs[1].run_unknown);
  EXPECT_EQ(trace.jobs[0].logged_start_us, 5 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].logged_end_us, -1) << "its end was not logged";
  const auto gpus = [&](const char* processors) {
    std::vector<int32_t> out;
    for (const Job& job : with(text, {"unknown_run_s=10", processors}).jobs)
      out.push_back(job.gpus);
    return out;
  };
  EXPECT_EQ(gpus("processors=larger"), (std::vector<int32_t>{8, 8, 16}));
  EXPECT_EQ(gpus("processors=requested"), (std::vector<int32_t>{8, 8, 16}));
  EXPECT_EQ(gpus("processors=allocated"), (std::vector<int32_t>{4, 8, 16}));
  EXPECT_EQ(with(text, {"unknown_run_s=10", "tenant=partition"}).jobs[0].tenant, "partition3");
  EXPECT_EQ(with(text, {"unknown_run_s=10", "tenant=group"}).jobs[1].tenant, "group7");
  EXPECT_THAT(swf_error("1 0 5 -1 4 -1 -1 8 -1 -1 1 1 7 -1 -1 3 -1 -1\n"),
              HasSubstr("--set trace.unknown_run_s=10 sets one for such jobs"));
}

TEST(Swf, UnstartedJobsAreSkippedInEveryNotation) {
  const Trace trace = with(
      "1 0 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "2 5 9 0 16 -1 -1 16 -1 -1 5 1 1 -1 -1 -1 -1 -1\n"
      "3 5 9 0 0 -1 -1 -1 -1 -1 5 1 1 -1 -1 -1 -1 -1\n"
      "4 5 9 -1.0 -1 -1 -1 8 -1 -1 5 1 1 -1 -1 -1 -1 -1\n"
      "5 5 9 0.0 -1 -1 -1 0 -1 -1 0 1 1 -1 -1 -1 -1 -1\n"
      "6 5 9 0 4 -1 -1 4 -1 -1 0 1 1 -1 -1 -1 -1 -1\n",
      {});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[1].id, "6") << "it failed at once, on processors that it held";
  ASSERT_EQ(trace.skipped.size(), 2u);
  EXPECT_EQ(trace.skipped[0].count, 3);
  EXPECT_EQ(trace.skipped[1].reason, "never started");
}

TEST(Swf, JobWithAMissingPredecessorArrivesAtSubmission) {
  const Trace trace = with(
      "1 0 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "3 50 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 2 20\n"
      "4 60 5 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 3.0 10\n",
      {});
  EXPECT_TRUE(trace.jobs.at(1).after.empty());
  EXPECT_EQ(trace.jobs.at(2).after, std::vector<std::string>{"3"});
  ASSERT_EQ(trace.notices.size(), 2u);
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("1 job depends on a job that is not in the file"));
  EXPECT_THAT(trace.notices[1].reason, HasSubstr("think times of 2 jobs"));
}

TEST(Swf, PartialRowsWithoutASummaryAreMerged) {
  const Trace trace = with(
      "1 0 5 60 4 -1 -1 4 -1 -1 2 1 1 -1 -1 -1 -1 -1\n"
      "1 65 7 40 8 -1 -1 8 -1 -1 4 1 1 -1 -1 -1 -1 -1\n"
      "2 80 9 7 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 1 -1\n",
      {});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].run_us, 100 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].gpus, 8);
  EXPECT_EQ(trace.jobs[0].logged_start_us, 5 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].logged_end_us, 112 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].line, 1);
  EXPECT_EQ(trace.jobs[1].after, std::vector<std::string>{"1"}) << "it is an ordinary job";
}

TEST(Swf, UnknownTenantIsRejected) {
  const std::string row = "1 0 5 100 4 -1 -1 4 -1 -1 1 1 7 -1 -1 -1 -1 -1\n";
  EXPECT_EQ(with(row, {"tenant=group"}).jobs.at(0).tenant, "group7");
  EXPECT_THROW(with(row, {"tenant=partition"}), InputError);
}

TEST(Swf, LogOfCommentsHasNoJobs) {
  EXPECT_THAT(swf_error("; Version: 2.2\n;\n"), HasSubstr("expected at least one job"));
  EXPECT_THAT(swf_error("1 2 3\n"),
              HasSubstr("expected 18 fields of the Standard Workload Format, got 3 numbers"));
}

}  // namespace
}  // namespace yard
