// Rows of formats without files in the folder of traces, their settings, and the error of each for
// a row which it cannot use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

Trace parse_with(const std::string& text, const std::string& setting) {
  LoadOptions options;
  options.settings.overlay(setting);
  return parse_trace(text, "t", options);
}

TEST(Pai, NamesTheTask) {
  const Trace trace = parse_trace(
      "job_id,arrival_s,service_sec,gpu_count\n"
      "ali-51d01202d231f9fae85bceab-PyTorchWorker#554540,76966.0,154108.0,400\n"
      "ali-e292c9c65d286997da9c5b26-worker#384494,16670.0,167731.0,8\n",
      "t", {});
  EXPECT_EQ(trace.format, "pai");
  EXPECT_EQ(trace.jobs[0].id, "ali-e292c9c65d286997da9c5b26-worker#384494");
  EXPECT_EQ(trace.jobs[0].name, "worker");
  EXPECT_EQ(trace.jobs[0].submit_us, 16670 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].run_us, 167731 * kUsPerS);
  EXPECT_EQ(trace.jobs[1].gpus, 400);
  EXPECT_EQ(trace.jobs[1].name, "PyTorchWorker");
}

// Rows as published; 14854 and 14855 are one job of 2,851 s in philly.csv.
const char* const kAttempts =
    "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
    "14853,109,1,0,1,3,3744,0,Pass\n"
    "14854,109,1,0,1,1,404,0,Pass\n"
    "14855,109,1,0,1,0,2447,0,Pass\n"
    "14856,109,1,0,1,2,4023,0,Pass\n"
    "14857,109,1,0,1,0,5,0,Failed\n"
    "14858,7,1,0,1,0,6,0,Failed\n"
    "14859,7,4,0,1,0,6,0,Failed\n";

TEST(PhillyAttempts, IntervalsAddUp) {
  const Trace trace = parse_trace(kAttempts, "t", {});
  EXPECT_EQ(trace.format, "philly-attempts");
  ASSERT_EQ(trace.jobs.size(), 7u);
  EXPECT_EQ(trace.jobs[3].id, "14856");
  EXPECT_EQ(trace.jobs[3].submit_us, 6 * kUsPerS);
  EXPECT_EQ(trace.jobs[3].user, "109");
  EXPECT_EQ(trace.jobs[3].status, "Pass");
}

TEST(PhillyAttempts, CanBeJoined) {
  const Trace trace = parse_with(kAttempts, "join_attempts=true");
  ASSERT_EQ(trace.jobs.size(), 6u);
  EXPECT_EQ(trace.jobs[1].id, "14854");
  EXPECT_EQ(trace.jobs[1].run_us, 2851 * kUsPerS);
  EXPECT_EQ(trace.skipped.at(0).reason, "attempt joined to the previous row");
}

TEST(Philly, ClockMayHaveAZone) {
  const std::string text =
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,0,0.0,11cb48\n";
  EXPECT_EQ(parse_trace(text, "t", {}).epoch_unix_s, 1507532515);
  EXPECT_EQ(parse_with(text, "zone=PST8PDT,M3.2.0,M11.1.0").epoch_unix_s, 1507532515 + 7 * 3600);
  EXPECT_EQ(parse_trace(text, "t", {}).jobs[0].gpus, 0);
  EXPECT_THROW(parse_with(text, "zone=Seattle"), InputError);
}

TEST(Philly, UnknownVirtualClusterListsThoseOfTheLog) {
  const std::string csv = Registry<TraceReader>::make("philly", {})->example();
  const std::string log = Registry<TraceReader>::make("philly-log", {})->example();
  EXPECT_EQ(parse_with(csv, "vc=11cb48").jobs.size(), 1u);
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      parse_with(text, "vc=zz");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(csv), "trace.vc: expected one of: 11cb48, 6214e9, got 'zz'");
  EXPECT_EQ(error_of(log), "trace.vc: expected one of: ee9e8c, got 'zz'");
}

TEST(ElasticFlow, RealDurationIsUsed) {
  const Trace trace = parse_trace(
      "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,"
      "iteration\n0,5,7,vgg16,20,256,1,10,99,98\n",
      "t", {});
  EXPECT_EQ(trace.jobs[0].run_us, 10 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].iterations, 7);
}

TEST(Openb, SpacedPodsKeepTheirOwnRunTimes) {
  const std::string example = Registry<TraceReader>::make("openb", {})->example();
  const Trace trace = parse_with(example, "gap_s=10");
  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.jobs[2].submit_us, 20 * kUsPerS);
  EXPECT_EQ(trace.jobs[2].run_us, (10001403 - 10001280) * kUsPerS);
  EXPECT_EQ(trace.jobs[2].logged_start_us, -1);
}

struct Bad {
  const char* name;
  const char* format;
  const char* row;
  const char* message;
};

class BadRowOfFormat : public ::testing::TestWithParam<Bad> {};

TEST_P(BadRowOfFormat, ErrorNamesLineColumnAndExpectation) {
  const Bad& bad = GetParam();
  const std::string example = Registry<TraceReader>::make(bad.format, {})->example();
  const auto line = std::ranges::count(example, '\n') + 1;
  try {
    parse_trace(example + bad.row + "\n", "t", {.format = bad.format});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("t:" + std::to_string(line) + ": " + bad.message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Trace, BadRowOfFormat,
    ::testing::Values(
        Bad{"ChronusTimes", "chronus", "9,vc,1,1,1,m,1,1,5-x,2-1,0,soft",
            "column 9 (expect_time_list): expected increasing whole minutes separated by '-', got "
            "'5-x'"},
        Bad{"ChronusOrder", "chronus", "9,vc,1,1,1,m,1,1,5-5,2-1,0,soft",
            "column 9 (expect_time_list): expected increasing"},
        Bad{"ChronusValues", "chronus", "9,vc,1,1,1,m,1,1,5-6,1-2,0,soft",
            "column 10 (expect_value_list): expected non-increasing numbers"},
        Bad{"ChronusNumber", "chronus", "9,vc,1,1,1,m,1,1,5-6,1,0,soft",
            "column 10 (expect_value_list): expected 2 values, got '1'"},
        Bad{"ChronusBest", "chronus", "9,vc,1,1,1,m,1,1,5,1,2,best",
            "column 11 (best_effort): expected best_effort as a whole number, 0 to 1, got '2'"},
        Bad{"ChronusVc", "chronus", "9,,1,1,1,m,1,1,5,1,0,strict",
            "column 2 (user): expected a user, got nothing"},
        Bad{"ItpModelsDeadline", "itp-models", "x,100,1,m,99,1,1,1",
            "column 5 (deadline): expected deadline after the submission, got 99"},
        Bad{"ItpModelsBatch", "itp-models", "x,100,1,m,200,1.5,1,1", "column 6 (batch_size): "},
        Bad{"ElasticFlowModel", "elasticflow", "9,0,1,,9,1,1,1,1,1", "column 4 (model_name): "},
        Bad{"MorphlingSla", "morphling", "x,0,1,vit,2,16,0,ga,1,yes", "column 10 (is_sla): "},
        Bad{"MorphlingSteps", "morphling", "x,0,1,vit,2,16,0,ga,0,1", "column 9 (steps): "},
        Bad{"OpenbShare", "openb", "p,1,1,1,1001,,LS,Running,0,2,1",
            "column 5 (gpu_milli): expected gpu_milli as a whole number, 0 to 1000, got '1001'"},
        Bad{"OpenbNoShare", "openb", "p,1,1,1,0,,LS,Running,0,2,1",
            "column 5 (gpu_milli): expected gpu_milli as a whole number, 1 to 1000, got '0'"},
        Bad{"OpenbTypes", "openb", "p,1,1,1,1000,T4||P100,LS,Running,0,2,1",
            "column 6 (gpu_spec): expected models separated by '|', got 'T4||P100'"},
        Bad{"OpenbGpus", "openb", "p,1,1,-1,0,,LS,Running,0,2,1",
            "column 4 (num_gpu): expected 0 to 1048576 GPUs, got -1"},
        Bad{"PaiGpus", "pai", "ali-x,0,1,0", "column 4 (gpu_count): expected 1 to"},
        Bad{"PhillyDate", "philly", "2017-13-09 07:01:55,66.0,1,66.0,11cb48",
            "column 1 (timestamp): expected timestamp as a date like"},
        Bad{"PhillyVc", "philly", "2017-10-09 07:01:55,66.0,1,66.0,", "column 5 (cluster): "},
        Bad{"AttemptsInterval", "philly-attempts", "9,1,1,0,1,x,1,0,Pass", "column 6 (interval): "},
        Bad{"AttemptsSum", "philly-attempts", "9,1,1,0,1,948672001,1,0,Pass",
            "column 6 (interval): expected a trace of less than 30 years"},
        Bad{"TaccNodes", "tacc",
            "1\tx\tu\t2023-03-09T12:46:58\t2023-03-09T12:46:57\t2023-03-09T12:48:05\t1\t1\t0:0\t0",
            "column 10 (NNodes): expected NNodes as a whole number, 1 to 1024, got '0'"},
        Bad{"TaccShort", "tacc", "1\tx\tu", "expected 10 fields, got 3"},
        Bad{"TiresiasIterations", "tiresias", "9,1,0,many,m,1,0",
            "column 4 (iterations): expected iterations as a number of at least 0, got 'many'"}),
    [](const auto& info) { return std::string(info.param.name); });

// Published archives have such rows, and their users cannot correct them.
// A first line without control characters does not make random bytes a table.
TEST(Formats, RandomBytesAreCalledBinary) {
  std::string bytes = "sched\x9d\xf1\n";
  uint32_t state = 7;
  for (int i = 0; i < 2000; ++i) {
    state = state * 1664525 + 1013904223;
    bytes += static_cast<char>(state >> 24);
  }
  try {
    parse_trace(bytes, "t", {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a binary file"));
  }
}

TEST(Formats, RowsThatEndBeforeTheyStartAreSkippedInArchives) {
  const auto reasons = [](const std::string& text) {
    std::string out;
    const Trace trace = parse_trace(text, "t.csv", {});
    EXPECT_EQ(trace.jobs.size(), 1u);
    for (const CountedRows& what : trace.skipped) out += what.reason + ";";
    return out;
  };
  EXPECT_EQ(reasons("a,worker,1.0,Terminated,10.0,20.0,600.0,29.3,100.0,V100\n"
                    "b,worker,1.0,Terminated,30.0,20.0,600.0,29.3,100.0,V100\n"
                    "c,worker,1.0,Failed,30.0,0,600.0,29.3,100.0,V100\n"),
            "a task that ends before it starts;has not ended;");
  EXPECT_EQ(reasons("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
                    "duration,queue\n"
                    "1,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 "
                    "18:55:09,848,0\n"
                    "2,u,v,1,1,1,FAILED,2020-06-09 18:41:01,2020-06-09 18:41:05,2020-06-09 "
                    "18:41:04,0,0\n"
                    "3,u,v,1,1,1,FAILED,2020-06-09 18:41:01,2020-06-09 18:41:00,2020-06-09 "
                    "18:41:04,0,0\n"),
            "ends before it starts;starts before its submission;");
  EXPECT_EQ(
      reasons("3\n"
              "       JobID    JobName    UID               Start              Submit          "
              "       End   Priority TimelimitR ExitCode   NNodes\n"
              "------------ ---------- ------ ------------------- ------------------- "
              "------------------- ---------- ---------- -------- --------\n"
              "1\tx\t1\t2022-11-05T04:12:18\t2022-10-05T11:52:48\t2022-11-07T03:12:22\t1"
              "\t2880\t0:0\t2\n"
              "2\tx\t1\t2022-11-05T04:12:18\t2022-10-05T11:52:48\t2022-11-05T03:12:22\t1"
              "\t2880\t0:0\t2\n"
              "3\tx\t1\t2022-10-05T04:12:18\t2022-10-05T11:52:48\t2022-11-05T03:12:22\t1"
              "\t2880\t0:0\t2\n"),
      "ends before it starts;starts before its submission;");
  const std::string pod = "Burstable,Succeeded,";
  EXPECT_EQ(reasons("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
                    "creation_time,deletion_time,scheduled_time\n"
                    "a,1000,1024,1,1000,," +
                    pod + "10,30,20\nb,1000,1024,1,1000,," + pod +
                    "10,15,20\nc,1000,1024,1,1000,," + pod + "10,30,5\n"),
            "ends before it starts;starts before its submission;");
  const auto attempt = [](const char* id, const char* start, const char* end) {
    return std::string("{\"status\":\"Pass\",\"vc\":\"e\",\"jobid\":\"") + id +
           "\",\"attempts\":[{\"start_time\":\"2017-10-07 " + start +
           "\",\"end_time\":\"2017-10-07 " + end +
           "\",\"detail\":[{\"ip\":\"m\",\"gpus\":[\"g\"]}]}],"
           "\"submitted_time\":\"2017-10-07 01:11:39\",\"user\":\"u\"}";
  };
  EXPECT_EQ(reasons("[" + attempt("a", "01:12:09", "01:13:23") + ",\n" +
                    attempt("b", "01:12:09", "01:12:05") + ",\n" +
                    attempt("c", "01:10:09", "01:12:05") + "]\n"),
            "ends before it starts;starts before its submission;");
}

}  // namespace
}  // namespace yard
