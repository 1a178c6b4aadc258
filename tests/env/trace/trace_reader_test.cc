// Readers: each registered one by its example and settings, errors for invalid rows, and jobs which
// a cluster cannot run. public_files_test.cc reads the real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/cluster/spec.h"
#include "env/sim/placement/fits.h"
#include "env/trace/core/rows.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/formats/native.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const kItpHeader = "job_id,submission_time,duration,num_gpu\n";

std::string reader_error(const std::string& text, const LoadOptions& options = {}) {
  try {
    parse_trace(text, "jobs.csv", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EveryReader, AloneRecognisesItsExample) {
  ASSERT_FALSE(Registry<TraceReader>::names().empty());
  for (const std::string& name : Registry<TraceReader>::names()) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(Registry<TraceReader>::info(name).help.empty());
    const std::string example = Registry<TraceReader>::make(name, {})->example();
    const Trace trace = parse_trace(example, "example", {});
    EXPECT_EQ(trace.format, name);
    ASSERT_GE(trace.jobs.size(), 2u);
    for (const Job& job : trace.jobs) {
      EXPECT_FALSE(job.id.empty());
      EXPECT_GE(job.submit_us, 0);
      EXPECT_GE(job.run_us, Job::kFromProfile);
      EXPECT_GE(job.gpus, job.groups.empty() ? 1 : 0);
      EXPECT_TRUE(job.scored);
    }
  }
}

TEST(EveryReader, AcceptsOnlyDeclaredSettings) {
  for (const std::string& name : Registry<TraceReader>::names()) {
    SCOPED_TRACE(name);
    const std::string example = Registry<TraceReader>::make(name, {})->example();
    const std::string plain = to_native_csv(parse_trace(example, "example", {}));
    LoadOptions defaults{.format = name};
    for (const Field& field : Registry<TraceReader>::info(name).fields()) {
      EXPECT_FALSE(field.help.empty()) << field.key;
      defaults.settings.set(field.key, field.value, "test");
    }
    EXPECT_EQ(to_native_csv(parse_trace(example, "example", defaults)), plain);
    defaults.settings.set("nonesuch", "1", "test");
    EXPECT_THROW(parse_trace(example, "example", defaults), InputError);
  }
}

TEST(EveryReader, NamesTheInvalidLine) {
  for (const std::string& name : Registry<TraceReader>::names()) {
    SCOPED_TRACE(name);
    const std::string example = Registry<TraceReader>::make(name, {})->example();
    const auto lines = std::count(example.begin(), example.end(), '\n');
    const char separator = Registry<TraceReader>::make(name, {})->layout().separator;
    const size_t last = example.rfind('\n', example.size() - 2) + 1;
    std::string broken = "?";
    for (const char c : example.substr(last)) {
      if (c == separator) broken += std::string(1, c) + "?";
    }
    EXPECT_THAT(reader_error(example + broken + "\n"),
                HasSubstr("jobs.csv:" + std::to_string(lines + 1) + ":"));
  }
}

// Any content gives jobs or an InputError, never another failure.
TEST(EveryReader, SurvivesMutatedExamples) {
  for (const std::string& name : Registry<TraceReader>::names()) {
    const std::string example = Registry<TraceReader>::make(name, {})->example();
    int read = 0, refused = 0;
    const auto load = [&](const std::string& text, bool skip) {
      try {
        const Trace trace = parse_trace(text, "bent", {.format = name, .skip_unusable = skip});
        for (const Job& job : trace.jobs) ASSERT_GE(job.gpus, 0);
        ++read;
      } catch (const InputError&) {
        ++refused;
      }
    };
    for (size_t cut = 0; cut < example.size(); ++cut) {
      for (const bool skip : {false, true}) {
        load(example.substr(0, cut), skip);
        for (const char odd : {'-', ',', '\n', '\r', '.', '\0', '\xff', '9'}) {
          std::string bent = example;
          bent[cut] = odd;
          load(bent, skip);
        }
      }
    }
    EXPECT_GT(read, 0) << name;
    EXPECT_GT(refused, 0) << name;
  }
}

TEST(Tiresias, ColumnsMayBeInAnyOrder) {
  const Trace trace = parse_trace(
      "duration,submit_time,job_id,model_name,num_gpu\r\n"
      "164.9,30,a,vgg19,2\r\n"
      "\r\n"
      "100,0,b,resnet50,16",
      "jobs.csv", {});
  EXPECT_EQ(trace.format, "tiresias");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "b");
  EXPECT_EQ(trace.jobs[0].gpus, 16);
  EXPECT_EQ(trace.jobs[0].line, 4);
  EXPECT_EQ(trace.jobs[1].id, "a");
  EXPECT_EQ(trace.jobs[1].submit_us, 30 * kUsPerS);
  EXPECT_EQ(trace.jobs[1].run_us, 164 * kUsPerS) << "the fraction is truncated";
  EXPECT_EQ(trace.jobs[1].name, "vgg19");
  EXPECT_EQ(trace.jobs[1].line, 2);
}

TEST(Itp, KeepsFractionsOfSeconds) {
  const Trace trace =
      parse_trace("\xEF\xBB\xBF" + std::string(kItpHeader) + "a,0.5,600.25,4\n", "jobs.csv", {});
  EXPECT_EQ(trace.format, "itp");
  EXPECT_EQ(trace.jobs.at(0).submit_us, 500'000);
  EXPECT_EQ(trace.jobs.at(0).run_us, 600'250'000);
}

TEST(Trace, SimultaneousJobsKeepTheOrderOfTheFile) {
  std::string text = kItpHeader;
  for (int i = 0; i < 100; ++i) {
    text += "j" + std::to_string(i) + "," + std::to_string(i % 3) + ",10,1\n";
  }
  const Trace trace = parse_trace(text, "jobs.csv", {});
  ASSERT_EQ(trace.jobs.size(), 100u);
  for (size_t j = 1; j < trace.jobs.size(); ++j) {
    const Job& before = trace.jobs[j - 1];
    const Job& job = trace.jobs[j];
    ASSERT_LE(before.submit_us, job.submit_us);
    if (before.submit_us == job.submit_us) {
      ASSERT_LT(before.line, job.line);
    }
  }
}

TEST(Trace, HashIsOfTheText) {
  const std::string text = std::string(kItpHeader) + "a,0,10,1\n";
  EXPECT_EQ(parse_trace(text, "x", {}).sha256, sha256_hex(text));
}

struct BadExample {
  const char* name;
  const char* row;
  const char* place;  // in the row
  const char* expected;
  const char* reason;
};

class BadRow : public ::testing::TestWithParam<BadExample> {};

// One bad row of a kind on line 3, two more of another kind after it.
TEST_P(BadRow, IsNamedAndCounted) {
  const BadExample& bad = GetParam();
  const std::string text = std::string(kItpHeader) + "good,0,10,1\n" + bad.row +
                           "\nb,1,10,one\nlast,5,20,2\nc,1,10,two\n";
  EXPECT_THAT(reader_error(text),
              AllOf(HasSubstr(std::string("jobs.csv:3: ") + bad.place + "expected " + bad.expected),
                    HasSubstr("first of 3 unusable rows"), HasSubstr("--skip-unusable")));

  const Trace trace = parse_trace(text, "jobs.csv", {.skip_unusable = true});
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "good");
  EXPECT_EQ(trace.jobs[1].id, "last");
  int64_t count = 0;
  for (const CountedRows& skipped : trace.skipped) count += skipped.count;
  EXPECT_EQ(count, 3);
  EXPECT_EQ(trace.skipped.at(0).reason, bad.reason);
  EXPECT_EQ(trace.skipped.at(0).first, "jobs.csv:3");
}

INSTANTIATE_TEST_SUITE_P(
    Trace, BadRow,
    ::testing::Values(
        BadExample{"duration", "a,1,-5,1", "column 3 (duration): ",
                   "duration of at least 0 s, got -5", "duration is negative"},
        BadExample{"fraction", "a,1,-0.5,1", "column 3 (duration): ",
                   "duration of at least 0 s, got -0.5", "duration is negative"},
        BadExample{"submission", "a,-1,5,1", "column 2 (submission_time): ",
                   "submission_time of at least 0 s, got -1", "submission_time is negative"},
        BadExample{"text", "a,1,long,1", "column 3 (duration): ", "duration in seconds, got 'long'",
                   "duration is not a number"},
        BadExample{"nothing", "a,1,,1", "column 3 (duration): ", "duration in seconds, got ''",
                   "duration is not a number"},
        BadExample{"nan", "a,nan,5,1", "column 2 (submission_time): ",
                   "submission_time in seconds, got 'nan'", "submission_time is not a number"},
        BadExample{"far", "a,1,100000000001,1", "column 3 (duration): ",
                   "duration of at most 4000000000 s", "duration is too large"},
        BadExample{"no_gpus", "a,1,5,0", "column 4 (num_gpu): ", "1 to 1048576 GPUs, got 0",
                   "no GPUs"},
        BadExample{"minus_gpus", "a,1,5,-1", "column 4 (num_gpu): ", "1 to 1048576 GPUs, got -1",
                   "number of GPUs is negative"},
        BadExample{"gpus", "a,1,5,9999999",
                   "column 4 (num_gpu): ", "1 to 1048576 GPUs, got 9999999", "too many GPUs"},
        BadExample{"half_gpu", "a,1,5,0.5", "column 4 (num_gpu): ",
                   "a whole number of GPUs, got '0.5'", "number of GPUs is not a whole number"},
        BadExample{"short", "a,1,5", "", "4 fields, got 3", "wrong number of fields"},
        BadExample{"long", "a,1,5,1,", "", "4 fields, got 5", "wrong number of fields"},
        BadExample{"no_id", ",1,5,1", "column 1 (job_id): ", "a job_id, got nothing",
                   "job_id is empty"},
        BadExample{"again", "good,1,5,1", "", "a unique job id, got 'good', also on line 2",
                   "duplicate job id"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Trace, SingleBadRowIsReportedAsTheOnlyOne) {
  EXPECT_THAT(reader_error(std::string(kItpHeader) + "a,1,-5,1\n"),
              HasSubstr("the only unusable row"));
}

TEST(Trace, NoUsableRowIsAnErrorEvenWhenSkipping) {
  EXPECT_THAT(reader_error(std::string(kItpHeader) + "\na,1,-5,1\n", {.skip_unusable = true}),
              HasSubstr("expected at least one job, got only unusable rows, the first on line 3"));
}

TEST(Trace, FilesWithoutJobsOrFormatAreRejected) {
  EXPECT_THAT(reader_error(""), HasSubstr("jobs.csv: expected a trace, got an empty file"));
  EXPECT_THAT(reader_error("\n \n"), HasSubstr("an empty file"));
  EXPECT_THAT(reader_error(kItpHeader), HasSubstr("a header without rows"));
  EXPECT_THAT(reader_error("time,user,cores\n1,2,3\n"),
              AllOf(HasSubstr("jobs.csv:1: expected"), HasSubstr("yardmaster list traces"),
                    HasSubstr("'time,user,cores'")));
  EXPECT_THAT(reader_error(kItpHeader, {.format = "slurm"}),
              AllOf(HasSubstr("--format: expected one of: "), HasSubstr("'slurm'")));
  EXPECT_THAT(reader_error(kItpHeader, {.format = "tiresias"}),
              HasSubstr("jobs.csv:1: expected a column 'submit_time'"));
  EXPECT_THAT(reader_error("num_gpus,timestamp,duration,cluster,num_gpus\n", {.format = "philly"}),
              HasSubstr("jobs.csv:1: expected each column once, got 'num_gpus' twice"));
  EXPECT_THROW(load_trace("no/such/jobs.csv", {}), InputError);
  EXPECT_THROW(load_trace("synthetic:nonesuch", {}), InputError);
  EXPECT_THROW(load_trace("synthetic:xv", {.format = "itp"}), InputError);
}

TEST(Trace, JobsLargerThanTheClusterAreNamedOrCounted) {
  // The first in the file is the second by submission.
  const std::string text = std::string(kItpHeader) + "a,1,5,8\nb,9,5,256\nc,2,5,129\nd,3,5,128\n";
  Trace trace = parse_trace(text, "jobs.csv", {});
  try {
    check_jobs_fit_cluster(trace, load_cluster("16x8"), false);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("jobs.csv:3: expected at most 128 GPUs"),
                                    HasSubstr("got 256 for job 'b' (first of 2 such jobs")));
  }
  EXPECT_EQ(trace.jobs.size(), 4u);
  check_jobs_fit_cluster(trace, load_cluster("16x8"), true);
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[1].id, "d");
  ASSERT_EQ(trace.skipped.size(), 1u);
  EXPECT_EQ(trace.skipped[0].count, 2);
  EXPECT_EQ(trace.skipped[0].first, "jobs.csv:3");
  check_jobs_fit_cluster(trace, load_cluster("16x8"), false);
  EXPECT_THROW(check_jobs_fit_cluster(trace, load_cluster("1x4"), true), InputError)
      << "no job fits";
}

TEST(Trace, SourcesAreListedWithTheirHelp) {
  std::vector<std::string> names;
  for (const TraceSource& source : list_trace_sources()) {
    names.push_back(source.name);
    EXPECT_FALSE(source.help.empty()) << source.name;
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf({"itp", "tiresias", "synthetic:habits", "synthetic:xv"}));
}

TEST(Trace, JobsWithoutGpusAreNamedOrCounted) {
  const std::string text = "job_id,submit_s,run_s,gpus\na,1,5,8\nb,9,5,0\nc,2,5,0\nd,3,5,12\n";
  Trace trace = parse_trace(text, "jobs.csv", {});
  ASSERT_EQ(trace.jobs.size(), 4u);
  try {
    check_jobs_fit_cluster(trace, load_cluster("1x8"), false);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("jobs.csv:3: expected GPUs or CPUs, got neither"),
                                    HasSubstr("job 'b' (first of 2 such jobs")));
  }
  check_jobs_fit_cluster(trace, load_cluster("1x8"), true);
  ASSERT_EQ(trace.jobs.size(), 1u);
  ASSERT_EQ(trace.skipped.size(), 2u);
  EXPECT_EQ(trace.skipped[0].reason, "requests nothing");
  EXPECT_EQ(trace.skipped[0].count, 2);
  EXPECT_EQ(trace.skipped[1].reason, "larger than the cluster");
}

}  // namespace
}  // namespace yard
