// Jobs from Slurm's accounting: jobs which never ran, several rows per job, clocks set back, the
// resources of a job, and settings without effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSacctHourUs = 3600 * kUsPerS;

Trace read_sacct(const std::string& text, const std::string& settings = "", bool skip = false) {
  LoadOptions options;
  options.skip_unusable = skip;
  if (!settings.empty()) options.settings.overlay(settings);
  return parse_trace(text, "log", options);
}

std::string sacct_jobs_error(const std::string& text, const std::string& settings = "") {
  try {
    read_sacct(text, settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::map<std::string, int64_t> left_out(const Trace& trace) {
  std::map<std::string, int64_t> out;
  for (const CountedRows& skipped : trace.skipped) out[skipped.reason] = skipped.count;
  return out;
}

std::map<std::string, Job> jobs_by_id(const Trace& trace) {
  std::map<std::string, Job> jobs;
  for (const Job& job : trace.jobs) jobs[job.id] = job;
  return jobs;
}

// Rows of a log with clock times of 2024-05-06.
const std::string kHead = "JobID|User|Submit|Start|End|Elapsed|State|AllocTRES\n";
std::string row(const std::string& id, const std::string& user, const std::string& submit,
                const std::string& start, const std::string& end, const std::string& elapsed,
                const std::string& state, const std::string& tres) {
  const auto date = [](const std::string& time) {
    return time.size() == 5 ? "2024-05-06T" + time + ":00" : time;
  };
  return id + "|" + user + "|" + date(submit) + "|" + date(start) + "|" + date(end) + "|" +
         elapsed + "|" + state + "|" + tres + "\n";
}
const std::string kRan =
    row("99", "z", "09:00", "09:05", "10:05", "01:00:00", "COMPLETED", "gres/gpu=1");

TEST(SacctUnstartedJob, IsRecognisedInEverySpelling) {
  for (const char* state : {"CANCELLED", "CANCELLED by 1000", "CANCELLED+", "cancelled by 7", "CA",
                            "DEADLINE", "FAILED", "NODE_FAIL", "BOOT_FAIL", "TIMEOUT"}) {
    const Trace trace =
        read_sacct(kHead + kRan + row("1", "u", "10:00", "12:00", "12:00", "00:00:00", state, ""));
    ASSERT_EQ(trace.jobs.size(), 1u) << state;
    EXPECT_EQ(left_out(trace), (std::map<std::string, int64_t>{{"never started", 1}})) << state;
  }
  for (const char* start : {"Unknown", "None", "N/A", "", "2024-05-09T00:00:00"}) {
    const Trace trace = read_sacct(
        kHead + kRan + row("1", "u", "10:00", start, "12:00", "00:00:00", "CANCELLED by 0", ""));
    EXPECT_EQ(trace.jobs.size(), 1u) << start;
  }
}

TEST(SacctUnstartedJob, JobsThatHeldResourcesAreKept) {
  for (const char* state : {"CANCELLED by 1000", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"}) {
    const std::string short_run =
        row("1", "u", "10:00", "12:00", "12:00", "00:00:00", state, "gres/gpu=1");
    const std::string long_run =
        row("2", "u", "10:00", "12:00", "13:00", "01:00:00", state, "gres/gpu=1");
    EXPECT_EQ(read_sacct(kHead + short_run + long_run).jobs.size(), 2u) << state;
  }
  EXPECT_EQ(
      read_sacct("JobID|Submit|Start|End|Elapsed|State|NNodes|ReqTRES\n"
                 "1|2024-05-06T10:00:00|2024-05-06T10:00:00|2024-05-06T10:00:00|00:00:00|FAILED|1|"
                 "gres/gpu=1\n")
          .jobs.size(),
      1u)
      << "no column has the allocation";
}

TEST(SacctUnstartedJob, IsRecognisedFromAnyColumns) {
  const std::string ran = "9|2024-05-06T10:00:00|01:00:00|COMPLETED|";
  const std::string not_ran = "1|2024-05-06T10:00:00|00:00:00|CANCELLED|";
  EXPECT_EQ(
      read_sacct("JobID|Submit|Elapsed|State|AllocTRES\n" + ran + "gres/gpu=1\n" + not_ran + "\n")
          .jobs.size(),
      1u);
  EXPECT_EQ(read_sacct("JobID|Submit|Elapsed|State|ReqTRES\n" + ran + "gres/gpu=1\n" + not_ran +
                       "gres/gpu=1\n")
                .jobs.size(),
            1u);
  EXPECT_EQ(read_sacct("JobID|Submit|Elapsed|State|ReqTRES|NodeList\n" + ran + "gres/gpu=1|n1\n" +
                       not_ran + "gres/gpu=1|None assigned\n")
                .jobs.size(),
            1u);
  EXPECT_EQ(read_sacct("JobID|Submit|ElapsedRaw|AllocTRES\n9|2024-05-06T10:00:00|60|gres/gpu=1\n"
                       "1|2024-05-06T10:00:00|0|\n")
                .jobs.size(),
            1u)
      << "without State";
}

TEST(SacctRuns, RunsOfARequeuedJobAreOneJob) {
  for (const char* state : {"REQUEUED", "PREEMPTED", "NODE_FAIL", "FAILED"}) {
    const std::string first =
        row("7", "u", "10:00", "10:05", "11:05", "01:00:00", state, "gres/gpu=1");
    const std::string last =
        row("7", "u", "11:06", "13:00", "16:00", "03:00:00", "COMPLETED", "gres/gpu=1");
    for (const std::string& text : {first + kRan + last, last + kRan + first}) {
      const Trace trace = read_sacct(kHead + text);
      ASSERT_EQ(trace.jobs.size(), 2u) << state;
      const Job job = jobs_by_id(trace).at("7");
      EXPECT_EQ(job.submit_us, kSacctHourUs) << "its first row's";
      EXPECT_EQ(job.logged_start_us, kSacctHourUs + 300 * kUsPerS);
      EXPECT_EQ(job.logged_end_us, 7 * kSacctHourUs);
      EXPECT_EQ(job.run_us, 3 * kSacctHourUs) << "its last run's";
      EXPECT_EQ(job.status, "COMPLETED");
      EXPECT_EQ(left_out(trace).at("earlier run of a requeued job, joined to the last run"), 1);
    }
  }
}

TEST(SacctRuns, PendingRequeuedJobIsSkipped) {
  const std::string first =
      row("7", "u", "10:00", "10:05", "11:05", "01:00:00", "PREEMPTED", "gres/gpu=1");
  const std::string next = row("7", "u", "11:06", "Unknown", "Unknown", "00:00:00", "PENDING", "");
  EXPECT_EQ(read_sacct(kHead + kRan + first + next).jobs.size(), 1u);
  EXPECT_EQ(read_sacct(kHead + kRan + first).jobs.size(), 2u) << "preempted for good";
  const std::string taken_back =
      row("7", "u", "11:06", "12:00", "12:00", "00:00:00", "CANCELLED by 7", "");
  const Trace trace = read_sacct(kHead + kRan + first + taken_back);
  EXPECT_EQ(jobs_by_id(trace).at("7").run_us, kSacctHourUs) << "the time it held GPUs";
}

TEST(SacctRuns, ResizedJobIsSplitIntoParts) {
  const auto resized = [](const char* before, const char* at, const char* long1, const char* long2,
                          const char* after) {
    return jobs_by_id(read_sacct(kHead +
                                 row("7", "u", "10:00", "10:05", at, long1, "RESIZING", before) +
                                 row("7", "u", "10:00", at, "14:05", long2, "COMPLETED", after)))
        .at("7");
  };
  const Job shrunk = resized("gres/gpu=8", "13:05", "03:00:00", "01:00:00", "gres/gpu=4");
  EXPECT_EQ(shrunk.run_us, 4 * kSacctHourUs);
  EXPECT_EQ(shrunk.logged_start_us, 300 * kUsPerS);
  EXPECT_EQ(shrunk.gpus, 8) << "28 GPU hours are nearer to 32 than to 16";
  EXPECT_EQ(shrunk.groups.at(0).task.gpus, 8);
  EXPECT_EQ(resized("gres/gpu=4", "13:05", "03:00:00", "01:00:00", "gres/gpu=8").gpus, 4);
  EXPECT_EQ(resized("gres/gpu=4", "11:05", "01:00:00", "03:00:00", "gres/gpu=8").gpus, 8);
}

TEST(SacctRuns, DuplicateRunCountsOnce) {
  const std::string running =
      row("7", "u", "10:00", "10:05", "Unknown", "01:00:00", "RUNNING", "gres/gpu=1");
  const std::string ended =
      row("7", "u", "10:00", "10:05", "16:05", "06:00:00", "COMPLETED", "gres/gpu=1");
  const Trace trace = read_sacct(kHead + running + ended + ended);
  ASSERT_EQ(trace.jobs.size(), 1u) << "two months' logs, both with the job in them";
  EXPECT_EQ(left_out(trace),
            (std::map<std::string, int64_t>{{"earlier state of a job that has ended in the log", 1},
                                            {"duplicate row of a run", 1}}));
  const std::string other =
      row("7", "u", "10:00", "10:30", "12:05", "01:35:00", "COMPLETED", "gres/gpu=1");
  EXPECT_THAT(sacct_jobs_error(kHead + ended + other), HasSubstr("a unique job id"));
}

TEST(SacctRuns, ReusedJobNumberIsAnotherJob) {
  const std::string first =
      row("5_1", "u", "10:00", "10:05", "11:05", "01:00:00", "FAILED", "gres/gpu=1");
  for (const char* user : {"u", "v"}) {
    const Trace trace =
        read_sacct(kHead + first +
                   row("5_1", user, "2025-07-01T00:00:00", "2025-07-01T00:10:00",
                       "2025-07-01T01:10:00", "01:00:00", "COMPLETED", "gres/gpu=2"));
    ASSERT_EQ(trace.jobs.size(), 2u) << user;
    EXPECT_EQ(trace.jobs[0].id, "5_1");
    EXPECT_EQ(trace.jobs[1].id, "5_1#2");
    EXPECT_EQ(trace.jobs[1].array, "5#2");
    ASSERT_EQ(trace.notices.size(), 1u);
    EXPECT_EQ(format_row_notice(trace.notices[0]),
              "job number reused: the later job's id ends in #2 (1 row, at log:3)");
  }
}

TEST(SacctClusters, JobsOfDifferentClustersAreDistinct) {
  const std::string head = "Cluster|JobID|Submit|Elapsed|State|AllocTRES\n";
  const std::string rest = "|7|2024-05-06T10:00:00|01:00:00|COMPLETED|gres/gpu=1\n";
  const std::string text = head + "alpha" + rest + "beta" + rest;
  const Trace both = read_sacct(text);
  ASSERT_EQ(both.jobs.size(), 2u);
  EXPECT_EQ(both.jobs[0].id, "alpha/7");
  EXPECT_EQ(both.jobs[1].id, "beta/7");
  ASSERT_EQ(both.notices.size(), 1u);
  EXPECT_THAT(both.notices[0].reason, HasSubstr("trace.cluster=NAME"));
  const Trace one = read_sacct(text, "cluster=beta");
  ASSERT_EQ(one.jobs.size(), 1u);
  EXPECT_EQ(one.jobs[0].id, "7");
  EXPECT_EQ(left_out(one).at("job of another cluster"), 1);
  EXPECT_TRUE(read_sacct(head + "alpha" + rest).notices.empty());
  EXPECT_THAT(sacct_jobs_error(text, "cluster=gamma"),
              HasSubstr("expected one of: 'alpha', 'beta'"));
  EXPECT_THAT(sacct_jobs_error(head + "alpha" + rest + rest, "cluster=gamma"),
              HasSubstr("expected one of: 'alpha', got 'gamma'"))
      << "an empty name would select all";
  EXPECT_THAT(sacct_jobs_error(head + rest, "cluster=gamma"),
              HasSubstr("names in the column Cluster"));
}

TEST(SacctTimes, JobArrivesWhenEligible) {
  const std::string text =
      "JobID|Submit|Eligible|Start|End|Elapsed|State|AllocTRES\n"
      "1|2024-05-06T10:00:00|2024-05-06T12:00:00|2024-05-06T12:01:00|2024-05-06T13:01:00|01:00:00|"
      "COMPLETED|gres/gpu=1\n"
      "2|2024-05-06T10:00:00|Unknown|2024-05-06T12:01:00|2024-05-06T13:01:00|01:00:00|COMPLETED|"
      "gres/gpu=1\n"
      "3|2024-05-06T10:00:00|2024-05-06T12:30:00|2024-05-06T12:01:00|2024-05-06T13:01:00|01:00:00|"
      "COMPLETED|gres/gpu=1\n";
  const auto jobs = jobs_by_id(read_sacct(text));
  EXPECT_EQ(jobs.at("1").submit_us, 2 * kSacctHourUs);
  EXPECT_EQ(jobs.at("2").submit_us, 0);
  EXPECT_EQ(jobs.at("3").submit_us, jobs.at("3").logged_start_us) << "changed while it ran";
  EXPECT_EQ(jobs_by_id(read_sacct(text, "arrival=Submit")).at("1").submit_us, 0);
}

TEST(SacctTimes, ElapsedResolvesARepeatedHour) {
  const std::string text =
      "JobID|Submit|Start|End|Elapsed|State|AllocTRES\n"
      "1|2024-10-27T01:30:00|2024-10-27T02:50:00|2024-10-27T02:10:00|00:20:00|COMPLETED|gres/"
      "gpu=1\n"
      "2|2024-10-27T01:30:00|2024-10-27T02:10:00|2024-10-27T02:20:00|00:10:00|COMPLETED|gres/"
      "gpu=1\n"
      "3|2024-10-27T01:30:00|2024-10-27T01:40:00|2024-10-27T02:20:00|00:40:00|COMPLETED|gres/"
      "gpu=1\n"
      "4|2024-10-27T02:50:00|2024-10-27T02:55:00|2024-10-27T02:05:00|00:10:00|COMPLETED|gres/"
      "gpu=1\n"
      "5|2024-10-27T01:30:00|2024-10-27T01:40:00|2024-10-27T05:40:00|05:00:00|COMPLETED|gres/"
      "gpu=1\n";
  const auto jobs = jobs_by_id(read_sacct(text, "zone=CET-1CEST,M3.5.0,M10.5.0/3"));
  const auto ran = [&](const char* id) {
    return jobs.at(id).logged_end_us - jobs.at(id).logged_start_us;
  };
  for (const auto& [id, job] : jobs) EXPECT_EQ(ran(id.c_str()), job.run_us) << id;
  EXPECT_EQ(jobs.at("3").logged_end_us, 50 * 60 * kUsPerS) << "02:20 of summer time";
  EXPECT_EQ(jobs.at("2").logged_start_us, 100 * 60 * kUsPerS) << "either is correct";
  EXPECT_EQ(jobs.at("4").submit_us, 80 * 60 * kUsPerS);
  // Without a time zone, Elapsed reveals that the clock was set back.
  const Trace trace = read_sacct(text);
  EXPECT_EQ(jobs_by_id(trace).at("1").logged_end_us, 100 * 60 * kUsPerS);
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_EQ(trace.notices[0].count, 3);
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("--set trace.zone="));
}

TEST(SacctTimes, SkippedHourIsHandled) {
  const std::string text =
      "JobID|Submit|Start|End|Elapsed|State|AllocTRES\n"
      "1|2024-03-31T01:00:00|2024-03-31T02:50:00|2024-03-31T03:10:00|00:20:00|COMPLETED|gres/"
      "gpu=1\n"
      "2|2024-03-31T01:00:00|2024-03-31T01:50:00|2024-03-31T03:10:00|00:20:00|COMPLETED|gres/"
      "gpu=1\n";
  const Trace trace = read_sacct(text, "zone=CET-1CEST,M3.5.0,M10.5.0/3");
  for (const Job& job : trace.jobs) {
    EXPECT_EQ(job.logged_end_us - job.logged_start_us, 20 * 60 * kUsPerS) << job.id;
  }
}

TEST(SacctTimes, ContradictoryElapsedGivesANotice) {
  const auto notices = [](const char* elapsed) {
    std::vector<std::string> out;
    for (const CountedRows& notice : read_sacct(kHead + row("1", "u", "10:00", "10:05", "10:15",
                                                            elapsed, "COMPLETED", "gres/gpu=1"))
                                         .notices) {
      out.push_back(notice.reason);
    }
    return out;
  };
  EXPECT_THAT(notices("01:40:00"),
              ElementsAre("Elapsed is longer than the time from Start to End: Elapsed is used"));
  EXPECT_THAT(notices("00:05:00"),
              ElementsAre("Elapsed is shorter than the time from Start to End, as for a suspended "
                          "job or across a clock change: Elapsed is used"));
  EXPECT_THAT(notices("00:10:00"), IsEmpty());
  EXPECT_THAT(notices("00:10:01"), IsEmpty()) << "rounded";
}

TEST(SacctTimes, MayHaveAnOffset) {
  const Trace trace = read_sacct(
      "JobID|Submit|Start|End|Elapsed|AllocTRES\n"
      "1|2024-05-06T10:00:00+02:00|2024-05-06T10:10:00+0200|2024-05-06T08:20:00Z|00:10:00|"
      "gres/gpu=1\n");
  EXPECT_EQ(trace.epoch_unix_s, 1714982400);
  EXPECT_EQ(trace.jobs[0].logged_end_us, 20 * 60 * kUsPerS);
}

const std::string kHeld = "JobID|Submit|Elapsed|State|NNodes|ReqTRES|AllocTRES\n";
std::string held(const std::string& asked, const std::string& given, int nodes = 1) {
  return "1|2024-05-06T10:00:00|01:00:00|COMPLETED|" + std::to_string(nodes) + "|" + asked + "|" +
         given + "\n";
}

TEST(SacctRequests, ExclusiveJobHoldsItsNodes) {
  const std::string text = kHeld + held("cpu=4,gres/gpu=1,mem=16G,node=1",
                                        "cpu=64,gres/gpu:a100=8,gres/gpu=8,mem=500G,node=1");
  const Trace trace = read_sacct(text);
  EXPECT_EQ(trace.jobs[0].gpus, 8);
  EXPECT_TRUE(trace.jobs[0].gpu_types.empty()) << "none was requested";
  EXPECT_EQ(trace.jobs[0].groups.at(0).task,
            (Resources{.gpus = 8, .cpu_milli = 64000, .mem_mib = 512000}));
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("--set trace.gpus=requested"));
  const Trace asked = read_sacct(text, "gpus=requested");
  EXPECT_EQ(asked.jobs[0].gpus, 1);
  EXPECT_TRUE(asked.notices.empty());
  EXPECT_EQ(read_sacct(kHeld + held("gres/gpu=2", "cpu=4,node=1")).jobs[0].gpus, 2)
      << "the allocation has no GPUs";
}

TEST(SacctRequests, MissingGpuCountsGiveOneNotice) {
  const std::string text = kHeld + held("cpu=4,node=2", "cpu=4,node=2", 2);
  const Trace trace = read_sacct(text);
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("no row counts GPUs"));
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("--set trace.gpus_per_node=N"));
  const Trace counted = read_sacct(text, "gpus_per_node=4");
  EXPECT_EQ(counted.jobs[0].gpus, 8);
  EXPECT_TRUE(counted.notices.empty());
}

TEST(SacctRequests, GpuSlicesAreFractions) {
  const auto job = [](const std::string& tres, const std::string& settings = "") {
    return read_sacct(kHeld + held(tres, tres), settings).jobs.at(0);
  };
  const Job slice = job("cpu=2,gres/gpu=1,gres/gpu:a100_1g.5gb=1,node=1");
  EXPECT_EQ(slice.gpus, 1);
  EXPECT_EQ(slice.groups.at(0).task, (Resources{.gpu_milli = 142, .cpu_milli = 2000}));
  EXPECT_EQ(slice.gpu_types, std::vector<std::string>{"a100"});
  const Job both = job("gres/gpu=3,gres/gpu:a100=1,gres/gpu:a100_3g.20gb=2,node=1");
  EXPECT_EQ(both.gpus, 2);
  ASSERT_EQ(both.groups.size(), 2u);
  EXPECT_EQ(both.groups[1].count, 2);
  EXPECT_EQ(both.groups[1].task.gpu_milli, 428);
  EXPECT_EQ(job("gres/mps=25,node=1").groups.at(0).task.gpu_milli, 250);
  EXPECT_EQ(job("gres/mps=200,node=1").gpus, 2);
  EXPECT_EQ(job("gres/shard=3,node=1", "shards_per_gpu=4").groups.at(0).task.gpu_milli, 750);
  EXPECT_EQ(job("gres/shard=3,node=1").gpus, 1) << "at most";
  EXPECT_THAT(read_sacct(kHeld + held("gres/shard=3", "gres/shard=3")).notices.at(0).reason,
              HasSubstr("--set trace.shards_per_gpu=N"));
  EXPECT_EQ(job("gres/gpu=4,gres/gpu:a100=4").gpus, 4) << "the same four";
}

TEST(SacctSettings, AreRejectedWithoutEffect) {
  const std::string text = kHeld + held("gres/gpu=1", "gres/gpu=1");
  EXPECT_THAT(sacct_jobs_error(text, "tenant=QOS"),
              HasSubstr("trace.tenant: expected a log with the "
                        "column QOS"));
  EXPECT_THAT(sacct_jobs_error(text, "tenant=Partition"), HasSubstr("column Partition"));
  EXPECT_THAT(sacct_jobs_error(text, "cluster=alpha"), HasSubstr("column Cluster"));
  EXPECT_THAT(sacct_jobs_error(text, "arrival=Eligible"), HasSubstr("column Eligible"));
  EXPECT_THAT(sacct_jobs_error(text, "shards_per_gpu=4"), HasSubstr("gres/shard"));
  EXPECT_THAT(
      sacct_jobs_error("JobID|Submit|Elapsed|ReqTRES\n1|5|01:00|gres/gpu=1\n", "gpus=allocated"),
      HasSubstr("column AllocTRES"));
  EXPECT_THAT(sacct_jobs_error("JobID|Submit|Elapsed|ReqTRES\n1|1714989600|01:00|gres/gpu=1\n",
                               "zone=CET-1CEST,M3.5.0,M10.5.0/3"),
              HasSubstr("trace.zone: expected a log with dates"));
  EXPECT_EQ(read_sacct(text, "arrival=Submit").jobs.size(), 1u) << "as by default";
}

}  // namespace
}  // namespace yard
