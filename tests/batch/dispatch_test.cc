// What the task shows: never the future, the same whatever slots the jobs are in, and never more
// than its window.
#include "env/task/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/policy.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

struct Sight {
  std::array<float, Dispatch::kJobs * Dispatch::kJobFeatures> jobs;
  std::array<float, Dispatch::kClusterFeatures> cluster;
  std::array<uint8_t, Dispatch::kActions> mask;
  std::array<float, Dispatch::kActions> prior;
  std::array<int32_t, Dispatch::kJobs> slots;
  Dispatch::Observation o{};

  Sight(const View& view, const DispatchConfig& config, const std::byte* memory) {
    o.jobs = jobs.data();
    o.cluster = cluster.data();
    o.mask = mask.data();
    o.prior = prior.data();
    o.slots = slots.data();
    Dispatch::observe(view, config, memory, o);
  }
  Sight(const Sight&) = delete;
};

// Follows the suggestion, and shows every decision to a test before it is carried out.
class Watcher final : public Policy {
 public:
  Watcher(const DispatchConfig& config, std::function<void(const View&, const Sight&)> look)
      : config_(config), look_(std::move(look)) {}
  Level level() const override { return Level::kHistory; }
  size_t memory_bytes(const View& view) const override { return Dispatch::memory_bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Dispatch::take_in(view, config_, memory.data());
    draft.wake_at(Dispatch::wake_us(view, config_));
    if (Dispatch::idle(view, config_)) return;
    for (;;) {
      const Sight sight(view, config_, memory.data());
      look_(view, sight);
      if (sight.o.suggested == Dispatch::kNothing) return;
      Dispatch::apply(view, config_, sight.slots[static_cast<size_t>(sight.o.suggested)],
                      draft.scratch(), draft);
    }
  }

 private:
  DispatchConfig config_;
  std::function<void(const View&, const Sight&)> look_;
};

TEST(Dispatch, ThePriorIsAProperDistributionWhoseModeIsTheSuggestion) {
  const Scene scene("2x8", busy_jobs(150));
  int64_t sights = 0, nothing = 0, stops = 0, starts = 0;
  const Watcher watcher({}, [&](const View&, const Sight& sight) {
    double sum = 0;
    for (int32_t a = 0; a < Dispatch::kActions; ++a) {
      const auto i = static_cast<size_t>(a);
      if (sight.mask[i] == 0) {
        ASSERT_EQ(sight.prior[i], Dispatch::kMasked);
      } else {
        ASSERT_TRUE(std::isfinite(sight.prior[i]));
        sum += std::exp(static_cast<double>(sight.prior[i]));
      }
    }
    // The kind that is suggested has weight 1, each of the other two at most prior_other.
    EXPECT_GT(sum, 0.99);
    EXPECT_LT(sum, 1.05);
    const auto best = std::max_element(sight.prior.begin(), sight.prior.end());
    EXPECT_EQ(best - sight.prior.begin(), sight.o.suggested);
    EXPECT_EQ(std::count(sight.prior.begin(), sight.prior.end(), *best), 1);
    const int32_t pick = sight.o.suggested;
    ++sights;
    if (pick == Dispatch::kNothing) {
      ++nothing;
    } else {
      const float* row = sight.jobs.data() + pick * Dispatch::kJobFeatures;
      EXPECT_EQ(row[Dispatch::kSuggested], 1);
      ++(row[Dispatch::kHolds] > 0 ? stops : starts);
    }
  });
  Player player(scene, watcher);
  player.play();
  EXPECT_GT(nothing, 0);
  EXPECT_GT(stops, 0);
  EXPECT_GT(starts, 0);
}

// Two workloads that are the same until a moment: until then, everything seen is the same.
TEST(Dispatch, SeesNothingOfTheFuture) {
  const int64_t cut_us = 8000 * kSecond;
  const auto sights_until = [&](const std::vector<Job>& jobs) {
    const Scene scene("2x8", jobs);
    std::vector<float> all;
    const Watcher watcher({}, [&](const View& view, const Sight& sight) {
      if (view.now_us() >= cut_us) return;
      all.push_back(static_cast<float>(view.now_us()) * 1e-6F);
      all.insert(all.end(), sight.jobs.begin(), sight.jobs.end());
      all.insert(all.end(), sight.cluster.begin(), sight.cluster.end());
      all.insert(all.end(), sight.prior.begin(), sight.prior.end());
      all.insert(all.end(), sight.mask.begin(), sight.mask.end());
    });
    Player player(scene, watcher);
    player.play();
    return all;
  };
  std::vector<Job> jobs = busy_jobs(150);
  const auto before = sights_until(jobs);
  // Long jobs that cannot end before the cut become longer, and other jobs come after it.
  int changed = 0;
  for (Job& job : jobs) {
    if (job.submit_us + job.run_us > cut_us) {
      job.run_us += 5000 * kSecond;
      ++changed;
    }
    if (job.submit_us > cut_us) job.gpus = 1;
  }
  ASSERT_GT(changed, 10);
  const auto after = sights_until(jobs);
  EXPECT_GT(before.size(), 10'000u);
  EXPECT_EQ(before, after);
}

// Two orders of arrival in the same second give the jobs other slots and serials; what is shown of
// each is the same.
TEST(Dispatch, SlotsDoNotMatter) {
  std::vector<Job> jobs = jobs_of({{0, 8, 3000}, {0, 4, 500}, {0, 2, 70}, {0, 1, 900}, {0, 8, 40}});
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].user = "u" + std::to_string(i);
  const auto rows_seen = [](const std::vector<Job>& in) {
    const Scene scene("1x8", in);
    std::vector<std::vector<float>> rows;
    const Watcher watcher({}, [&](const View&, const Sight& sight) {
      if (!rows.empty()) return;
      for (int32_t r = 0; r < sight.o.rows; ++r) {
        const float* row = sight.jobs.data() + r * Dispatch::kJobFeatures;
        std::vector<float> f(row, row + Dispatch::kJobFeatures);
        f[Dispatch::kSuggested] = 0;  // a tie between equals goes to the one that came first
        f.push_back(sight.mask[static_cast<size_t>(r)]);
        rows.push_back(f);
      }
    });
    Player player(scene, watcher);
    player.step();
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  const auto expected = rows_seen(jobs);
  ASSERT_EQ(expected.size(), 5u);
  std::reverse(jobs.begin(), jobs.end());
  EXPECT_EQ(rows_seen(jobs), expected);
  std::swap(jobs[0], jobs[3]);
  EXPECT_EQ(rows_seen(jobs), expected);
}

TEST(Dispatch, ACrowdLeavesTheBestInTheWindow) {
  std::vector<JobLine> lines;
  for (int i = 0; i < 300; ++i) lines.push_back({0, i % 8 + 1, 600.0 + i});
  std::vector<Job> jobs = jobs_of(lines);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].id = std::to_string(i);
  const Scene scene("2x8", jobs);
  int32_t most = 0;
  int64_t crowded = 0;
  DispatchConfig config;
  config.waiting_rows = Dispatch::kJobs;
  const Watcher watcher(config, [&](const View& view, const Sight& sight) {
    most = std::max(most, sight.o.rows);
    ASSERT_LE(sight.o.rows, Dispatch::kJobs);
    ASSERT_EQ(sight.o.legal, 1 + std::count(sight.mask.begin(), sight.mask.end() - 1, 1));
    std::vector<int32_t> slots(sight.slots.begin(), sight.slots.begin() + sight.o.rows);
    std::sort(slots.begin(), slots.end());
    ASSERT_TRUE(std::adjacent_find(slots.begin(), slots.end()) == slots.end());
    if (view.num_waiting() <= Dispatch::kJobs) return;
    ++crowded;
    // Nobody has a history, so the index is the same time for all jobs that never ran, times GPUs.
    int32_t widest = 0, waiting = 0;
    for (int32_t r = 0; r < sight.o.rows; ++r) {
      const int32_t slot = sight.slots[static_cast<size_t>(r)];
      if (view.phase(slot) != Phase::kWaiting || view.started(slot) > 0) continue;
      widest = std::max(widest, view.gpus(slot));
      ++waiting;
    }
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      if (view.started(slot) > 0 || view.gpus(slot) >= widest) continue;
      ASSERT_TRUE(std::binary_search(slots.begin(), slots.end(), slot))
          << "a narrower job of " << view.gpus(slot) << " is not in the window";
    }
    ASSERT_GT(waiting, 0);
  });
  Player player(scene, watcher);
  player.play();
  EXPECT_FALSE(player.failed());
  EXPECT_EQ(most, Dispatch::kJobs);
  EXPECT_GT(crowded, 50);
}

}  // namespace
}  // namespace yard::testing
