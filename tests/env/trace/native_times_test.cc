// Times in tables of other programs: units in the names of columns, jobs that never ran, clocks
// that were put back, missing run times, and times from different zeros. CSV and JSONL read them
// alike.
#include "env/trace/formats/native_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/formats/native.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBerlin = "zone=CET-1CEST,M3.5.0,M10.5.0/3";

Trace read_times(const std::string& text, const std::vector<std::string>& settings = {}) {
  LoadOptions options;
  for (const std::string& setting : settings) options.settings.overlay(setting);
  return parse_trace(text, "t", options);
}

std::string times_error(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    read_times(text, settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> notices(const Trace& trace) {
  std::vector<std::string> out;
  for (const CountedRows& notice : trace.notices) out.push_back(notice.reason);
  return out;
}

std::vector<std::string> left_out_times(const Trace& trace) {
  std::vector<std::string> out;
  for (const CountedRows& skipped : trace.skipped) {
    out.push_back(std::to_string(skipped.count) + " x " + skipped.reason);
  }
  return out;
}

std::vector<std::string> ids(const Trace& trace) {
  std::vector<std::string> out;
  for (const Job& job : trace.jobs) out.push_back(job.id);
  return out;
}

// The advice of the error message, as settings.
std::string advised(const std::string& error) {
  const size_t at = error.find("--columns ");
  return at == error.npos ? "" : "columns=" + error.substr(at + 10);
}

TEST(Units, AdvisedColumnsAreConverted) {
  const std::string minutes = "job_id,submit_min,duration_min,gpus\n1,0,60,1\n2,5,0.5,1\n";
  const std::string advice = advised(times_error(minutes));
  EXPECT_EQ(advice, "columns=submit_s=submit_min,run_s=duration_min");
  const Trace trace = read_times(minutes, {advice});
  EXPECT_EQ(trace.jobs.at(0).run_us, 3600 * kUsPerS);
  EXPECT_EQ(trace.jobs.at(1).submit_us, 300 * kUsPerS);
  EXPECT_EQ(trace.jobs.at(1).run_us, 30 * kUsPerS);
  EXPECT_THAT(notices(trace),
              ElementsAre("`submit_min` is in minutes by its name: converted to seconds for "
                          "submit_s",
                          "`duration_min` is in minutes by its name: converted to seconds for "
                          "run_s"));
  const std::string ms = "job_id,submit_ms,run_ms,gpus\n1,0,60000,1\n";
  EXPECT_EQ(read_times(ms, {advised(times_error(ms))}).jobs.at(0).run_us, 60 * kUsPerS);
}

TEST(Units, KeysAreConvertedLikeColumns) {
  const std::string text =
      "{\"job_id\":1,\"submit_ms\":1500,\"duration_min\":60,\"gpus\":1,\"limit_h\":\"2\"}\n"
      "{\"job_id\":2,\"submit_ms\":2500,\"duration_min\":\"00:30:00\",\"gpus\":1}\n";
  const std::string advice = advised(times_error(text));
  EXPECT_EQ(advice, "columns=submit_s=submit_ms,run_s=duration_min");
  const Trace trace = read_times(text, {advice + ",limit_s=limit_h"});
  EXPECT_EQ(trace.jobs.at(0).submit_us, 1'500'000);
  EXPECT_EQ(trace.jobs.at(0).run_us, 3600 * kUsPerS);
  EXPECT_EQ(trace.jobs.at(0).limit_us, 7200 * kUsPerS);
  EXPECT_EQ(trace.jobs.at(1).run_us, 1800 * kUsPerS) << "a clock time has its own unit";
  EXPECT_EQ(trace.notices.size(), 3u) << "one for each key";
  EXPECT_THAT(times_error("{\"job_id\":1,\"submit_s\":0,\"run_h\":\"x\",\"gpus\":1}\n",
                          {"columns=run_s=run_h"}),
              HasSubstr("t:1: key run_h: expected 0 to 1111111 h, got 'x'"));
}

TEST(Units, MillisecondsSince1970DoNotChangeOtherColumns) {
  const std::string text = "job_id,submit_time,duration_ms,gpus\n1,1714989600250,60000,1\n";
  const Trace named = read_times(text, {"columns=submit_s=submit_time,run_s=duration_ms"});
  EXPECT_EQ(named.jobs.at(0).run_us, 60 * kUsPerS);
  EXPECT_THAT(notices(named),
              ElementsAre("`duration_ms` is in milliseconds by its name: converted to seconds for "
                          "run_s",
                          "submissions, starts and ends are read as milliseconds since 1970; time "
                          "0 is the first submission"));
  const Trace plain = read_times("job_id,submit_s,run_s,gpus\n1,1714989600250,60,1\n");
  EXPECT_EQ(plain.jobs.at(0).run_us, 60 * kUsPerS);
  const Trace both =
      read_times("job_id,created_ms,run_s,gpus,start_ms\n1,1714989600250,9,1,1714989601250\n",
                 {"columns=submit_s=created_ms,start_s=start_ms"});
  EXPECT_EQ(both.jobs.at(0).logged_start_us, 1'250'000);
}

TEST(Units, OtherFormatsRefuseAnotherUnit) {
  const std::string text = "job_id,submission_time,duration_min,num_gpu\n1,0,60,1\n";
  EXPECT_THAT(times_error(text, {"columns=duration=duration_min"}),
              HasSubstr("--columns duration=duration_min: expected a column in the unit of "
                        "duration in the format itp, got one in minutes by its name"));
  EXPECT_EQ(read_times("job_id,submission_time,secs,gpu_min\n1,0,60,1\n",
                       {"columns=duration=secs,num_gpu=gpu_min"})
                .jobs.at(0)
                .gpus,
            1)
      << "no time";
}

TEST(Starts, AreSuggestedInOtherSpellings) {
  const auto advice = [](const std::string& names) { return advised(times_error(names + "\n")); };
  EXPECT_EQ(advice("job_id,submit_s,StartTime,EndTime,gpus"),
            "columns=start_s=StartTime,end_s=EndTime");
  EXPECT_EQ(advice("job_id,submit_s,started_at,finished_at,gpus,status"),
            "columns=start_s=started_at,end_s=finished_at");
  EXPECT_EQ(advice("id,created_at,started_at,finished_at,gpus"),
            "columns=job_id=id,submit_s=created_at,start_s=started_at,end_s=finished_at");
  EXPECT_EQ(advice("job_id,submit_s,start_time,finished_at,gpus"), "columns=end_s=finished_at");
  EXPECT_EQ(advice("job_id,submit_s,started_at,finished_at,duration,gpus"),
            "columns=run_s=duration");
  const std::string text = "job_id,submit_s,StartTime,EndTime,gpus\n1,0,5,65,1\n";
  EXPECT_EQ(read_times(text, {advised(times_error(text))}).jobs.at(0).run_us, 60 * kUsPerS);
}

TEST(Gpus, AreNotSuggestedAsAnotherQuantity) {
  for (const char* other : {"cpus", "num_cpu", "gpu_hours", "gpus_per_node", "gpu_util"}) {
    EXPECT_EQ(advised(times_error("job_id,submit_s,run_s," + std::string(other) + "\n")),
              "columns=gpus=COLUMN")
        << other;
  }
  EXPECT_EQ(advised(times_error("job_id,submit_s,run_s,num_gpu\n")), "columns=gpus=num_gpu");
}

TEST(UnstartedJobs, AreLeftOut) {
  const Trace trace = read_times(
      "job_id,submit_s,run_s,start_s,end_s,gpus,status\n"
      "1,0,600,0,600,8,COMPLETED\n"
      "2,10,0,,,8,CANCELLED\n"
      "3,20,600,600,1200,8,COMPLETED\n"
      "4,10,0,590,590,8,CANCELLED by 1000\n"
      "5,10,0,590,590,8,FAILED\n"
      "6,10,0,,,8,\n"
      "7,10,5,590,595,8,CANCELLED\n"
      "8,10,,,,8,CANCELLED\n"
      "9,10,,600,,8,RUNNING\n");
  EXPECT_THAT(ids(trace), ElementsAre("1", "5", "7", "3"));
  EXPECT_THAT(left_out_times(trace), ElementsAre("4 x never started", "1 x has not ended"));
  // The same without a column of run times.
  const Trace from_ends = read_times(
      "job_id,submit_s,start_s,end_s,gpus,status\n"
      "1,0,300,7500,8,COMPLETED\n"
      "2,60,172860,172860,8,CANCELLED\n"
      "3,60,172860,172860,8,FAILED\n"
      "4,60,172860,172861,8,CANCELLED\n");
  EXPECT_THAT(ids(from_ends), ElementsAre("1", "3", "4"));
  EXPECT_THAT(left_out_times(from_ends), ElementsAre("1 x never started"));
  const Trace bare =
      read_times("job_id,submit_s,run_s,gpus,status\n1,0,0,1,cancelled\n2,0,0,1,FAILED\n");
  EXPECT_THAT(ids(bare), ElementsAre("2"));
  const Trace json = read_times(
      "{\"job_id\":1,\"submit_s\":0,\"run_s\":0,\"gpus\":1,\"status\":\"Canceled\"}\n"
      "{\"job_id\":2,\"submit_s\":0,\"start_s\":null,\"end_s\":null,\"gpus\":1}\n"
      "{\"job_id\":3,\"submit_s\":0,\"run_s\":null,\"gpus\":1}\n"
      "{\"job_id\":4,\"submit_s\":0,\"start_s\":5,\"end_s\":null,\"gpus\":1}\n");
  EXPECT_THAT(ids(json), ElementsAre("3")) << "its run time may come from a profile";
  EXPECT_THAT(left_out_times(json), ElementsAre("2 x never started", "1 x has not ended"));
}

TEST(RunTimeModel, FollowFromStartAndEnd) {
  const Trace csv =
      read_times("job_id,submit_s,run_s,start_s,end_s,gpus\n1,0,,5,65,1\n2,0,7,5,65,1\n3,0,,,,1\n");
  EXPECT_THAT(ids(csv), ElementsAre("1", "2"));
  EXPECT_EQ(csv.jobs[0].run_us, 60 * kUsPerS);
  EXPECT_EQ(csv.jobs[1].run_us, 7 * kUsPerS);
  const Trace json = read_times(
      "{\"job_id\":1,\"submit_s\":0,\"run_s\":null,\"start_s\":5,\"end_s\":65,\"gpus\":1}\n");
  EXPECT_EQ(json.jobs.at(0).run_us, 60 * kUsPerS);
  const Trace profiled =
      read_times("job_id,submit_s,run_s,start_s,end_s,gpus,iterations\n1,0,,,,1,100\n");
  EXPECT_EQ(profiled.jobs.at(0).run_us, Job::kFromProfile);
}

const std::string kAutumn = "job_id,submit_s,start_time,end_time,run_s,gpus\n";
const std::string kPutBack =
    "1,2024-10-27 02:10:00,2024-10-27 02:50:00,2024-10-27 02:10:00,1200,1\n";

TEST(RepeatedHour, LaterReadingOfTheEndIsChosen) {
  const auto expect = [](const Trace& trace) {
    EXPECT_EQ(trace.jobs.at(0).submit_us, 0);
    EXPECT_EQ(trace.jobs.at(0).logged_start_us, 2400 * kUsPerS);
    EXPECT_EQ(trace.jobs.at(0).logged_end_us, 3600 * kUsPerS);
    EXPECT_EQ(trace.jobs.at(0).run_us, 1200 * kUsPerS);
  };
  const Trace zoned = read_times(kAutumn + kPutBack, {kBerlin});
  expect(zoned);
  EXPECT_THAT(notices(zoned), IsEmpty());
  const Trace unzoned = read_times(kAutumn + kPutBack);
  expect(unzoned);
  EXPECT_THAT(notices(unzoned),
              ElementsAre(AllOf(HasSubstr("clocks were put back"), HasSubstr("trace.zone="))));
  const std::string derived =
      "job_id,submit_s,start_time,end_time,gpus\n"
      "1,2024-10-27 02:10:00,2024-10-27 02:50:00,2024-10-27 02:10:00,1\n";
  expect(read_times(derived, {kBerlin}));
  EXPECT_THAT(
      times_error(derived),
      HasSubstr("t:2: column 4 (end_time): expected end_time after the start (if clocks were "
                "put back in between, set the time zone, as in --set trace.zone=CET"));
  const std::string json =
      "{\"job_id\":1,\"submit_s\":\"2024-10-27 02:10:00\",\"start\":\"2024-10-27 02:50:00\","
      "\"end\":\"2024-10-27 02:10:00\",\"gpus\":1}\n";
  expect(read_times(json, {kBerlin}));
  EXPECT_THAT(times_error(json),
              HasSubstr("t:1: key end: expected end after the start (if clocks"));
}

TEST(Order, EndBeforeStartIsUnusable) {
  const std::string names = "job_id,submit_s,start_s,end_s,run_s,gpus\n";
  EXPECT_THAT(times_error(names + "1,0,100,50,600,1\n"),
              HasSubstr("t:2: column 4 (end_s): expected end_s after the start, got 50"));
  EXPECT_THAT(times_error(names + "1,10,,5,600,1\n"),
              HasSubstr("expected end_s after the submission, got 5"));
  EXPECT_THAT(times_error("{\"job_id\":1,\"submit_s\":0,\"logged_start_s\":100,\"logged_end_s\":50,"
                          "\"run_s\":600,\"gpus\":1}\n"),
              HasSubstr("t:1: key logged_end_s: expected logged_end_s after the start, got 50"));
  const Trace early = read_times(names + "1,100,10,50,40,1\n");
  EXPECT_EQ(early.jobs.at(0).logged_start_us, -1) << "as in SWF";
  EXPECT_THAT(notices(early),
              ElementsAre("starts before its submission: its logged times are not used"));
  const Trace hour = read_times(
      kAutumn + "1,2024-10-27 02:50:00,2024-10-27 02:10:00,2024-10-27 02:30:00,1200,1\n");
  EXPECT_THAT(notices(hour), ElementsAre(HasSubstr("set the time zone")));
}

TEST(Zeros, OfOneFileAreTheSame) {
  const std::string names = "job_id,submit_s,run_s,gpus\n";
  EXPECT_THAT(times_error(names + "1,0,60,1\n2,1714989601,60,1\n"),
              HasSubstr("t:3: column 2 (submit_s): expected submit_s in seconds from the trace's "
                        "zero, like the first submission, got '1714989601'"));
  EXPECT_THAT(times_error(names + "1,1714989601,60,1\n2,0,60,1\n"),
              HasSubstr("t:3: column 2 (submit_s): expected submit_s in seconds since 1970, like "
                        "the first submission, got '0'"));
  EXPECT_THAT(
      times_error("job_id,submit_s,start_s,end_s,gpus\n1,0,1714989660,1714989720,1\n"),
      HasSubstr("t:2: column 3 (start_s): expected start_s in seconds from the trace's zero"));
  EXPECT_THAT(times_error("job_id,submit_s,start_s,end_s,gpus\n1,1714989601,60,120,1\n"),
              HasSubstr("t:2: column 3 (start_s): expected start_s in seconds since 1970"));
  EXPECT_THAT(times_error("{\"job_id\":1,\"submit_s\":0,\"run_s\":1,\"gpus\":1}\n"
                          "{\"job_id\":2,\"submit_s\":1714989601,\"run_s\":1,\"gpus\":1}\n"),
              HasSubstr("t:2: key submit_s: expected seconds from the trace's zero, like the first "
                        "submission, got '1714989601'"));
  const Trace unstarted = read_times(
      "job_id,submit_s,start_s,end_s,gpus\n1,1714989601,0,0,1\n2,1714989601,1714989602,1714989603,"
      "1\n");
  EXPECT_THAT(ids(unstarted), ElementsAre("2")) << "0 is no time in 1970";
}

// What the rules above would change is marked by epoch_unix_s, and comes back as it was.
TEST(OwnFiles, AreReadAsTheyAreWritten) {
  Trace trace;
  trace.source = "t";
  const auto add = [&](int64_t run_s, int64_t submit_s, int64_t start_s, int64_t end_s,
                       const char* status) {
    Job& job = trace.jobs.emplace_back();
    job.id = std::to_string(trace.jobs.size());
    job.gpus = 1;
    job.run_us = run_s < 0 ? Job::kFromProfile : run_s * kUsPerS;
    job.submit_us = submit_s * kUsPerS;
    job.logged_start_us = start_s < 0 ? -1 : start_s * kUsPerS;
    job.logged_end_us = end_s < 0 ? -1 : end_s * kUsPerS;
    job.status = status;
  };
  const auto came_back = [](const Trace& given) {
    for (const std::string& text : {to_native_csv(given), to_native_jsonl(given)}) {
      EXPECT_EQ(to_native_csv(parse_trace(text, "back", {})), to_native_csv(given)) << text;
    }
  };
  add(60, 0, 5, 65, "COMPLETED");
  EXPECT_FALSE(needs_epoch_column(trace));
  came_back(trace);
  const Trace plain = trace;
  for (int which = 0; which < 7; ++which) {
    trace = plain;
    if (which == 0) add(0, 0, -1, -1, "CANCELLED");
    if (which == 1) add(0, 0, 7, 7, "cancelled by 5");
    if (which == 2) add(-1, 0, 5, 65, "");
    if (which == 3) add(-1, 0, -1, -1, "");
    if (which == 4) add(60, 100, 5, 65, "");
    if (which == 5) add(60, 0, 5, 1'714'989'601, "");
    if (which == 6) add(60, 100, -1, 65, "");
    EXPECT_TRUE(needs_epoch_column(trace)) << which;
    came_back(trace);
  }
}

}  // namespace
}  // namespace yard
