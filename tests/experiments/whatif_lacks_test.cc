// What whatif reports as missing in a log, and logs which it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "experiments/whatif/limitations.h"
#include "tests/support/temp_file.h"

namespace yard::whatif {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Trace log_of(std::vector<Job> jobs) {
  Trace trace;
  trace.source = "log.txt";
  trace.jobs = std::move(jobs);
  return trace;
}

Job logged_job() {
  Job job;
  job.gpus = 1;
  job.logged_start_us = 0;
  job.run_us = 1'000'000;
  job.limit_us = 60'000'000;
  job.user = "ada";
  job.tenant = "gpu";
  job.priority = 3;
  return job;
}

TEST(WhatifLimitations, CompleteLogHasNone) {
  EXPECT_THAT(log_limitations(log_of({logged_job()}), {.has_eligible = true}), ElementsAre());
}

TEST(WhatifLimitations, NameWhatIsMissing) {
  Job bare;
  bare.logged_start_us = 0;
  bare.run_us = 1'000'000;
  Trace trace = log_of({bare, bare});
  trace.skipped = {{"never started", 17, "log.txt:4"}};
  const auto lacks = log_limitations(
      trace,
      {.cluster_inferred = true, .cluster = "4x8", .notes = {"easy uses limits: equal to fifo"}});
  EXPECT_THAT(lacks,
              ElementsAre(HasSubstr("the cluster is inferred: 4x8"),
                          HasSubstr("no job requests GPUs"), "no job has a time limit",
                          "easy uses limits: equal to fifo", "no job has a user: no table by user",
                          "no job has a partition or queue: no table by partition",
                          HasSubstr("Eligible"), HasSubstr("no job has a priority"),
                          "17 rows left out: never started, the first at log.txt:4"));
  Trace noted = log_of({logged_job()});
  noted.notices = {{"counted as nodes", 3, "log.txt:2"}};
  EXPECT_THAT(log_limitations(noted, {.has_eligible = true, .ignores_eligible = true}),
              ElementsAre(HasSubstr("trace.arrival=Submit"),
                          "counted as nodes (3 rows, the first at log.txt:2)"));
  Job unknown = logged_job();
  unknown.limit_us = -1;
  unknown.logged_start_us = -1;
  EXPECT_THAT(
      log_limitations(log_of({logged_job(), unknown}), {.has_eligible = true}),
      ElementsAre("1 of 2 jobs has no time limit",
                  "1 of 2 jobs has no start time: simulated, but excluded from all figures"));
}

TEST(WhatifLimitations, JobsOfNoTimeAreNamed) {
  Job at_once = logged_job();
  at_once.run_us = 0;
  EXPECT_THAT(log_limitations(log_of({logged_job(), at_once}), {.has_eligible = true}),
              ElementsAre("1 of 2 jobs ran for 0 s: if it never ran, its wait should not count"));
}

// Times in a table of one's own may already be those at which jobs became eligible.
TEST(WhatifLimitations, OwnTablesAreNotSaidToLackSacctsColumn) {
  Trace own = log_of({logged_job()});
  own.format = "yardmaster";
  EXPECT_THAT(log_limitations(own, {}), ElementsAre(HasSubstr("a wait is counted from submit_s")));
}

// Two jobs of four GPUs overlap; a third begins when they have ended.
TEST(WhatifLimitations, ReportAClusterTooSmallForTheLog) {
  Trace trace = log_of({logged_job(), logged_job(), logged_job()});
  const int64_t starts_us[] = {0, 50, 100};
  for (size_t j = 0; j < 3; ++j) {
    Job& job = trace.jobs[j];
    job.gpus = 4;
    job.logged_start_us = starts_us[j];
    job.logged_end_us = j == 0 ? 100 : 200;
  }
  EXPECT_THAT(log_limitations(trace, {.cluster = "1x6", .cluster_gpus = 6, .has_eligible = true}),
              ElementsAre(HasSubstr("jobs of the log held 8 GPUs at once, but 1x6 has 6")));
  EXPECT_THAT(log_limitations(trace, {.cluster = "1x8", .cluster_gpus = 8, .has_eligible = true}),
              ElementsAre());
  // A requeued job holds nothing between its first start and its last run.
  trace.jobs[2].logged_start_us = 0;
  trace.jobs[2].run_us = 100;
  EXPECT_THAT(log_limitations(trace, {.cluster = "1x8", .cluster_gpus = 8, .has_eligible = true}),
              ElementsAre());
}

// In the log, the first job lost a run of 2,390 s; the figures are means over two jobs.
TEST(WhatifLimitations, ReportTimeThatTheSimulationLacks) {
  Trace trace = log_of({logged_job(), logged_job()});
  trace.jobs[0].run_us = 600'000'000;
  trace.jobs[0].logged_end_us = 2'990'000'000;
  trace.jobs[1].run_us = 600'000'000;
  trace.jobs[1].logged_end_us = 601'000'000;  // rounding
  EXPECT_THAT(log_limitations(trace, {.has_eligible = true}),
              ElementsAre("1 of 2 jobs took longer from start to end than its run time (requeued "
                          "or suspended): this adds 1195 s to the mean logged wait, but is not "
                          "simulated, so the ratio to the log is too low"));
  Job copy = trace.jobs[0];
  copy.copy = true;
  copy.scored = false;
  trace.jobs[0].logged_end_us = 600'000'000;
  trace.jobs.push_back(copy);
  EXPECT_THAT(log_limitations(trace, {.has_eligible = true}), ElementsAre());
}

// Jobs are counted in the scored window, rows in the whole file.
TEST(WhatifLimitations, StateWhetherTheWindowOrTheFileIsCounted) {
  Job before = logged_job();
  before.scored = false;
  Job nameless = logged_job();
  nameless.user.clear();
  Trace trace = log_of({before, logged_job(), nameless});
  trace.skipped = {{"never started", 17, "log.txt:4"}};
  trace.notices = {{"counted as nodes", 3, "log.txt:2"}};
  EXPECT_THAT(log_limitations(trace, {.has_eligible = true}),
              ElementsAre("1 of 2 jobs in the window has no user",
                          "17 rows of the whole file left out: never started, the first at "
                          "log.txt:4",
                          "in the whole file: counted as nodes (3 rows, the first at log.txt:2)"));
}

// Column names count, not the text which users wrote.
TEST(WhatifLimitations, DetectEligibleTimes) {
  const auto names = [](const std::string& format, const std::string& text) {
    const testing::TempFile file("log", text);
    return has_eligible_times(file.path(), format);
  };
  const std::string rest = "|Start|End|Elapsed|State|ReqTRES|JobName\n";
  EXPECT_TRUE(names("sacct", "JobID|Submit|Eligible" + rest));
  EXPECT_FALSE(names("sacct", "JobID|Submit" + rest + "1|2|3|4|5|6|7|eligible\n"));
  EXPECT_FALSE(names("sacct", "JobID|Submit|NotEligible" + rest));
  const auto json = [&](const std::string& job) {
    return names("sacct-json", "{\"meta\": {}, \"jobs\": [{\"id\": 1}, " + job + "]}");
  };
  EXPECT_TRUE(json(R"({"name": "a", "time": {"limit": {"set": true}, "eligible": 3}})"));
  EXPECT_FALSE(json(R"({"name": "eligible", "time": {"start": 3}})"));
  EXPECT_FALSE(json(R"({"eligible": 1, "time": {"start": {"eligible": 3}}})"));
  EXPECT_FALSE(names("csv", "job_id,eligible_s\n")) << "its reader ignores it";
  EXPECT_FALSE(names("sacct", ""));
}

TEST(WhatifLimitations, LogWithoutTimesIsRejected) {
  Job job = logged_job();
  EXPECT_NO_THROW(require_logged_times(log_of({job})));
  job.logged_start_us = -1;
  EXPECT_THROW(require_logged_times(log_of({job})), InputError);
}

}  // namespace
}  // namespace yard::whatif
