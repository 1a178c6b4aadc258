// The rule set `muri` against the results of the original program, job by job, and against a slow
// simulator of the same rules. Also the reader of its traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/trace/formats/load_trace.h"
#include "tests/reference/muri_reference.h"
#include "tests/support/replays.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

Play play(const std::string& policy) { return {"muri", policy, ""}; }

struct Times {
  double start_s, end_s;
};

std::map<std::string, Times> expected_times(const std::string& path) {
  std::map<std::string, Times> out;
  const std::string text = read_file(path);
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 4 || fields[0] == "job_id") continue;
    out[std::string(fields[0])] = {parse_double(fields[2]).value(),
                                   parse_double(fields[3]).value()};
  }
  return out;
}

double seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

TEST(Muri, StartsAndEndsMatchTheOriginal) {
  YARD_NEEDS_XVAL();
  const Trace trace = load_trace((traces_dir() / "muri" / "trace3.csv.gz").string(), {});
  ASSERT_EQ(trace.format, "muri");
  const Scene scene("8x8", trace.jobs);
  const Outcome outcome = replay_checked(scene, play("shortest"));
  const auto expected =
      expected_times((xval_dir() / "expected" / "muri-trace3-shortest.csv").string());
  ASSERT_EQ(expected.size(), trace.jobs.size());
  double sum_s = 0;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    SCOPED_TRACE("job " + trace.jobs[j].id);
    const Times& times = expected.at(trace.jobs[j].id);
    // Reported times are whole microseconds.
    ASSERT_NEAR(seconds(outcome.jobs[j].start_us), times.start_s, 1e-6);
    ASSERT_NEAR(seconds(outcome.jobs[j].end_us), times.end_s, 1e-6);
    sum_s += seconds(outcome.jobs[j].end_us - trace.jobs[j].submit_us);
  }
  EXPECT_NEAR(sum_s / static_cast<double>(trace.jobs.size()), 193081.796024, 1e-6);
  EXPECT_NEAR(seconds(outcome.end_us), 8174135.280030, 1e-6);
}

// Each line of the original's log is an event, except for a header.
TEST(Muri, EventsMatchTheOriginal) {
  YARD_NEEDS_TRACES();
  struct Case {
    const char *file, *policy;
    int64_t lines;
  };
  for (const Case& c :
       {Case{"trace1.csv.gz", "shortest-gpu", 2'981}, Case{"trace2.csv.gz", "shortest", 11'403},
        Case{"trace3.csv.gz", "shortest", 1'985}}) {
    SCOPED_TRACE(c.file);
    const Trace trace = load_trace((traces_dir() / "muri" / c.file).string(), {});
    const Scene scene("8x8", trace.jobs);
    EXPECT_EQ(replay(scene, play(c.policy)).events, c.lines - 1);
  }
}

// With `late`, a billionth of a time is 0.1 s, and run times differ by as little. Many jobs then
// arrive or end at the same moment.
std::vector<Job> muri_jobs(Rng& rng, bool late, bool powers) {
  const char* models[] = {"vgg16", "vgg19", "resnet18", "shufflenet_v2_x1_0", "bert", "gpt2",
                          "a2c",   "dqn",   "resnet50"};
  std::vector<Job> jobs(5 + rng.below(40));
  const uint32_t alike = 1 + rng.below(9);
  const uint32_t gap_ms = late ? 300 : 1 + rng.below(2'000'000);
  int64_t submit_ms = late ? 100'000'000'000 : 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Job& job = jobs[j];
    if (rng.below(4) != 0) submit_ms += rng.below(gap_ms);
    if (late && rng.below(8) == 0) submit_ms += 30'000;
    job.id = std::to_string(j);
    job.submit_us = submit_ms * 1000;
    job.gpus = powers ? 1 << rng.below(6) : 1 + static_cast<int32_t>(rng.below(32));
    job.model = models[rng.below(alike)];
    job.iterations = late ? 60'000 * (1 + rng.below(3)) + rng.below(300) : 1 + rng.below(4000);
    job.iteration_ms = late ? 1 : 100 * (1 + rng.below(alike));
    job.run_us = static_cast<int64_t>(job.iterations * job.iteration_ms) * 1000;
  }
  return jobs;
}

class MuriRandom : public ::testing::TestWithParam<std::string> {};

TEST_P(MuriRandom, MatchesTheReferenceSimulator) {
  const bool by_gpus = GetParam() == "shortest-gpu";
  int64_t shared = 0;  // ends at the moment of another end
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(by_gpus);
    const bool late = rng.below(2) == 0;
    const std::vector<Job> jobs = muri_jobs(rng, late, rng.below(2) == 0);
    std::vector<reference::MuriJob> plain;
    for (const Job& job : jobs) {
      plain.push_back({static_cast<double>(job.submit_us) / 1e6, job.gpus, job.iterations,
                       job.iteration_ms, job.model});
    }
    const int nodes = 4 + static_cast<int>(rng.below(3));
    const auto slow = reference::muri(plain, 8 * nodes, by_gpus);
    const Scene scene(std::to_string(nodes) + "x8", jobs);
    const Outcome fast = replay_checked(scene, play(GetParam()));
    std::map<int64_t, int> ends;
    for (size_t j = 0; j < jobs.size(); ++j) {
      SCOPED_TRACE("job " + std::to_string(j));
      ASSERT_EQ(fast.jobs[j].start_us, std::llround(slow[j].start_s * 1e6));
      ASSERT_EQ(fast.jobs[j].end_us, std::llround(slow[j].end_s * 1e6));
      ASSERT_EQ(fast.jobs[j].preemptions, slow[j].preemptions);
      ASSERT_EQ(fast.jobs[j].restarts, slow[j].starts - 1);
      shared += late && ends[fast.jobs[j].end_us]++ > 0;
    }
  }
  EXPECT_GT(shared, 100);
}

INSTANTIATE_TEST_SUITE_P(All, MuriRandom, ::testing::Values("shortest", "shortest-gpu"),
                         [](const auto& info) {
                           return info.param == "shortest" ? "time" : "gpu";
                         });

// The start-up time of vgg16 on 4 GPUs, 8 s, is lost at the arrival at 100, though no job starts
// again. It is not lost at the end, which was predicted without it.
TEST(Muri, StartUpTimeIsLostAtEveryEventButTheEnd) {
  std::vector<Job> jobs = jobs_of({{0, 4, 1000}, {100, 1, 1}});
  for (Job& job : jobs) {
    job.model = "vgg16";
    job.iterations = static_cast<double>(job.run_us) / 1e6;
    job.iteration_ms = 1000 / 1.015;
  }
  jobs[1].iterations = 5000;
  const Scene scene("1x8", jobs);
  const Outcome outcome = replay_checked(scene, play("shortest"));
  EXPECT_NEAR(seconds(outcome.jobs[0].end_us), 1008, 1e-5);
  EXPECT_NEAR(seconds(outcome.jobs[1].end_us), 5100 + 7, 1e-5);
}

TEST(Muri, TraceWithoutIterationsCountsSeconds) {
  const Scene scene("1x8", jobs_of({{0.5, 3, 100}}));
  EXPECT_EQ(replay_checked(scene, play("shortest")).jobs[0].end_us, 102'000'000);
  Play slow = play("shortest-gpu");
  slow.settings.set("slowdown", "2", "test");
  EXPECT_EQ(replay_checked(scene, slow).jobs[0].end_us, 200'500'000);
}

TEST(Muri, RejectsUnsupportedOptions) {
  const Scene scene("1x8", jobs_of({{0, 1, 10}}));
  EXPECT_THAT(refusal(scene, play("dlas")), HasSubstr("'dlas'"));
  EXPECT_THAT(refusal(scene, {"muri", "shortest", "yarn"}), HasSubstr("'yarn'"));
}

// --- the reader

const std::string kHeader =
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\n";

TEST(MuriReader, TimesAreMilliseconds) {
  const Trace trace =
      parse_trace(kHeader + "7,16,3840001,1000,vgg16,16,332500,0,332.5,83,68,110,-2\n", "x", {});
  EXPECT_EQ(trace.format, "muri");
  const Job& job = trace.jobs.at(0);
  EXPECT_EQ(job.submit_us, 3'840'001'000);
  EXPECT_EQ(job.run_us, 332'500'000);
  EXPECT_EQ(job.gpus, 16);
  EXPECT_EQ(job.model, "vgg16");
  EXPECT_EQ(job.batch_size, 16);
  EXPECT_EQ(job.iterations, 1000);
  EXPECT_EQ(job.iteration_ms, 332.5);
  EXPECT_EQ(job.priority, -2);
}

TEST(MuriReader, NamesTheFlawOfARow) {
  const auto message = [](const std::string& row) {
    try {
      parse_trace(kHeader + row + "\n", "x", {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(
      message("0,1,-1,5,bert,4,5,0,1,0,0,0,0"),
      HasSubstr("x:2: column 3 (submit_time): expected submit_time of at least 0 ms, got -1"));
  EXPECT_THAT(message("0,1,soon,5,bert,4,5,0,1,0,0,0,0"),
              HasSubstr("submit_time in milliseconds, got 'soon'"));
  EXPECT_THAT(message("0,1,100000000000001,5,bert,4,5,0,1,0,0,0,0"),
              HasSubstr("submit_time of at most 4000000000000 ms"));
  EXPECT_THAT(message("0,1,0,0,bert,4,5,0,1,0,0,0,0"), HasSubstr("iterations above 0, got '0'"));
  EXPECT_THAT(message("0,1,0,5,bert,4,5,0,x,0,0,0,0"),
              HasSubstr("iteration_time as a number of at least 0, got 'x'"));
  EXPECT_THAT(message("0,1,0,5,,4,5,0,1,0,0,0,0"), HasSubstr("a model_name, got nothing"));
  EXPECT_THAT(message("0,1,0,5,bert,many,5,0,1,0,0,0,0"),
              HasSubstr("batch_size as a whole number"));
}

TEST(MuriReader, ReadsPublishedFilesCompletely) {
  YARD_NEEDS_TRACES();
  const std::pair<const char*, size_t> files[] = {{"trace1.csv.gz", 1494},
                                                  {"trace2.csv.gz", 5755},
                                                  {"trace3.csv.gz", 992},
                                                  {"trace4.csv.gz", 2638}};
  for (const auto& [file, jobs] : files) {
    SCOPED_TRACE(file);
    const Trace trace = load_trace((traces_dir() / "muri" / file).string(), {});
    EXPECT_EQ(trace.format, "muri");
    EXPECT_EQ(trace.jobs.size(), jobs);
    for (const Job& job : trace.jobs) {
      // The run time equals the iterations' time, up to rounding.
      ASSERT_NEAR(seconds(job.run_us), job.iterations * job.iteration_ms / 1e3, 1.5);
    }
  }
}

}  // namespace
}  // namespace yard::testing
