// The rule set `accasim` against the slow simulator of the same FIFO queue.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reference/tiresias_reference.h"
#include "tests/support/replays.h"

namespace yard::testing {
namespace {

const Play kAccasimFifo{"accasim", "fifo", ""};

TEST(AccaSim, MatchesTheReferenceSimulator) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const int cores = 1 + static_cast<int>(rng.below(40));
    const std::vector<Job> jobs = coarse_jobs(rng, {.largest = cores});
    const Scene scene(std::to_string(cores) + "x1", jobs);
    expect_same(replay_checked(scene, kAccasimFifo),
                reference::tiresias(in_seconds(jobs), {cores, 1, cores}, "fifo", "count"));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(AccaSim, NodesMayHaveSeveralCores) {
  const std::vector<Job> jobs = jobs_of({{0, 7, 10}, {0, 2, 10}, {1, 1, 5}});
  const Scene one("8x1", jobs), four("2x4", jobs);
  EXPECT_EQ(csv_of(one, replay_checked(one, kAccasimFifo)),
            csv_of(four, replay_checked(four, kAccasimFifo)));
}

TEST(AccaSim, RejectsUnsupportedOptions) {
  const Scene scene("4x1", jobs_of({{0, 1, 10}}));
  EXPECT_NE(refusal(scene, {"accasim", "sjf", ""}).find("'sjf'"), std::string::npos);
  EXPECT_NE(refusal(scene, {"accasim", "fifo", "best-fit"}).find("'best-fit'"), std::string::npos);
}

}  // namespace
}  // namespace yard::testing
