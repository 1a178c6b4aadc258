// The rule set `pollux` against the original program's results, job by job, and against a slow
// simulator of the same rules. Workloads, goodputs and clusters are random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/lines.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/trace/formats/load_trace.h"
#include "tests/reference/pollux_reference.h"
#include "tests/support/measurements.h"
#include "tests/support/require.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Outcome replay_pollux(const Scene& scene, const std::string& rates,
                      const std::string& round_s = "60",
                      std::function<void(const SimState&)> watch = nullptr) {
  Settings settings;
  settings.set("rates", rates, "test");
  settings.set("round_s", round_s, "test");
  return RuleSetRegistry::make("pollux", settings)
      ->replay({.fixed = scene.fixed(),
                .workload = scene.workload(),
                .first_job = 0,
                .end_job = scene.size(),
                .policy = "tiresias",
                .placement = {},
                .settings = {},
                .trace = &scene.trace(),
                .watch = std::move(watch)});
}

struct PolluxMean {
  int workload;
  double mean_jct_s;
};

const PolluxMean kPolluxMeans[] = {{1, 2473.65}, {2, 5144.9625}, {3, 3876.25625}};

TEST(Pollux, CompletionsAndRestartsMatchTheOriginal) {
  YARD_NEEDS_XVAL();
  for (const PolluxMean& p : kPolluxMeans) {
    SCOPED_TRACE(p.workload);
    const std::string name = "pollux-workload-" + std::to_string(p.workload);
    const Scene scene("16x4", load_trace((xval_dir() / (name + ".csv")).string(), {}).jobs);
    const Outcome outcome = replay_pollux(scene, (xval_dir() / (name + "-rates.csv.gz")).string());
    EXPECT_DOUBLE_EQ(static_cast<double>(total_jct_us(scene, outcome.jobs)) / kSecond / 160,
                     p.mean_jct_s);
    Lines lines = Lines::of_file(xval_dir() / "expected" / (name + "-tiresias-jct.csv"));
    std::string_view line;
    ASSERT_TRUE(lines.next(line));
    EXPECT_EQ(line, "job,submit,completion,restarts");
    for (size_t j = 0; j < scene.jobs().size(); ++j) {
      const Job& job = scene.jobs()[j];
      const JobOutcome& what = outcome.jobs[j];
      ASSERT_TRUE(lines.next(line));
      EXPECT_EQ(line, job.id + "," + format_seconds(job.submit_us) + "," +
                          format_seconds(what.end_us) + "," + std::to_string(what.restarts));
    }
    EXPECT_FALSE(lines.next(line)) << "more jobs than were played";
  }
}

// --- against the slow simulator

struct PolluxWorld {
  std::string cluster;
  std::vector<int> node_gpus;
};

const std::vector<PolluxWorld> kPolluxWorlds = {
    {"1x4", {4}}, {"4x4", {4, 4, 4, 4}}, {"3x2+1x8+1x1", {2, 2, 2, 8, 1}}, {"2x8", {8, 8}}};

struct PolluxCase {
  std::vector<Job> jobs;
  std::vector<reference::PolluxJob> plain;
  // By job; goodput by placement and epoch.
  std::vector<std::map<std::string, std::vector<double>>> goodput;
  std::string csv = "job,placement,epoch,goodput,next_progress,completion_epoch\n";
};

// Rates and progress are halves and quarters, so that epochs often end at half a second. Some jobs
// have enough GPU time to be demoted.
PolluxCase random_pollux_case(Rng& rng, const PolluxWorld& world) {
  PolluxCase c;
  int largest = 0, total = 0;
  for (const int gpus : world.node_gpus) {
    largest = std::max(largest, gpus);
    total += gpus;
  }
  const auto count = 3 + rng.below(25);
  const uint32_t gap_s = 1 + rng.below(2000);
  std::vector<JobLine> lines;
  int64_t submit_s = rng.below(2) == 0 ? 0 : rng.below(10'000);
  for (uint32_t j = 0; j < count; ++j) {
    if (rng.below(3) != 0) submit_s += rng.below(gap_s);
    if (rng.below(4) == 0) submit_s = (submit_s + 59) / 60 * 60;
    const auto gpus = static_cast<int32_t>(1 + rng.below(static_cast<uint32_t>(total)));
    lines.push_back({static_cast<double>(submit_s), gpus, 1});
  }
  c.jobs = jobs_of(lines);
  for (size_t j = 0; j < c.jobs.size(); ++j) {
    const Job& job = c.jobs[j];
    reference::PolluxJob plain;
    plain.submit_s = job.submit_us / kSecond;
    plain.gpus = job.gpus;
    plain.completion_epoch = static_cast<int>(rng.below(6));
    const bool long_one = rng.below(4) == 0;
    double progress = 0;
    for (int e = 0; e <= plain.completion_epoch; ++e) {
      progress += (1 + rng.below(long_one ? 20'000 : 400)) / (rng.below(2) == 0 ? 4.0 : 1.0);
      plain.next_progress.push_back(progress);
    }
    auto& goodput = c.goodput.emplace_back();
    for (const std::string& placement : placements_of(job.gpus, largest)) {
      for (int e = 0; e <= plain.completion_epoch; ++e) {
        const double rate = (1 + rng.below(16)) / 4.0;
        goodput[placement].push_back(rate);
        c.csv += job.id + "," + placement + "," + std::to_string(e) + "," + shortest_text(rate) +
                 "," + shortest_text(plain.next_progress[static_cast<size_t>(e)]) + "," +
                 std::to_string(plain.completion_epoch) + "\n";
      }
    }
    c.plain.push_back(plain);
  }
  return c;
}

TEST(Pollux, MatchesTheReferenceSimulator) {
  int restarts = 0, spread = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(1);
    const PolluxWorld& world =
        kPolluxWorlds[rng.below(static_cast<uint32_t>(kPolluxWorlds.size()))];
    SCOPED_TRACE(world.cluster);
    const PolluxCase c = random_pollux_case(rng, world);
    const Scene scene(world.cluster, c.jobs);
    StepChecker checker(scene.fixed());
    const Outcome fast = replay_pollux(scene, written("rates.csv", c.csv), "60", checker.watcher());
    ASSERT_EQ(checker.broken(), "");
    const auto slow = reference::pollux(
        c.plain, world.node_gpus, [&](int j, const std::string& placement, int epoch) {
          spread += placement.find('+') != std::string::npos;
          return c.goodput[static_cast<size_t>(j)].at(placement)[static_cast<size_t>(epoch)];
        });
    for (size_t j = 0; j < c.jobs.size(); ++j) {
      SCOPED_TRACE("job " + std::to_string(j));
      ASSERT_EQ(fast.jobs[j].start_us, slow[j].start_s * kSecond);
      ASSERT_EQ(fast.jobs[j].end_us, slow[j].completion_s * kSecond);
      ASSERT_EQ(fast.jobs[j].restarts, slow[j].starts - 1);
      ASSERT_EQ(fast.jobs[j].preemptions, slow[j].stops);
      restarts += fast.jobs[j].restarts;
    }
  }
  // Otherwise the cases would not cover demoted jobs or jobs on several nodes.
  EXPECT_GT(restarts, 100);
  EXPECT_GT(spread, 1000);
}

// --- by hand

const char* const kRatesHeader = "job,placement,epoch,goodput,next_progress,completion_epoch\n";

TEST(Pollux, JobStartsAtARoundsEndAndMayEndWithinOne) {
  const Scene scene("1x4", jobs_of({{0, 4, 1}, {61, 2, 1}, {120, 2, 1}}));
  // a: noticed at 60, 30 s of rescaling, 10 units at 0.8/s = 12.5 s, cut to 12 s; its GPUs are free
  // at 120. b and c: noticed at 120, both end at 120 + 30 + 11.
  const std::string rates = written(
      "rates.csv", std::string(kRatesHeader) + "a,4,0,0.8,10,0\nb,2,0,1,11,0\nc,2,0,2,22,0\n");
  const Outcome outcome = replay_pollux(scene, rates);
  EXPECT_EQ(outcome.jobs[0].start_us, 60 * kSecond);
  EXPECT_EQ(outcome.jobs[0].end_us, 102 * kSecond);
  EXPECT_EQ(outcome.jobs[1].start_us, 120 * kSecond);
  EXPECT_EQ(outcome.jobs[1].end_us, 161 * kSecond);
  EXPECT_EQ(outcome.jobs[2].end_us, 161 * kSecond);
  EXPECT_EQ(outcome.held_time_us, (4 * 60 + 4 * 60) * kSecond);
}

TEST(Pollux, RoundLengthIsConfigurable) {
  const Scene scene("1x4", jobs_of({{5, 1, 1}}));
  const std::string rates = written("rates.csv", std::string(kRatesHeader) + "a,1,0,1,100,0\n");
  EXPECT_EQ(replay_pollux(scene, rates, "10").jobs[0].start_us, 10 * kSecond);
  EXPECT_EQ(replay_pollux(scene, rates, "10").jobs[0].end_us, 140 * kSecond);
}

std::string refusal(const Scene& scene, const std::string& rows) {
  try {
    replay_pollux(scene, written("rates.csv", kRatesHeader + rows));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Pollux, MissingRatesAreNamed) {
  const Scene scene("1x4", jobs_of({{0, 2, 1}}));
  EXPECT_THAT(refusal(scene, "b,2,0,1,10,0\n"), HasSubstr("rates of job 'a'"));
  EXPECT_THAT(refusal(scene, "a,1+1,0,1,10,0\n"),
              AllOf(HasSubstr("job 'a' on placement 2 in epoch 0"), HasSubstr("rates.csv")));
  EXPECT_THAT(refusal(scene, "a,2,0,1,10,1\na,1+1,1,1,20,1\n"),
              HasSubstr("job 'a' on placement 2 in epoch 1"));
  EXPECT_EQ(refusal(scene, "a,2,0,1,10,0\n"), "");
}

TEST(Pollux, RepeatedJobUsesTheOriginalsRates) {
  std::vector<Job> jobs = jobs_of({{0, 1, 1}, {100, 1, 1}});
  jobs[1].id = "a#1";
  const Scene scene("1x4", jobs);
  EXPECT_EQ(refusal(scene, "a,1,0,1,10,0\n"), "");
}

TEST(Pollux, OversizedJobIsAnError) {
  const Scene scene("1x4", jobs_of({{0, 5, 1}, {0, 1, 1}}));
  const std::string rates =
      written("rates.csv", std::string(kRatesHeader) + "a,5,0,1,10,0\nb,1,0,1,10,0\n");
  EXPECT_THROW(replay_pollux(scene, rates), RunError);
}

}  // namespace
}  // namespace yard::testing
