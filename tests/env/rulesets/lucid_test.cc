// The rule set `lucid` against the original program's results, job by job, and against a slow
// simulator which steps each second. Jobs, clusters and settings are random.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/trace/formats/load_trace.h"
#include "tests/reference/lucid_reference.h"
#include "tests/support/replays.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

Play lucid_play(const std::string& policy, const std::string& placement) {
  return {"lucid", policy, placement};
}

struct LucidTotals {
  std::string policy;
  int64_t sum_jct_s, makespan_s, preemptions;
  std::string sha256;  // of csv_of()
};

TEST(Lucid, StartsAndEndsMatchTheOriginal) {
  const Trace trace = load_trace("synthetic:xv", {.jobs = 480});
  const Scene scene("8x8", trace.jobs);
  for (const LucidTotals& p :
       {LucidTotals{"fifo", 27'763'064, 367'548, 0,
                    "a691da0a2b8765123dec01a854045bcda298e0459842960307347f664d30c4be"},
        LucidTotals{"srtf", 5'007'151, 313'189, 499,
                    "f6f87781463840a9c71d499ab5ea408c9a1cdc0171205384cfadf165e950371d"}}) {
    SCOPED_TRACE(p.policy);
    const Outcome outcome = replay(scene, lucid_play(p.policy, "consolidate"));
    EXPECT_EQ(total_jct_us(scene, outcome.jobs), p.sum_jct_s * kSecond);
    EXPECT_EQ(outcome.end_us, p.makespan_s * kSecond);
    EXPECT_EQ(preemptions(outcome), p.preemptions);
    const std::string csv = csv_of(scene, outcome);
    EXPECT_EQ(sha256_hex(csv), p.sha256);
    if (xval_dir().empty()) continue;
    const std::string file = "lucid-xv480-8-" + p.policy + "-consolidate.csv";
    EXPECT_EQ(csv, read_file((xval_dir() / "expected" / file).string()));
  }
}

// The original's number of ticks under tiresias; for sjf only "1.08 million" is published.
TEST(Lucid, LastTicksMatchTheOriginal) {
  const Scene small("8x8", load_trace("synthetic:xv", {.jobs = 480}).jobs);
  EXPECT_EQ(replay(small, lucid_play("tiresias", "consolidate")).end_us, 338'700 * kSecond);
  const Scene large("8x8", load_trace("synthetic:xv", {.jobs = 2000}).jobs);
  EXPECT_EQ(replay(large, lucid_play("sjf", "consolidate")).end_us / kSecond / 10'000, 108);
}

struct LucidCluster {
  std::string text;
  std::vector<int> nodes;
  bool of_8;
};

const std::vector<LucidCluster> kClusters = {
    {"1x8", {8}, true},        {"2x8", {8, 8}, true},
    {"3x8", {8, 8, 8}, true},  {"5x8", {8, 8, 8, 8, 8}, true},
    {"3x4", {4, 4, 4}, false}, {"2x3+1x8+1x1", {3, 3, 8, 1}, false},
};

reference::LucidRules random_rules(Rng& rng, const std::string& policy, Settings& settings) {
  reference::LucidRules rules;
  rules.policy = policy;
  const auto set = [&](const char* key, int64_t& value, std::vector<int64_t> choices) {
    value = choices[rng.below(static_cast<uint32_t>(choices.size()))];
    settings.set(key, std::to_string(value), "test");
  };
  if (rng.below(3) == 0) return rules;  // the original's settings
  set("preempt_s", rules.preempt_s, {0, 1, 40, 100});
  set("preempt_large_s", rules.preempt_large_s, {0, 60, 7});
  set("limit_gpu_s", rules.limit_gpu_s, {0, 100, 800, 18000});
  set("round_s", rules.round_s, {1, 7, 60});
  return rules;
}

class LucidRandom : public ::testing::TestWithParam<std::string> {};

TEST_P(LucidRandom, MatchesTheReferenceSimulator) {
  for (uint64_t seed = 0; seed < 800; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(sha256_hex(GetParam())[0]);
    const LucidCluster& cluster = kClusters[rng.below(static_cast<uint32_t>(kClusters.size()))];
    SCOPED_TRACE(cluster.text);
    int total = 0;
    for (const int gpus : cluster.nodes) total += gpus;
    const std::vector<Job> jobs = coarse_jobs(rng, {.max_jobs = 30,
                                                    .gap_s = 100,
                                                    .spread_s = 200,
                                                    .grains_s = {1, 10, 60},
                                                    .largest = total,
                                                    .powers = rng.below(2) == 0});
    const Scene scene(cluster.text, jobs);
    Play play = lucid_play(GetParam(), "");
    reference::LucidRules rules = random_rules(rng, GetParam(), play.settings);
    for (const char* placement : {"consolidate", "random"}) {
      if (!cluster.of_8 && placement == std::string("consolidate")) continue;
      SCOPED_TRACE(placement);
      play.placement = rules.placement = placement;
      expect_same(replay_checked(scene, play),
                  reference::lucid(in_seconds(jobs), cluster.nodes, rules));
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LucidRandom, ::testing::Values("fifo", "sjf", "srtf", "tiresias"),
                         [](const auto& info) { return info.param; });

// The original's service limit, which large jobs reach.
TEST(Lucid, MatchesTheReferenceBeyondTheServiceLimit) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const std::vector<Job> jobs = coarse_jobs(
        rng, {.max_jobs = 25, .gap_s = 1500, .spread_s = 1500, .grains_s = {1, 60}, .largest = 24});
    const Scene scene("3x8", jobs);
    reference::LucidRules rules;
    rules.policy = "tiresias";
    expect_same(replay_checked(scene, lucid_play("tiresias", "consolidate")),
                reference::lucid(in_seconds(jobs), {8, 8, 8}, rules));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(Lucid, TruncatesToSecondsAndRunsAtLeastOne) {
  const Scene scene("1x8", jobs_of({{2.5, 8, 10.9}, {3.2, 8, 0.5}}));
  const Outcome fifo = replay_checked(scene, lucid_play("fifo", "random"));
  EXPECT_EQ(fifo.jobs[0].start_us, 2 * kSecond);
  EXPECT_EQ(fifo.jobs[0].end_us, 12 * kSecond);
  EXPECT_EQ(fifo.jobs[1].end_us, 13 * kSecond);
  const Outcome srtf = replay_checked(scene, lucid_play("srtf", "random"));
  EXPECT_EQ(srtf.jobs[1].start_us, 3 * kSecond);
  EXPECT_EQ(srtf.jobs[1].end_us, 4 * kSecond);
  EXPECT_EQ(srtf.jobs[0].preemptions, 1);
  // At 3 it had 9 s left (one was counted off), then 49; it continues at 4.
  EXPECT_EQ(srtf.jobs[0].end_us, (4 + 49 + 1) * kSecond);
}

TEST(Lucid, RejectsUnsupportedOptions) {
  const auto refused = [](const std::string& cluster, const Play& play) {
    const Scene scene(cluster, jobs_of({{0, 1, 10}}));
    return refusal(scene, play);
  };
  EXPECT_NE(refused("1x8", lucid_play("las", "random")).find("'las'"), std::string::npos);
  EXPECT_NE(refused("1x8", lucid_play("fifo", "yarn")).find("'yarn'"), std::string::npos);
  EXPECT_NE(refused("1x8+1x4", lucid_play("fifo", "consolidate")).find("nodes of 8 GPUs"),
            std::string::npos);
  EXPECT_NE(refused("1x4", lucid_play("fifo", "")).find("nodes of 8 GPUs"), std::string::npos);
  EXPECT_EQ(refused("1x8+1x4", lucid_play("fifo", "random")), "");
  std::vector<Job> unknown = jobs_of({{0, 1, 10}});
  unknown[0].run_us = Job::kFromProfile;
  const Scene scene("1x8", unknown);
  EXPECT_NE(refusal(scene, lucid_play("srtf", "random")).find("run times"), std::string::npos);
  Play odd = lucid_play("srtf", "random");
  odd.settings.set("preempt_s", "-1", "test");
  EXPECT_NE(refused("1x8", odd).find("preempt_s"), std::string::npos);
}

}  // namespace
}  // namespace yard::testing
