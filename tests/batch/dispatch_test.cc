// Observations of `dispatch`: independent of the future and of slot numbers, and within the window.
#include "env/task/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "policies/policy.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

struct ObservedState {
  std::array<float, Dispatch::kJobs * Dispatch::kJobFeatures> jobs;
  std::array<float, Dispatch::kClusterFeatures> cluster;
  std::array<uint8_t, Dispatch::kActions> mask;
  std::array<float, Dispatch::kActions> prior;
  std::array<int32_t, Dispatch::kJobs> slots;
  Observation o{};

  ObservedState(const View& view, const DispatchConfig& config, std::byte* memory) {
    o.jobs = jobs.data();
    o.cluster = cluster.data();
    o.mask = mask.data();
    o.prior = prior.data();
    o.slots = slots.data();
    o.filled = Dispatch::kJobs;
    Dispatch::observe(view, config, memory, o);
  }
  ObservedState(const ObservedState&) = delete;
};

// Takes the expert's action. Calls `look` with the observation before each action is applied.
class ObservingPolicy final : public Policy {
 public:
  // `memory`: if given, receives the address of the policy's memory.
  ObservingPolicy(const DispatchConfig& config,
                  std::function<void(const View&, const ObservedState&)> look,
                  Memory** memory = nullptr)
      : config_(config), on_observation_(std::move(look)), memory_(memory) {}
  Level level() const override { return Level::kHistory; }
  size_t memory_bytes(const View& view) const override { return Dispatch::memory_bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (memory_ != nullptr) *memory_ = &memory;
    draft.wake_at(Dispatch::wake_us(view, config_));
    if (!Dispatch::on_events(view, config_, memory.data())) return;
    for (;;) {
      const ObservedState observed(view, config_, memory.data());
      on_observation_(view, observed);
      if (observed.o.expert_action == Dispatch::kNothing) return;
      Dispatch::apply(view, config_, memory.data(),
                      observed.slots[static_cast<size_t>(observed.o.expert_action)],
                      draft.scratch(), draft);
    }
  }

 private:
  DispatchConfig config_;
  std::function<void(const View&, const ObservedState&)> on_observation_;
  Memory** memory_;
};

TEST(Dispatch, PriorIsADistributionWithTheExpertAsItsMode) {
  const Scene scene("2x8", busy_jobs(150));
  int64_t recorded_observations = 0, nothing = 0, stops = 0, starts = 0;
  const ObservingPolicy observer({}, [&](const View&, const ObservedState& observed) {
    double sum = 0;
    for (int32_t a = 0; a < Dispatch::kActions; ++a) {
      const auto i = static_cast<size_t>(a);
      if (observed.mask[i] == 0) {
        ASSERT_EQ(observed.prior[i], Dispatch::kMasked);
      } else {
        ASSERT_TRUE(std::isfinite(observed.prior[i]));
        sum += std::exp(static_cast<double>(observed.prior[i]));
      }
    }
    // Prior weight: 1 for the kind of the expert's action, at most prior_other for each other.
    EXPECT_GT(sum, 0.99);
    EXPECT_LT(sum, 1.05);
    const auto best = std::max_element(observed.prior.begin(), observed.prior.end());
    EXPECT_EQ(best - observed.prior.begin(), observed.o.expert_action);
    EXPECT_EQ(std::count(observed.prior.begin(), observed.prior.end(), *best), 1);
    const int32_t pick = observed.o.expert_action;
    ++recorded_observations;
    if (pick == Dispatch::kNothing) {
      ++nothing;
    } else {
      const float* row = observed.jobs.data() + pick * Dispatch::kJobFeatures;
      EXPECT_EQ(row[Dispatch::kExpertAction], 1);
      ++(row[Dispatch::kHolds] > 0 ? stops : starts);
    }
  });
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_GT(nothing, 0);
  EXPECT_GT(stops, 0);
  EXPECT_GT(starts, 0);
}

// Two workloads that are identical until a time give identical observations until then.
TEST(Dispatch, ObservesNothingOfTheFuture) {
  const int64_t cut_us = 8000 * kSecond;
  const auto observations_until = [&](const std::vector<Job>& jobs) {
    const Scene scene("2x8", jobs);
    std::vector<float> all;
    const ObservingPolicy observer({}, [&](const View& view, const ObservedState& observed) {
      if (view.now_us() >= cut_us) return;
      all.push_back(static_cast<float>(view.now_us()) * 1e-6F);
      all.insert(all.end(), observed.jobs.begin(), observed.jobs.end());
      all.insert(all.end(), observed.cluster.begin(), observed.cluster.end());
      all.insert(all.end(), observed.prior.begin(), observed.prior.end());
      all.insert(all.end(), observed.mask.begin(), observed.mask.end());
    });
    SceneRunner runner(scene, observer);
    runner.play();
    return all;
  };
  std::vector<Job> jobs = busy_jobs(150);
  const auto before = observations_until(jobs);
  // Jobs that cannot end before the cut get longer run times, and different jobs arrive after it.
  int changed = 0;
  for (Job& job : jobs) {
    if (job.submit_us + job.run_us > cut_us) {
      job.run_us += 5000 * kSecond;
      ++changed;
    }
    if (job.submit_us > cut_us) job.gpus = 1;
  }
  ASSERT_GT(changed, 10);
  const auto after = observations_until(jobs);
  EXPECT_GT(before.size(), 10'000u);
  EXPECT_EQ(before, after);
}

// Another order of arrivals within one second changes slots and serials. What is shown of each job
// is the same.
TEST(Dispatch, ObservationsDoNotDependOnSlots) {
  std::vector<Job> jobs = jobs_of({{0, 8, 3000}, {0, 4, 500}, {0, 2, 70}, {0, 1, 900}, {0, 8, 40}});
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].user = "u" + std::to_string(i);
  const auto rows_seen = [](const std::vector<Job>& in) {
    const Scene scene("1x8", in);
    std::vector<std::vector<float>> rows;
    const ObservingPolicy observer({}, [&](const View&, const ObservedState& observed) {
      if (!rows.empty()) return;
      for (int32_t r = 0; r < observed.o.rows; ++r) {
        const float* row = observed.jobs.data() + r * Dispatch::kJobFeatures;
        std::vector<float> f(row, row + Dispatch::kJobFeatures);
        f[Dispatch::kExpertAction] = 0;  // ties among equal jobs go to the earliest
        f.push_back(observed.mask[static_cast<size_t>(r)]);
        rows.push_back(f);
      }
    });
    SceneRunner runner(scene, observer);
    runner.step();
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

TEST(Dispatch, FullWindowKeepsTheBestJobs) {
  std::vector<JobLine> lines;
  for (int i = 0; i < 300; ++i) lines.push_back({0, i % 8 + 1, 600.0 + i});
  std::vector<Job> jobs = jobs_of(lines);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].id = std::to_string(i);
  const Scene scene("2x8", jobs);
  int32_t most = 0;
  int64_t crowded = 0;
  DispatchConfig config;
  config.waiting_rows = Dispatch::kJobs;
  const ObservingPolicy observer(config, [&](const View& view, const ObservedState& observed) {
    most = std::max(most, observed.o.rows);
    ASSERT_LE(observed.o.rows, Dispatch::kJobs);
    ASSERT_EQ(observed.o.choices, std::count(observed.mask.begin(), observed.mask.end() - 1, 1));
    std::vector<int32_t> slots(observed.slots.begin(), observed.slots.begin() + observed.o.rows);
    std::sort(slots.begin(), slots.end());
    ASSERT_TRUE(std::adjacent_find(slots.begin(), slots.end()) == slots.end());
    if (view.num_waiting() <= Dispatch::kJobs) return;
    ++crowded;
    // There is no history, so the index of jobs that never ran is one constant times their GPUs.
    int32_t widest = 0, waiting = 0;
    for (int32_t r = 0; r < observed.o.rows; ++r) {
      const int32_t slot = observed.slots[static_cast<size_t>(r)];
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
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_FALSE(runner.failed());
  EXPECT_EQ(most, Dispatch::kJobs);
  EXPECT_GT(crowded, 50);
}

// Expected rows: computed for each job separately and sorted with the standard library.
struct Indexed {
  float key;
  int32_t serial, slot;
  friend bool operator<(const Indexed& a, const Indexed& b) {
    return std::tie(a.key, a.serial) < std::tie(b.key, b.serial);
  }
};

Indexed indexed(const View& view, const DispatchConfig& config, const UserHistory& history,
                int32_t slot) {
  const float attained = log2_seconds(view.attained_us(slot));
  const auto expected =
      history.predict(view.user(slot), view.submit_us(slot), config.sibling_prior);
  const int32_t width = config.run_times.width(expected.batch_unknown, expected.user_unknown);
  const float rank = config.run_times.life[width].log2_rank(expected.log2_median, attained);
  return {rank + config.gpu_exponent * log2_coarse(view.gpus(slot)), view.serial(slot), slot};
}

class Rows : public ::testing::TestWithParam<bool> {};

// The order is kept in memory between decision points and updated. It must equal a full sort.
TEST_P(Rows, MatchAFullSortByIndex) {
  std::vector<Job> jobs = busy_jobs(400, 11);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].user = "u" + std::to_string(i * i % 7);
  const Scene scene("2x8", jobs);
  DispatchConfig config;
  config.preempt = GetParam();
  config.held_rows = 6;
  config.waiting_rows = 20;
  int64_t points = 0, more_than_fit = 0;
  Memory* memory = nullptr;
  const ObservingPolicy observer(
      config,
      [&](const View& view, const ObservedState& observed) {
        const UserHistory history(memory->data());
        std::vector<Indexed> held, waiting;
        for (int32_t i = 0; config.preempt && i < view.num_held(); ++i) {
          held.push_back(indexed(view, config, history, view.held(i)));
        }
        for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
          waiting.push_back(indexed(view, config, history, slot));
        }
        std::sort(held.rbegin(), held.rend());
        std::sort(waiting.begin(), waiting.end());
        ++points;
        more_than_fit += waiting.size() > 20 && (!config.preempt || held.size() > 6);
        held.resize(std::min<size_t>(held.size(), 6));
        waiting.resize(std::min<size_t>(waiting.size(), 20));
        held.insert(held.end(), waiting.begin(), waiting.end());
        ASSERT_EQ(observed.o.rows, static_cast<int32_t>(held.size()));
        for (size_t r = 0; r < held.size(); ++r) {
          ASSERT_EQ(observed.slots[r], held[r].slot) << "row " << r << " at " << view.now_us();
          const float* f = observed.jobs.data() + r * Dispatch::kJobFeatures;
          const int64_t age_us = view.now_us() - view.submit_us(held[r].slot);
          ASSERT_EQ(f[Dispatch::kAge], (log2_seconds(age_us) - 8) / 8);
          ASSERT_EQ(f[Dispatch::kGpus], log2_coarse(view.gpus(held[r].slot)) / 4);
          const int32_t slot = held[r].slot;
          const float attained = log2_seconds(view.attained_us(slot));
          const auto expected =
              history.predict(view.user(slot), view.submit_us(slot), config.sibling_prior);
          const auto& life =
              config.run_times
                  .life[config.run_times.width(expected.batch_unknown, expected.user_unknown)];
          ASSERT_EQ(f[Dispatch::kAttained], (attained - 8) / 8);
          ASSERT_EQ(f[Dispatch::kLeft], (life.log2_left(expected.log2_median, attained) - 12) / 4);
          ASSERT_EQ(f[Dispatch::kSiblings],
                    expected.siblings / (expected.siblings + config.sibling_prior));
          ASSERT_EQ(f[Dispatch::kKnown], 1 - expected.user_unknown);
          ASSERT_EQ(f[Dispatch::kHolds], view.phase(slot) == Phase::kWaiting ? 0 : 1);
        }
        for (size_t i = held.size() * Dispatch::kJobFeatures; i < observed.jobs.size(); ++i) {
          ASSERT_EQ(observed.jobs[i], 0);
        }
      },
      &memory);
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_FALSE(runner.failed());
  EXPECT_GT(points, 500);
  EXPECT_GT(more_than_fit, 50);
}

INSTANTIATE_TEST_SUITE_P(Preempt, Rows, ::testing::Bool());

// A memory created mid-run, as in a policy server, finds every job. Equal and negative keys are
// also ordered.
TEST(Candidates, AreRebuiltFromEmptyMemory) {
  const Scene scene("2x8", busy_jobs(200, 12));
  int64_t compared = 0;
  int64_t last_us = -1;
  const ObservingPolicy observer({}, [&](const View& view, const ObservedState&) {
    if (view.now_us() == last_us) return;  // only the first call per decision point
    last_us = view.now_us();
    Memory fresh;
    fresh.reset(Candidates::bytes(view.capacity()));
    Candidates candidates(fresh.data(), view.capacity());
    EXPECT_EQ(candidates.begin_point(), 1);
    candidates.gather(view, true, [](const Candidate&) {});
    std::vector<int32_t> listed;
    for (int32_t i = 0; i < candidates.size(); ++i) listed.push_back(candidates[i].slot);
    std::sort(listed.begin(), listed.end());
    std::vector<int32_t> live;
    for (int32_t i = 0; i < view.num_held(); ++i) live.push_back(view.held(i));
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      live.push_back(slot);
    }
    std::sort(live.begin(), live.end());
    ASSERT_EQ(listed, live);
    Rng rng = Rng{3}.split(static_cast<uint64_t>(compared));
    std::vector<float> keys(static_cast<size_t>(view.capacity()));
    for (float& key : keys) key = static_cast<float>(rng.below(20)) - 10;  // ties and negative keys
    candidates.rank([&](const Candidate& c) { return keys[static_cast<size_t>(c.slot)]; });
    for (int32_t i = 0; i < candidates.size(); ++i) {
      const Candidate& c = candidates[i];
      ASSERT_EQ(c.key(), keys[static_cast<size_t>(c.slot)]);
      ASSERT_EQ(c.serial(), view.serial(c.slot));
      if (i == 0) continue;
      const Candidate& before = candidates[i - 1];
      ASSERT_TRUE(before.key() < c.key() ||
                  (before.key() == c.key() && before.serial() < c.serial()));
    }
    ++compared;
  });
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_GT(compared, 100);
}

// A job has run for long while another of the same user and submission time waits. The running job
// raises the estimate for the waiting one, with and without preemption.
TEST_P(Rows, RunningSiblingRaisesTheEstimate) {
  std::vector<Job> jobs = jobs_of({{0, 8, 20'000}, {1, 16, 500}, {4000, 4, 100}});
  jobs[0].user = jobs[1].user = "ada";
  jobs[2].user = "bob";
  const Scene scene("2x8", jobs);
  DispatchConfig config;
  config.preempt = GetParam();
  int seen = 0;
  const ObservingPolicy observer(config, [&](const View& view, const ObservedState& observed) {
    if (view.now_us() < 4000 * kSecond || view.now_us() > 4001 * kSecond) return;
    for (int32_t r = 0; r < observed.o.rows; ++r) {
      const int32_t slot = observed.slots[static_cast<size_t>(r)];
      const float* f = observed.jobs.data() + r * Dispatch::kJobFeatures;
      if (view.gpus(slot) == 16) {
        EXPECT_GT(f[Dispatch::kSiblings], 0.3);
        ++seen;
      } else if (view.gpus(slot) == 4) {
        EXPECT_EQ(f[Dispatch::kSiblings], 0) << "bob has no running sibling";
        ++seen;
      }
    }
  });
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_GE(seen, 2);
}

}  // namespace
}  // namespace yard::testing
