// Slurm's accounting as text: delimiters and line breaks within texts, other delimiters, and input
// which is not the output of --parsable2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"

namespace yard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTres = "cpu=4,gres/gpu=2,node=1";
const std::string kTimes = "2024-05-06T10:00:00|01:00:00|COMPLETED|";

Trace read(const std::string& text, bool skip_unusable = false) {
  return parse_trace(text, "log", {.skip_unusable = skip_unusable});
}

std::string sacct_rows_error(const std::string& text, const LoadOptions& options = {}) {
  try {
    parse_trace(text, "log", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(SacctRows, BarsStayInTheirTextField) {
  const Trace trace = read(
      "JobID|JobName|User|WorkDir|Partition|Submit|Elapsed|State|AllocTRES\n"
      "1|train|u1|/scratch/run|17|gpu|" +
      kTimes + kTres +
      "\n"
      "2|a|b|c|u2|/home|debug|" +
      kTimes + kTres +
      "\n"
      "3||u3||gpu|" +
      kTimes + "\n");
  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.jobs[0].name, "train");
  EXPECT_EQ(trace.jobs[0].user, "u1");
  EXPECT_EQ(trace.jobs[0].tenant, "gpu");
  EXPECT_EQ(trace.jobs[1].name, "a|b|c");
  EXPECT_EQ(trace.jobs[1].user, "u2");
  EXPECT_EQ(trace.jobs[1].tenant, "debug");
  EXPECT_EQ(trace.jobs[2].user, "u3");
}

TEST(SacctRows, BarsInUnusedFieldsAreIgnored) {
  const Trace trace = read(
      "JobID|JobName|SubmitLine|User|Submit|Elapsed|State|AllocTRES|Comment|AdminComment\n"
      "1|train|srun cat x | python a.py|u1|" +
      kTimes + kTres + "|a|b|c|d\n");
  EXPECT_EQ(trace.jobs[0].name, "train");
  EXPECT_EQ(trace.jobs[0].user, "u1") << "one of the comments contains the bars";
}

TEST(SacctRows, AmbiguousRowIsRejected) {
  const std::string text =
      "JobID|JobName|User|Comment|Partition|Submit|Elapsed|State|AllocTRES\n"
      "1|train|u1|a|b|gpu|" +
      kTimes + kTres +
      "\n"
      "2|train|u1|a|gpu|" +
      kTimes + kTres + "\n";
  EXPECT_THAT(sacct_rows_error(text),
              HasSubstr("log:2: expected 9 fields, or an unambiguous split of more"));
  const Trace trace = read(text, true);
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.skipped[0].reason, "ambiguous delimiter within a text");
}

TEST(SacctRows, LineBreaksStayInTheirTextField) {
  const std::string head = "JobID|JobName|User|Submit|Elapsed|State|AllocTRES|Comment\n";
  const Trace trace =
      read(head + "1|tra\nin|x|u1|" + kTimes + kTres + "|\n" + "2|eval|u2|" + kTimes + kTres +
           "|first\nsecond | third\n12\n" + "3|last|u3|" + kTimes + kTres + "|\n");
  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.jobs[0].name, "tra in|x");
  EXPECT_EQ(trace.jobs[0].user, "u1");
  EXPECT_EQ(trace.jobs[0].line, 2);
  EXPECT_EQ(trace.jobs[1].user, "u2");
  EXPECT_EQ(trace.jobs[1].line, 4);
  EXPECT_EQ(trace.jobs[2].line, 7);
}

TEST(SacctRows, BrokenRowDoesNotAbsorbTheNext) {
  const std::string text =
      "JobID|JobName|User|Submit|Elapsed|State|AllocTRES\n"
      "1|cut\n2|whole|u2|" +
      kTimes + kTres + "\n";
  EXPECT_THAT(sacct_rows_error(text),
              HasSubstr("log:2: expected 7 fields, got 2 (the only unusable row"));
  const Trace trace = read(text, true);
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].id, "2");
  EXPECT_EQ(trace.jobs[0].name, "whole");
}

TEST(SacctRows, AnyDelimiterIsAccepted) {
  const std::string text =
      "JobID|JobName|User|Submit|Elapsed|State|ReqTRES|AllocTRES\n"
      "1|train|u1|" +
      kTimes + kTres + "|" + kTres + "\n";
  for (const char* delimiter : {";", "\t", "::", "^", ",", "|"}) {
    const Trace trace = read(replaced(text, "|", delimiter));
    EXPECT_EQ(trace.format, "sacct") << delimiter;
    EXPECT_EQ(trace.jobs[0].user, "u1") << delimiter;
    EXPECT_EQ(trace.jobs[0].gpus, 2) << delimiter;
  }
  const std::string quoted = replaced(replaced(text, "|", ","), kTres, "\"" + kTres + "\"");
  EXPECT_EQ(read(quoted).jobs[0].gpus, 2) << "as a spreadsheet writes it";
}

TEST(SacctRows, TrailingBarsLineEndsAndByteOrderMarks) {
  const std::string text =
      "JobID|JobName|Submit|Elapsed|State|AllocTRES|\n"
      "1|a|b|" +
      kTimes + kTres + "|\n";
  EXPECT_EQ(read(text).jobs[0].name, "a|b");
  EXPECT_EQ(read("\xEF\xBB\xBF" + replaced(text, "\n", "\r\n")).jobs[0].gpus, 2);
  EXPECT_EQ(read("jobid|jobname|submit|elapsed|state|alloctres|\n1|a|" + kTimes + kTres + "|\n")
                .jobs[0]
                .gpus,
            2)
      << "typed by hand";
}

TEST(SacctRows, OtherOutputIsRejectedInOneSentence) {
  const std::string row = "1121|train|u1|gpu|" + kTimes + kTres + "\n";
  EXPECT_THAT(sacct_rows_error(row), HasSubstr("log:1: expected a header line: print the log "
                                               "without --noheader (sacct --parsable2 --allusers"));
  EXPECT_THAT(sacct_rows_error("1121|bash|gpu|a1|4|COMPLETED|0:0\n"), HasSubstr("--noheader"));
  EXPECT_THAT(sacct_rows_error(replaced(row, "|", ";")), HasSubstr("--noheader"));
  const std::string fixed =
      "       JobID    JobName  Partition    Account  AllocCPUS      State ExitCode \n"
      "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
      "1141               bash        gpu         a1          4  COMPLETED      0:0 \n";
  EXPECT_THAT(sacct_rows_error(fixed), HasSubstr("--parsable2"));
  EXPECT_THAT(sacct_rows_error(fixed.substr(fixed.find("1141"))), HasSubstr("--parsable2"));
  for (const std::string& text : {row, fixed}) {
    EXPECT_THAT(sacct_rows_error(text), Not(HasSubstr("tiresias"))) << "no list of formats";
  }
  EXPECT_THAT(sacct_rows_error("JobName|State|Submit|Elapsed|AllocTRES\nx|COMPLETED|x|x|x\n"),
              HasSubstr("log:1: expected a column JobID or JobIDRaw"));
  EXPECT_THAT(sacct_rows_error("{\"jobs\": []}\n", {.format = "sacct"}), HasSubstr("sacct-json"));
}

TEST(SacctJson, MatchesTheTable) {
  const Trace trace = read(
      R"({"meta": {"slurm": {}}, "jobs": [
        {"job_id": 11, "name": "a|b", "association": {"user": "ada", "account": "vision"},
         "array": {"job_id": 10, "task_id": {"set": true, "number": 1}},
         "partition": "gpu", "steps": [{"time": {}}],
         "time": {"submission": 1714989600, "eligible": 1714989700, "start": 1714989900,
                  "end": 1714993500, "elapsed": 3600, "limit": {"set": true, "number": 90}},
         "state": {"current": "COMPLETED", "reason": "None"},
         "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2},
                                {"type": "mem", "name": "", "count": 2048},
                                {"type": "gres", "name": "gpu:a100", "count": 2}]}},
        {"job_id": 12, "user": "grace", "state": {"current": ["CANCELLED"]},
         "time": {"submission": 1714989600, "start": 0, "end": 1714989600, "elapsed": 0},
         "tres": {"allocated": []}},
        {"job_id": 13, "user": "grace", "state": {"current": ["FAILED"]},
         "time": {"submission": 1714989600, "start": 1714989600, "end": 1714989660, "elapsed": 60,
                  "limit": {"set": false, "infinite": true, "number": 0}},
         "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 1}]}}]})");
  EXPECT_EQ(trace.format, "sacct-json");
  ASSERT_EQ(trace.jobs.size(), 2u);
  const Job& job = trace.jobs[1];
  EXPECT_EQ(job.id, "10_1");
  EXPECT_EQ(job.array, "10");
  EXPECT_EQ(job.name, "a|b");
  EXPECT_EQ(job.user, "ada");
  EXPECT_EQ(job.tenant, "gpu");
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.submit_us, 100'000'000) << "when it was eligible";
  EXPECT_EQ(job.limit_us, 5'400'000'000);
  EXPECT_EQ(job.run_us, 3'600'000'000);
  EXPECT_EQ(trace.jobs[0].status, "FAILED");
  EXPECT_EQ(trace.jobs[0].limit_us, -1);
  ASSERT_EQ(trace.skipped.size(), 1u);
  EXPECT_EQ(trace.skipped[0].reason, "never started");
}

const std::string kOwnNames =
    "JobID,JobName,User,Partition,State,Submit,Start,End,Elapsed,ReqTRES,AllocTRES,NNodes";
const std::string kOwnRow =
    "t,u,p,COMPLETED,2024-03-04 10:00:00,2024-03-04 10:05:00,2024-03-04 11:05:00,01:00:00,"
    "gres/gpu=4,gres/gpu=4,";

TEST(SacctRows, TablesOfSpreadsheetsAndPandasAreRead) {
  const std::string row = "1," + kOwnRow + "1\n";
  EXPECT_EQ(read(replaced("\"" + kOwnNames + "\"", ",", "\",\"") + "\n" + row).jobs.size(), 1u);
  for (const char* const index : {",", "\"\",", "Unnamed: 0,"}) {
    const Trace trace = read(index + kOwnNames + "\n0," + row + "1,2," + kOwnRow + "2\n");
    ASSERT_EQ(trace.jobs.size(), 2u) << index;
    EXPECT_EQ(trace.jobs[1].id, "2");
    EXPECT_EQ(trace.jobs[1].groups.at(0).count, 2);
  }
  EXPECT_EQ(read(kOwnNames + "\n" + replaced(row, "01:00:00", "0 days 01:00:00")).jobs.at(0).run_us,
            3'600'000'000);
}

TEST(SacctRows, WholeRealsAreIntegersButStepsStaySteps) {
  const Trace reals = read(kOwnNames + "\n1.0," + kOwnRow + "1.0\n2," + kOwnRow + "1\n");
  ASSERT_EQ(reals.jobs.size(), 2u);
  EXPECT_EQ(reals.jobs[0].id, "1");
  for (const bool first : {true, false}) {
    const std::string job = "7," + kOwnRow + "1\n", step = "7.0," + kOwnRow + "1\n";
    const Trace steps = read(kOwnNames + "\n" + (first ? job + step : step + job));
    EXPECT_EQ(steps.jobs.size(), 1u);
    ASSERT_EQ(steps.skipped.size(), 1u);
    EXPECT_EQ(steps.skipped[0].reason, "step of a job");
  }
  EXPECT_THAT(sacct_rows_error(replaced(kOwnNames + "\n1.0," + kOwnRow + "1\n", ",", "|")),
              HasSubstr("step of a job"));
}

TEST(SacctRows, HeaderMayBeRepeatedOrLate) {
  const std::string log = replaced(kOwnNames + "\n1," + kOwnRow + "1\n", ",", "|");
  const std::string second = replaced(kOwnNames + "\n2," + kOwnRow + "1\n", ",", "|");
  const Trace trace = read(log + second);
  EXPECT_EQ(trace.jobs.size(), 2u);
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("repeated header line"));
  EXPECT_EQ(read("\n\n" + log).jobs.size(), 1u);
  EXPECT_THAT(sacct_rows_error("sacct: warning: x\nsacct: y\n" + log), HasSubstr("tail -n +3 log"));
}

TEST(SacctRows, TruncatedLastLineIsReported) {
  const std::string log = replaced(kOwnNames + "\n1," + kOwnRow + "1\n", ",", "|");
  EXPECT_THAT(sacct_rows_error(log + "2|t|u"), HasSubstr("the last line is cut off"));
  EXPECT_THAT(sacct_rows_error(log + "2|t|u\n"), Not(HasSubstr("cut off")));
}

TEST(SacctRows, ApproximationGivesANotice) {
  const auto notice = [](const std::string& from, const std::string& to) {
    const Trace trace =
        read(replaced(replaced(kOwnNames + "\n1," + kOwnRow + "1\n", ",", "|"), from, to));
    return trace.notices.empty() ? "" : trace.notices[0].reason;
  };
  EXPECT_THAT(notice("gres/gpu=4", "gres/gpu:a100=2,gres/gpu:v100=2"), HasSubstr("several types"));
  EXPECT_THAT(notice("gres/gpu=4", "gres/mps=50"), HasSubstr("half a GPU"));
  EXPECT_THAT(notice("10:05:00", "09:59:57"), HasSubstr("clock skew"));
  EXPECT_THAT(
      sacct_rows_error(kOwnNames + "\n1," + replaced(kOwnRow, "10:05:00", "09:59:54") + "1\n"),
      HasSubstr("Start after the submission"));
}

TEST(SacctRows, AllocGresIsUsedWithoutTres) {
  const Trace trace = read(
      "JobID|User|State|Submit|Start|End|AllocGRES|NNodes\n1|u|COMPLETED|2018-03-04T10:00:00|"
      "2018-03-04T10:05:00|2018-03-04T11:05:00|gpu:4|2\n");
  EXPECT_EQ(trace.jobs.at(0).gpus, 8);
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_THAT(trace.notices[0].reason, HasSubstr("of each node"));
}

TEST(SacctRows, UserTablesAreNotTakenForSacct) {
  EXPECT_THAT(
      sacct_rows_error("jobid,submit_time,duration,num_gpus\na,0,10,1\n"),
      HasSubstr("--columns job_id=jobid,submit_s=submit_time,run_s=duration,gpus=num_gpus"));
  EXPECT_THAT(sacct_rows_error("jobid|submit_time|duration|num_gpus\na|0|10|1\n"),
              HasSubstr("--columns job_id=jobid,submit_s=submit_time"));
  EXPECT_THAT(sacct_rows_error("id,elapsed,state,ngpus,submit\n1,10,x,1,0\n"),
              HasSubstr("--columns job_id=id"));
}

// As `jq .jobs` and `jq -c .jobs[]` print the jobs.
TEST(SacctJson, ListOfJobsIsReadAndLinesAreRejected) {
  const std::string job =
      R"({"job_id": 7, "name": "x", "time": {"submission": 1714989600, "start": 1714989900,)"
      R"( "end": 1714993500, "elapsed": 3600}, "state": {"current": ["COMPLETED"]},)"
      R"( "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}]},)"
      R"( "steps": [{"time": {"elapsed": 1}}]})";
  const std::string other = replaced(job, "7, \"name\"", "8, \"name\"");
  const Trace trace = read("[\n" + job + ",\n" + other + "\n]\n");
  EXPECT_EQ(trace.format, "sacct-json");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[1].id, "8");
  EXPECT_EQ(trace.jobs[1].gpus, 2);
  EXPECT_THAT(sacct_rows_error(job + "\n" + other + "\n"),
              HasSubstr("jq -s '{jobs: .}' log > jobs.json"));
  EXPECT_THAT(sacct_rows_error("[" + job + ",\n" + other), HasSubstr("the end is cut off"));
}

TEST(SacctRows, ColumnsOfALogNeedNoNames) {
  LoadOptions options;
  options.settings.overlay("columns=run_s=Elapsed");
  EXPECT_THAT(
      sacct_rows_error(kOwnNames + "\n1," + kOwnRow + "1\n", options),
      HasSubstr("--columns: expected job_id, submit_s, run_s and gpus to read a table of "
                "your own (columns of a Slurm log need no --columns), got 'run_s=Elapsed'"));
}

TEST(SacctJson, MissingJobsAndTruncationAreReported) {
  EXPECT_THAT(sacct_rows_error("{\"jobs\":[],\"warnings\":[]}"), HasSubstr("no jobs"));
  EXPECT_THAT(sacct_rows_error("{\"jobs\":[{\"job_id\":1}\n"), HasSubstr("the end is cut off"));
}

TEST(SacctJson, OtherJsonIsRejected) {
  EXPECT_THAT(sacct_rows_error("{\"jobs\": [{\"job_id\": 1, \"submit_time\": 5}]}"),
              HasSubstr("log:1: expected jobs with a \"time\" object"));
  EXPECT_THAT(sacct_rows_error("{\"jobs\": [{\"job_id\": 1, "), HasSubstr("the end is cut off"));
  EXPECT_THAT(sacct_rows_error("{\"jobs\": [\n{\"job_id\": 1,\n\"user\": \"a\n}]}\n"),
              HasSubstr(":3: "))
      << "the line of a text without its closing quote";
}

}  // namespace
}  // namespace yard
