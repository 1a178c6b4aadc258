// The rule set `blox` against the totals of the original program, and against a slow simulator
// which plays every round. Jobs, clusters and lengths of rounds are random.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "tests/reference/blox_reference.h"
#include "tests/support/replays.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

const Play kBloxFifo{"blox", "fifo", ""};

TEST(Blox, TotalsMatchTheOriginal) {
  YARD_NEEDS_XVAL();
  const Trace trace = load_trace((xval_dir() / "60_job.csv").string(), {});
  const Scene scene("2x8", trace.jobs);
  const Outcome outcome = replay_checked(scene, kBloxFifo);
  EXPECT_EQ(total_jct_us(scene, outcome.jobs), 121'290 * kSecond);
  EXPECT_EQ(outcome.end_us, 6'600 * kSecond);
}

// The original's number of rounds, the first at 0.
TEST(Blox, RoundsMatchTheOriginal) {
  const Scene scene("8x8", load_trace("synthetic:xv", {.jobs = 480}).jobs);
  EXPECT_EQ(replay(scene, kBloxFifo).end_us, (2'560 - 1) * 300 * kSecond);
}

TEST(Blox, MatchesTheReferenceSimulator) {
  const std::vector<std::pair<std::string, std::vector<int>>> clusters = {
      {"1x8", {8}},
      {"2x8", {8, 8}},
      {"3x4", {4, 4, 4}},
      {"2x3+1x8+1x1", {3, 3, 8, 1}},
      {"6x1", {1, 1, 1, 1, 1, 1}},
      {"1x5+2x2", {5, 2, 2}}};
  int played = 0, stuck = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const auto& [text, nodes] = clusters[rng.below(static_cast<uint32_t>(clusters.size()))];
    SCOPED_TRACE(text);
    int total = 0;
    for (const int gpus : nodes) total += gpus;
    const bool odd = rng.below(4) == 0;  // numbers which no state may reach
    const std::vector<Job> jobs = coarse_jobs(
        rng, {.grains_s = {1, 50, 100, 300}, .largest = odd ? total : nodes[0], .powers = !odd});
    const Scene scene(text, jobs);
    const int64_t rounds_s[] = {300, 300, 60, 1};
    const int64_t round_s = rounds_s[rng.below(4)];
    Play play = kBloxFifo;
    play.settings.set("round_s", std::to_string(round_s), "test");
    const auto slow = reference::blox(in_seconds(jobs), nodes, round_s);
    if (std::any_of(slow.begin(), slow.end(), [](const auto& o) { return o.end_s < 0; })) {
      EXPECT_THROW(replay(scene, play), RunError);
      ++stuck;
      continue;
    }
    expect_same(replay_checked(scene, play), slow);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    ++played;
  }
  EXPECT_GT(played, 300);
  EXPECT_GT(stuck, 20);
}

// 3 GPUs are free on the first node, 8 on the second: 3 + 4 is not 4.
TEST(Blox, PlacementMustHaveTheExactNumberOfGpus) {
  const Scene scene("2x8", jobs_of({{0, 5, 500}, {0, 4, 10}, {0, 1, 10}}));
  const Outcome outcome = replay_checked(scene, kBloxFifo);
  EXPECT_EQ(outcome.jobs[0].end_us, 600 * kSecond);
  EXPECT_EQ(outcome.jobs[1].start_us, 600 * kSecond);
  EXPECT_EQ(outcome.jobs[2].start_us, 600 * kSecond);
}

TEST(Blox, ReportsAJobThatBlocksTheQueueForEver) {
  const Scene scene("2x8", jobs_of({{0, 12, 10}, {0, 1, 10}}));
  try {
    replay(scene, kBloxFifo);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "blox: fifo leaves 2 jobs waiting with nothing running");
  }
}

TEST(Blox, RejectsUnsupportedOptions) {
  const Scene scene("1x8", jobs_of({{0, 1, 10}}));
  EXPECT_NE(refusal(scene, {"blox", "las", ""}).find("'las'"), std::string::npos);
  EXPECT_NE(refusal(scene, {"blox", "fifo", "yarn"}).find("'yarn'"), std::string::npos);
}

}  // namespace
}  // namespace yard::testing
