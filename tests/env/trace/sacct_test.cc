// Slurm's accounting: the output of Slurm 22.05 for jobs of every kind (tests/data), other sets of
// columns, and single fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/formats/sacct/sacct_fields.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

std::map<std::string, Job> by_id(const Trace& trace) {
  std::map<std::string, Job> jobs;
  for (const Job& job : trace.jobs) jobs[job.id] = job;
  return jobs;
}

class Sacct : public ::testing::Test {
 protected:
  const Trace trace_ = load_trace("tests/data/sacct-22.05.txt", {});
  std::map<std::string, Job> jobs_ = by_id(trace_);
};

TEST_F(Sacct, SeparatesJobsFromStepsAndUnstartedJobs) {
  EXPECT_EQ(trace_.format, "sacct");
  EXPECT_EQ(trace_.jobs.size(), 18u);
  std::map<std::string, int64_t> left_out;
  for (const CountedRows& skipped : trace_.skipped) left_out[skipped.reason] = skipped.count;
  EXPECT_EQ(left_out, (std::map<std::string, int64_t>{{"step of a job", 21},
                                                      {"never started", 2},
                                                      {"has not started", 2},
                                                      {"has not ended", 2}}))
      << "22 was requeued, and its next run is not in the log";
  EXPECT_EQ(trace_.skipped.front().first, "tests/data/sacct-22.05.txt:3");
}

TEST_F(Sacct, ReadsRequests) {
  const Job& job = jobs_.at("4");  // two nodes with 8 GPUs each
  EXPECT_EQ(job.name, "llama");
  EXPECT_EQ(job.user, "grace");
  EXPECT_EQ(job.tenant, "gpu");
  EXPECT_EQ(job.gpus, 16);
  ASSERT_EQ(job.groups.size(), 1u);
  EXPECT_EQ(job.groups[0].count, 2);
  EXPECT_EQ(job.groups[0].task, (Resources{.gpus = 8, .cpu_milli = 8000, .mem_mib = 8000}));
  EXPECT_EQ(job.submit_us, 0);
  EXPECT_EQ(trace_.epoch_unix_s, 1795299089) << "2026-11-21T22:11:29";
  EXPECT_EQ(job.logged_start_us, 88 * kUsPerS);
  EXPECT_EQ(job.logged_end_us, 92 * kUsPerS);
  EXPECT_EQ(job.run_us, 4 * kUsPerS);
  EXPECT_EQ(job.limit_us, 7200 * kUsPerS);
  EXPECT_EQ(job.priority, 281);
  EXPECT_EQ(job.status, "COMPLETED");
}

TEST_F(Sacct, HandlesSpecialCases) {
  EXPECT_EQ(jobs_.at("3").name, "bert|large") << "a separator in the name";
  EXPECT_EQ(jobs_.at("3").limit_us, 26 * 3600 * kUsPerS) << "1-02:00:00";
  EXPECT_EQ(jobs_.at("2").gpu_types, std::vector<std::string>{"a100"});
  EXPECT_TRUE(jobs_.at("1").gpu_types.empty()) << "any type was requested";
  EXPECT_EQ(jobs_.at("5_3").array, "5");
  EXPECT_EQ(jobs_.at("6").gpus, 0) << "CPUs only";
  EXPECT_EQ(jobs_.at("6").groups.at(0).task, (Resources{.cpu_milli = 2000, .mem_mib = 2000}));
  EXPECT_EQ(jobs_.at("7").status, "FAILED");
  EXPECT_EQ(jobs_.at("7").run_us, 0);
  EXPECT_EQ(jobs_.at("8").run_us, 76 * kUsPerS) << "over its limit";
  EXPECT_EQ(jobs_.at("8").limit_us, 60 * kUsPerS);
  EXPECT_EQ(jobs_.at("10").gpus, 32);
  EXPECT_EQ(jobs_.at("10").limit_us, -1) << "UNLIMITED";
  EXPECT_EQ(jobs_.at("12").tenant, "debug");
  EXPECT_EQ(jobs_.at("15+1").gpus, 2) << "a part of a heterogeneous job";
}

TEST_F(Sacct, SettingsChooseTheTenant) {
  LoadOptions options;
  options.settings.overlay("tenant=Account");
  EXPECT_EQ(by_id(load_trace("tests/data/sacct-22.05.txt", options)).at("4").tenant, "language");
}

std::string sacct_error(const std::string& text, const LoadOptions& options = {}) {
  try {
    parse_trace(text, "log", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SacctColumns, FewAreNeededInAnyOrder) {
  const Trace trace = parse_trace(
      "ElapsedRaw|AllocTRES|JobIDRaw|Submit|UID|TimelimitRaw|\n"  // --parsable ends in a '|'
      "90|cpu=2,gres/gpu:a100=1,gres/gpu:h100=2|7|2023-01-02T00:00:00|1001|5|\n"
      "8||9|1672617610|1002||\n",
      "log", {});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].gpus, 3) << "by type alone";
  EXPECT_EQ(trace.jobs[0].run_us, 90 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].limit_us, 300 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].user, "1001");
  EXPECT_EQ(trace.jobs[0].logged_start_us, -1);
  EXPECT_EQ(trace.jobs[1].submit_us, 10 * kUsPerS) << "SLURM_TIME_FORMAT=%s";
  EXPECT_EQ(trace.jobs[1].gpus, 0);
}

TEST(SacctColumns, RunTimeFallsBackToStartAndEnd) {
  const std::string text =
      "JobID|Submit|Start|End|NNodes|ReqGRES|ReqMem|ReqCPUS\n"
      "1|2023-03-12T00:00:00|2023-03-12T01:00:00|2023-03-12T04:00:00|2|gpu:a100:4|2Gc|8\n";
  EXPECT_EQ(parse_trace(text, "log", {}).jobs[0].run_us, 3 * 3600 * kUsPerS);
  LoadOptions options;
  options.settings.overlay("zone=CST6CDT,M3.2.0,M11.1.0");
  const Trace trace = parse_trace(text, "log", options);
  EXPECT_EQ(trace.jobs[0].run_us, 2 * 3600 * kUsPerS);
  EXPECT_EQ(trace.epoch_unix_s, 1678600800);
  EXPECT_EQ(trace.jobs[0].gpus, 8) << "four of each node";
  EXPECT_EQ(trace.jobs[0].groups.at(0).task.mem_mib, 8192) << "2 GiB of each CPU";
}

TEST(SacctColumns, GpusPerNodeCompletesLogsWithoutGpus) {
  const std::string text = "JobID|Submit|Elapsed|NNodes\n1|2023-03-12T00:00:00|10:00|4\n";
  EXPECT_THAT(sacct_error(text), HasSubstr("log:1: expected a column ReqTRES or AllocTRES"));
  LoadOptions options;
  options.settings.overlay("gpus_per_node=3");
  const Trace trace = parse_trace(text, "log", options);
  EXPECT_EQ(trace.jobs[0].gpus, 12);
  EXPECT_EQ(trace.jobs[0].groups.at(0).count, 4);
  EXPECT_EQ(trace.jobs[0].run_us, 600 * kUsPerS);
}

TEST(SacctColumns, MissingOnesAreNamed) {
  EXPECT_THAT(
      sacct_error("JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n1|a|b|c|4|x|0:0\n"),
      HasSubstr("log:1: expected a column 'Submit'"))
      << "sacct's default columns";
  EXPECT_THAT(sacct_error("JobID|Submit|Start|ReqTRES\n1|2023-03-12T00:00:00|Unknown|\n"),
              HasSubstr("log:1: expected a column Elapsed or ElapsedRaw, or Start and End"));
}

TEST(SacctColumns, BrokenFieldsAreNamed) {
  const std::string head = "JobID|Submit|Start|End|Elapsed|Timelimit|ReqTRES|ReqMem\n";
  const auto message = [&](const std::string& row) { return sacct_error(head + row + "\n"); };
  const std::string dates = "2023-01-02T00:00:00|2023-01-02T00:01:00|2023-01-02T00:02:00|";
  EXPECT_THAT(message("1|soon|x|x|1|1||"),
              HasSubstr("log:2: column 2 (Submit): expected Submit as a"));
  EXPECT_THAT(message("1|" + dates + "60|1||"),
              HasSubstr("log:2: column 5 (Elapsed): expected [DAYS-]HH:MM:SS, got '60'"));
  EXPECT_THAT(message("1|" + dates + "01:00|x||"),
              HasSubstr("log:2: column 6 (Timelimit): expected"));
  EXPECT_THAT(message("1|" + dates + "01:00||gpus|"),
              HasSubstr("log:2: column 7 (ReqTRES): expected resources like"));
  EXPECT_THAT(message("1|" + dates + "01:00|||16Q"),
              HasSubstr("log:2: column 8 (ReqMem): expected"));
  EXPECT_THAT(message("1|2023-01-02T00:02:00|2023-01-02T00:01:00|2023-01-02T00:02:00|01:00|||"),
              HasSubstr("log:2: column 3 (Start): expected Start after the submission"));
  EXPECT_THAT(message("1|" + dates + "01:00||gres/gpu=1048577|"),
              HasSubstr("log:2: expected at most 1048576 GPUs, nodes and CPUs"));
  EXPECT_THAT(message("1.batch|" + dates + "01:00|||"),
              HasSubstr("got only rows without a usable job (step of a job, the first at log:2)"));
}

TEST(SacctFields, Durations) {
  EXPECT_EQ(parse_slurm_s("00:00:08"), 8);
  EXPECT_EQ(parse_slurm_s("1-02:03:04"), 93784);
  EXPECT_EQ(parse_slurm_s("365-00:00:00"), 365 * 86400);
  EXPECT_EQ(parse_slurm_s("05:30"), 330);
  EXPECT_EQ(parse_slurm_s("00:00:08.125"), 8);
  EXPECT_EQ(parse_slurm_s("100:00:00"), 360000);
  for (const char* text : {"", "8", "1-02", "1-02:03", "00:60", "a:00", "00:00:00:00", "-1:00",
                           "1--2:00:00", "00:0.x", "9999999-00:00:00"}) {
    EXPECT_EQ(parse_slurm_s(text), std::nullopt) << text;
  }
}

TEST(SacctFields, Memory) {
  EXPECT_EQ(parse_slurm_mib("4000M", 2, 8), 4000);
  EXPECT_EQ(parse_slurm_mib("16G", 2, 8), 16384);
  EXPECT_EQ(parse_slurm_mib("62.50G", 2, 8), 64000);
  EXPECT_EQ(parse_slurm_mib("1T", 2, 8), 1 << 20);
  EXPECT_EQ(parse_slurm_mib("100K", 2, 8), 1) << "rounded up";
  EXPECT_EQ(parse_slurm_mib("512", 2, 8), 512);
  EXPECT_EQ(parse_slurm_mib("4Gn", 2, 8), 8192);
  EXPECT_EQ(parse_slurm_mib("2000Mc", 2, 8), 16000);
  EXPECT_EQ(parse_slurm_mib("0", 2, 8), 0);
  for (const char* text : {"", "G", "4Q", "-4G", "nan", "1e300G", "4GG"}) {
    EXPECT_EQ(parse_slurm_mib(text, 2, 8), std::nullopt) << text;
  }
}

TEST(SacctFields, Resources) {
  const auto tres = parse_tres("billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=4000M,node=1");
  ASSERT_TRUE(tres);
  EXPECT_EQ(tres->gpus, 2);
  EXPECT_EQ(tres->cpus, 4);
  EXPECT_EQ(tres->nodes, 1);
  EXPECT_EQ(tres->mem_mib, 4000);
  EXPECT_EQ(tres->gpu_type, "a100");
  EXPECT_EQ(parse_tres("")->gpus, -1);
  EXPECT_EQ(parse_tres("gres/gpu:a=1,gres/gpu:b=2")->gpus, 3);
  EXPECT_EQ(parse_tres("gres/gpu:a=1,gres/gpu:b=2")->gpu_type, "");
  EXPECT_EQ(parse_tres("gres/gpu=4,gres/gpu:a100=4")->gpus, 4) << "the same GPUs twice";
  EXPECT_FALSE(parse_tres("cpu"));
  EXPECT_FALSE(parse_tres("cpu=x"));
  EXPECT_FALSE(parse_tres("cpu=1,,mem=1G"));
  EXPECT_EQ(parse_gres_gpus_per_node("gpu:2"), 2);
  EXPECT_EQ(parse_gres_gpus_per_node("gres:gpu:a100:4,craynetwork:1"), 4);
  EXPECT_EQ(parse_gres_gpus_per_node("gpu"), 1);
  EXPECT_EQ(parse_gres_gpus_per_node("gpu:a100"), 1);
  EXPECT_EQ(parse_gres_gpus_per_node("craynetwork:0"), 0);
  EXPECT_EQ(parse_gres_gpus_per_node("gpu:a100:x"), std::nullopt);
  EXPECT_EQ(parse_gres_gpus_per_node("PER_NODE:gpu:a100:4"), 4);
  EXPECT_EQ(parse_gres_gpus_per_node("gpu:2(IDX:0-1)"), 2);
}

TEST(SacctFields, GpuSlices) {
  const auto slices = parse_tres("gres/gpu:a100_1g.5gb=2,gres/gpu=3,gres/gpu:a100=1");
  ASSERT_TRUE(slices);
  EXPECT_EQ(slices->gpus, 1) << "gres/gpu counts slices as well";
  EXPECT_EQ(slices->gpu_type, "a100");
  EXPECT_EQ(slices->slices, (std::vector<GpuSlices>{{2, 142}}));
  EXPECT_EQ(parse_tres("gres/gpu:1g.10gb=1")->slices, (std::vector<GpuSlices>{{1, 142}}));
  EXPECT_EQ(parse_tres("gres/gpu:7g.40gb=2")->gpus, 2) << "whole GPUs";
  EXPECT_EQ(parse_tres("gres/shard=3,gres/shard:a100=3")->shards, 3);
  EXPECT_EQ(parse_tres("gres/mps=50")->mps, 50);
  EXPECT_TRUE(parse_tres("gres/mps=50")->names_gpus());
  EXPECT_FALSE(parse_tres("cpu=2,gres/gpumem=80G,gres/gpuutil=12")->names_gpus());
  std::string type;
  EXPECT_EQ(parse_mig_gpu_milli("nvidia_a100_80gb_pcie_3g.40gb", type), 428);
  EXPECT_EQ(type, "nvidia_a100_80gb_pcie");
  EXPECT_EQ(parse_mig_gpu_milli("mig-1g.10gb", type), 142);
  EXPECT_EQ(type, "");
  EXPECT_EQ(parse_mig_gpu_milli("1c.3g.20gb", type), 428);
  EXPECT_EQ(parse_mig_gpu_milli("a30_2g.12gb", type), 500) << "an A30 has four slices";
  EXPECT_EQ(parse_mig_gpu_milli("1g.10gb+me", type), 142);
  for (const char* text : {"a100", "nvidia_a100_80gb", "g.5gb", "9g.5gb", ""}) {
    EXPECT_EQ(parse_mig_gpu_milli(text, type), std::nullopt) << text;
  }
}

TEST(SacctFields, States) {
  for (const char* text :
       {"CANCELLED", "CANCELLED by 1000", "CANCELLED+", "cancelled", "CA", "CANCELED"}) {
    EXPECT_EQ(parse_slurm_state(text), "CANCELLED") << text;
  }
  EXPECT_EQ(parse_slurm_state("OUT_OF_ME+"), "OUT_OF_MEMORY");
  EXPECT_EQ(parse_slurm_state("R"), "RUNNING");
  EXPECT_EQ(parse_slurm_state(""), "");
  EXPECT_EQ(parse_slurm_state("train"), "");
}

TEST(SacctFields, JobNumbers) {
  for (const char* text :
       {"7", "7_3", "7_[4-9%2]", "7_[1,3,5-8,...]", "7+1", "7.batch", "7_3.0", "7+0.extern"}) {
    EXPECT_TRUE(is_slurm_job_or_step_id(text)) << text;
  }
  for (const char* text : {"", "a", "7a", "7_", "7+", "7.", "2024-05-06", "01:00:00", "7_[x]"}) {
    EXPECT_FALSE(is_slurm_job_or_step_id(text)) << text;
  }
}

}  // namespace
}  // namespace yard
