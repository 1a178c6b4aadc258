// Readers of the workloads of Gavel, Shockwave and Pollux: fields by hand, errors for invalid rows,
// and the real files by their publishers' counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/require.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string gavel_error(const std::string& text, const std::string& format) {
  try {
    parse_trace(text, "jobs.trace", {.format = format});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(GavelTrace, BothLayoutsAreRead) {
  const Trace simulated = parse_trace(
      "Transformer (batch size 128)\tcd x && train\t-step\t1\t246378\t0.000000\t1\r\n"
      "A3C\tmain\t--max-steps\t0\t11064\t58417.500000\t16\r\n",
      "a.trace", {});
  EXPECT_EQ(simulated.format, "gavel");
  ASSERT_EQ(simulated.jobs.size(), 2u);
  EXPECT_EQ(simulated.jobs[0].id, "0");
  EXPECT_EQ(simulated.jobs[0].model, "Transformer");
  EXPECT_EQ(simulated.jobs[0].batch_size, 128);
  EXPECT_EQ(simulated.jobs[0].iterations, 246378);
  EXPECT_EQ(simulated.jobs[0].run_us, Job::kFromProfile);
  EXPECT_EQ(simulated.jobs[1].model, "A3C");
  EXPECT_EQ(simulated.jobs[1].batch_size, 0);
  EXPECT_EQ(simulated.jobs[1].submit_us, 58'417'500'000);
  EXPECT_EQ(simulated.jobs[1].gpus, 16);

  const Trace physical = parse_trace(
      "LM (batch size 80)\ttrain\tlanguage_modeling\t--steps\t1\t75522\t2\t5\t-1.000000\t36.25\n",
      "b.trace", {});
  EXPECT_EQ(physical.format, "gavel");
  EXPECT_EQ(physical.jobs[0].iterations, 75522);
  EXPECT_EQ(physical.jobs[0].gpus, 2);
  EXPECT_EQ(physical.jobs[0].weight, 5);
  EXPECT_EQ(physical.jobs[0].submit_us, 36'250'000);
  EXPECT_TRUE(physical.jobs[0].dues.empty());
}

TEST(GavelTrace, UnusableRowsAreNamed) {
  const std::string good = "A3C\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1\t0\n";
  struct Bad {
    const char* row;
    const char* message;
  };
  for (const Bad& bad :
       {Bad{"A3C\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1", "7 or 10 tab-separated fields in Gavel"},
        Bad{"A3C\tcmd\tfolder\tsteps\t1\t10\t1\t1\t-1\t0", "in Gavel's layout, got 10 fields"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t10\t1", "in Gavel's layout, got 7 fields"},
        Bad{"\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1\t0", "a job type like ResNet-18"},
        Bad{"LM (batch size x)\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1\t0", "'LM (batch size x)'"},
        Bad{"LM (batch size 0)\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1\t0", "'LM (batch size 0)'"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t0\t1\t1\t-1\t0", "at least 1, got '0'"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t1.5\t1\t1\t-1\t0", "at least 1, got '1.5'"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\tmany\t1\t1\t-1\t0",
            "expected steps as a number, got 'many'"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t10\t0\t1\t-1\t0", "GPUs, got 0"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t10\t1\t1\t2\t0", "(no SLO), got '2'"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t10\t1\tw\t-1\t0",
            "expected weight as a number, got 'w'"},
        Bad{"A3C\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1\t-3", "arrival in seconds, at least 0"}}) {
    SCOPED_TRACE(bad.row);
    EXPECT_THAT(gavel_error(good + bad.row + "\n", "gavel"),
                AllOf(HasSubstr("jobs.trace:2: "), HasSubstr(bad.message)));
  }
}

TEST(GavelTrace, JobsKeepTheirNumbersIfRowsAreSkipped) {
  const std::string row = "A3C\tcmd\tfolder\t--steps\t1\t10\t1\t1\t-1\t0\n";
  const Trace trace = parse_trace(row + "broken\n" + row, "jobs.trace", {.skip_unusable = true});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "0");
  EXPECT_EQ(trace.jobs[1].id, "2");
}

TEST(ShockwaveTrace, ModeAndDurationAreRead) {
  const std::string row =
      "LM (batch size 10)\tmain\tlm\t--steps\t1\t134583\t1\tgns\t1\t-1.000000\t1418.5\t55\n";
  const Trace trace = parse_trace(row, "a.trace", {});
  EXPECT_EQ(trace.format, "shockwave");
  EXPECT_EQ(trace.jobs[0].run_us, 1'418'500'000);
  EXPECT_EQ(trace.jobs[0].submit_us, 55 * kUsPerS);
  EXPECT_EQ(trace.jobs[0].batch_mode, "gns");
  EXPECT_EQ(trace.jobs[0].iterations, 134583);
  const std::string start = "A3C\tmain\tx\t--steps\t1\t10\t1\t";
  EXPECT_THAT(gavel_error(row + start + "odd\t1\t-1\t5\t0\n", "shockwave"),
              AllOf(HasSubstr("jobs.trace:2"), HasSubstr("static, accordion or gns, got 'odd'")));
  EXPECT_THAT(gavel_error(row + start + "gns\t1\t-1\tlong\t0\n", "shockwave"),
              HasSubstr("duration in seconds, at least 0, got 'long'"));
  EXPECT_THAT(gavel_error(row + start + "1\t-1\t0\n", "shockwave"),
              HasSubstr("12 tab-separated fields in Shockwave's layout, got 10 fields"));
}

TEST(PolluxTrace, ApplicationsAreModels) {
  const std::string head = "name,time,application,num_replicas,batch_size\n";
  const Trace trace = parse_trace(head + "cifar10-0,107,cifar10,6,2048\n", "w.csv", {});
  EXPECT_EQ(trace.format, "pollux");
  EXPECT_EQ(trace.jobs[0].id, "cifar10-0");
  EXPECT_EQ(trace.jobs[0].model, "cifar10");
  EXPECT_EQ(trace.jobs[0].gpus, 6);
  EXPECT_EQ(trace.jobs[0].batch_size, 2048);
  EXPECT_EQ(trace.jobs[0].run_us, Job::kFromProfile);
  EXPECT_THAT(gavel_error(head + "a,0,,1,8\n", "pollux"), HasSubstr("jobs.trace:2"));
  EXPECT_THAT(gavel_error(head + "a,0,ncf,1,0\n", "pollux"), HasSubstr("batch_size of at least 1"));
}

struct GavelFile {
  const char* path;
  const char* format;
  size_t jobs;
  double last_submit_s, first_steps, last_steps;
};

// Counts and fields computed by another program from the same files.
const GavelFile kGavelFiles[] = {
    {"gavel/traces-msr-seed0/0e4a51.trace.gz", "gavel", 1181, 7363956.0, 95121, 236751},
    {"gavel/traces-msr-seed0/6214e9.trace.gz", "gavel", 2000, 4184082.0, 20851471, 62738},
    {"gavel/traces-msr-seed0/795a4c.trace.gz", "gavel", 3, 3362.0, 79561, 4726},
    {"gavel/traces-physical/max_min_fairness.trace.gz", "gavel", 96, 46317.0, 925982, 297215},
    {"gavel/traces-physical/artifact_evaluation.trace.gz", "gavel", 15, 0.0, 2931, 8857},
    {"../xval/gavel-mm1.trace", "gavel", 59, 46317.0, 1271, 297215},
    {"shockwave/traces/120jobs_100.trace.gz", "shockwave", 120, 5011.0, 134583, 5279},
    {"shockwave/traces/900jobs_1000.trace.gz", "shockwave", 900, 4400.0, 16280, 3984},
    {"pollux-adaptdl/workloads/workload-6.csv.gz", "pollux", 160, 28189, 0, 0},
    {"pollux-adaptdl/workloads-2.0/workload-6.csv.gz", "pollux", 320, 28189, 0, 0},
};

TEST(GavelTrace, ReadsPublishedFilesCompletely) {
  YARD_NEEDS_TRACES();
  const std::filesystem::path dir = testing::traces_dir();
  for (const GavelFile& file : kGavelFiles) {
    SCOPED_TRACE(file.path);
    const Trace trace = load_trace(dir / file.path, {});
    EXPECT_EQ(trace.format, file.format);
    EXPECT_TRUE(trace.skipped.empty());
    ASSERT_EQ(trace.jobs.size(), file.jobs);
    EXPECT_EQ(static_cast<double>(trace.jobs.back().submit_us), file.last_submit_s * kUsPerS);
    EXPECT_EQ(trace.jobs.front().iterations, file.first_steps);
    EXPECT_EQ(trace.jobs.back().iterations, file.last_steps);
  }
  // The publishers' totals over all files.
  size_t clusters = 0, jobs = 0, testbed = 0, shockwave = 0, pollux = 0;
  const auto all_in = [&](const char* folder, size_t& sum) {
    for (const auto& file : std::filesystem::directory_iterator(dir / folder)) {
      sum += load_trace(file.path(), {}).jobs.size();
      clusters += std::string(folder) == "gavel/traces-msr-seed0";
    }
  };
  all_in("gavel/traces-msr-seed0", jobs);
  all_in("gavel/traces-physical", testbed);
  all_in("shockwave/traces", shockwave);
  for (const char* load : {"", "-0.5", "-1.5", "-2.0", "-realistic"}) {
    all_in(("pollux-adaptdl/workloads" + std::string(load)).c_str(), pollux);
  }
  EXPECT_EQ(clusters, 15u);
  EXPECT_EQ(jobs, 15264u);
  EXPECT_EQ(testbed, 287u);
  EXPECT_EQ(shockwave, 120u + 220 + 460 + 900 + 900);
  EXPECT_EQ(pollux, 8u * (160 + 80 + 240 + 320 + 160));
}

}  // namespace
}  // namespace yard
