// Observations of the agent `dispatcher`: independent of the future and of slot numbers, and within
// the window.
#include "tests/support/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "env/predict/user_history.h"
#include "env/task/candidates.h"
#include "policies/policy.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

// The observation of a list of actions. `slots`: the job of each action.
struct ObservedState {
  std::vector<float> jobs, cluster, prior;
  std::vector<uint8_t> mask;
  std::vector<int32_t> slots;
  Observation o{};

  ObservedState(const Agent& agent, const View& view, AgentMemory& memory, const ActionList& list)
      : jobs(size_t{dispatcher::kJobs} * dispatcher::kJobFeatures),
        cluster(dispatcher::kClusterFeatures),
        prior(dispatcher::kActions),
        mask(dispatcher::kActions),
        slots(dispatcher::kJobs) {
    o.jobs = jobs.data();
    o.cluster = cluster.data();
    o.mask = mask.data();
    o.prior = prior.data();
    o.slots = slots.data();
    o.filled = dispatcher::kJobs;
    agent.observe(view, memory, list, dispatcher::kShape, o);
  }
  ObservedState(const ObservedState&) = delete;
};

// Takes the expert's action. Calls `look` with the observation before each action is applied.
class ObservingPolicy final : public Policy {
 public:
  // `memory`: if given, receives the address of the policy's memory.
  ObservingPolicy(const std::vector<std::string>& settings,
                  std::function<void(const View&, const ObservedState&)> look,
                  Memory** memory = nullptr)
      : agent_(dispatcher::agent(settings)), on_observation_(std::move(look)), memory_(memory) {}
  InformationLevel level() const override { return agent_->level(); }
  size_t memory_bytes(const View& view) const override { return agent_->memory_bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (memory_ != nullptr) *memory_ = &memory;
    AgentMemory own(memory.data());
    agent_->on_events(view, own);
    agent_->begin_decision(view, own);
    for (ActionList list;;) {
      list.clear();
      agent_->actions(view, own, list);
      if (list.empty()) break;
      const ObservedState observed(*agent_, view, own, list);
      on_observation_(view, observed);
      agent_->apply(view, own, list.at(observed.o.expert_action), draft);
    }
    agent_->commit(view, own, draft);
  }

 private:
  std::shared_ptr<const Agent> agent_;
  std::function<void(const View&, const ObservedState&)> on_observation_;
  Memory** memory_;
};

TEST(Dispatcher, DeclaresTheShapeThatTestsUse) {
  EXPECT_EQ(dispatcher::agent()->shape(), dispatcher::kShape);
}

TEST(Dispatcher, PriorIsADistributionWithTheExpertAsItsMode) {
  const Scene scene("2x8", busy_jobs(150));
  int64_t recorded_observations = 0, nothing = 0, stops = 0, starts = 0;
  const ObservingPolicy observer({}, [&](const View&, const ObservedState& observed) {
    double sum = 0;
    for (int32_t a = 0; a < dispatcher::kActions; ++a) {
      const auto i = static_cast<size_t>(a);
      if (observed.mask[i] == 0) {
        ASSERT_EQ(observed.prior[i], kMaskedLogit);
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
    if (pick == dispatcher::kNothing) {
      ++nothing;
    } else {
      const float* row = observed.jobs.data() + pick * dispatcher::kJobFeatures;
      EXPECT_EQ(row[dispatcher::kExpertAction], 1);
      ++(row[dispatcher::kHolds] > 0 ? stops : starts);
    }
  });
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_GT(nothing, 0);
  EXPECT_GT(stops, 0);
  EXPECT_GT(starts, 0);
}

// Two workloads that are identical until a time give identical observations until then.
TEST(Dispatcher, ObservesNothingOfTheFuture) {
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
TEST(Dispatcher, ObservationsDoNotDependOnSlots) {
  std::vector<Job> jobs = jobs_of({{0, 8, 3000}, {0, 4, 500}, {0, 2, 70}, {0, 1, 900}, {0, 8, 40}});
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].user = "u" + std::to_string(i);
  const auto rows_seen = [](const std::vector<Job>& in) {
    const Scene scene("1x8", in);
    std::vector<std::vector<float>> rows;
    const ObservingPolicy observer({}, [&](const View&, const ObservedState& observed) {
      if (!rows.empty()) return;
      for (int32_t r = 0; r < observed.o.rows; ++r) {
        const float* row = observed.jobs.data() + r * dispatcher::kJobFeatures;
        std::vector<float> f(row, row + dispatcher::kJobFeatures);
        f[dispatcher::kExpertAction] = 0;  // ties among equal jobs go to the earliest
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

TEST(Dispatcher, FullWindowKeepsTheBestJobs) {
  std::vector<JobLine> lines;
  for (int i = 0; i < 300; ++i) lines.push_back({0, i % 8 + 1, 600.0 + i});
  std::vector<Job> jobs = jobs_of(lines);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].id = std::to_string(i);
  const Scene scene("2x8", jobs);
  int32_t most = 0;
  int64_t crowded = 0;
  const ObservingPolicy observer({}, [&](const View& view, const ObservedState& observed) {
    most = std::max(most, observed.o.rows);
    ASSERT_LE(observed.o.rows, dispatcher::kJobs);
    ASSERT_EQ(observed.o.choices, std::count(observed.mask.begin(), observed.mask.end() - 1, 1));
    std::vector<int32_t> slots(observed.slots.begin(), observed.slots.begin() + observed.o.rows);
    std::sort(slots.begin(), slots.end());
    ASSERT_TRUE(std::adjacent_find(slots.begin(), slots.end()) == slots.end());
    if (view.num_waiting() <= dispatcher::kJobs) return;
    ++crowded;
    // There is no history, so the index of jobs that never ran is one constant times their GPUs.
    int32_t widest = 0, waiting = 0;
    for (int32_t r = 0; r < observed.o.rows; ++r) {
      const int32_t slot = observed.slots[static_cast<size_t>(r)];
      if (view.phase(slot) != Phase::kWaiting || view.times_started(slot) > 0) continue;
      widest = std::max(widest, view.gpus(slot));
      ++waiting;
    }
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      if (view.times_started(slot) > 0 || view.gpus(slot) >= widest) continue;
      ASSERT_TRUE(std::binary_search(slots.begin(), slots.end(), slot))
          << "a narrower job of " << view.gpus(slot) << " is not in the window";
    }
    ASSERT_GT(waiting, 0);
  });
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_FALSE(runner.failed());
  EXPECT_EQ(most, dispatcher::kJobs);
  EXPECT_GT(crowded, 50);
}

// The defaults of the settings.
const RunTimeModel kRunTimes{0.7F, 0.9F, 0.6F};
constexpr float kSiblingPrior = 0.5F;

// Expected rows: computed for each job separately and sorted with the standard library.
struct Indexed {
  float key;
  int32_t serial, slot;
  friend bool operator<(const Indexed& a, const Indexed& b) {
    return std::tie(a.key, a.serial) < std::tie(b.key, b.serial);
  }
};

Indexed indexed(const View& view, const UserHistory& history, int32_t slot) {
  const float attained = log2_seconds(view.attained_us(slot));
  const auto expected = history.predict(view.user(slot), view.submit_us(slot), kSiblingPrior);
  const int32_t residual_life_bin =
      kRunTimes.residual_life_bin(expected.batch_unknown, expected.user_unknown);
  const float rank =
      kRunTimes.life[residual_life_bin].log2_inverse_gittins_s(expected.log2_median, attained);
  return {rank + log2_coarse(view.gpus(slot)), view.serial(slot), slot};
}

class Rows : public ::testing::TestWithParam<bool> {};

// The order is kept in memory between decision points and updated. It must equal a full sort.
TEST_P(Rows, MatchAFullSortByIndex) {
  std::vector<Job> jobs = busy_jobs(400, 11);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].user = "u" + std::to_string(i * i % 7);
  const Scene scene("2x8", jobs);
  const bool preempt = GetParam();
  int64_t points = 0, more_than_fit = 0;
  Memory* memory = nullptr;
  const ObservingPolicy observer(
      {preempt ? "preempt=true" : "preempt=false", "held_rows=6", "waiting_rows=20"},
      [&](const View& view, const ObservedState& observed) {
        const UserHistory history(memory->data() + 2 * sizeof(int32_t));
        std::vector<Indexed> held, waiting;
        for (int32_t i = 0; preempt && i < view.num_holders(); ++i) {
          held.push_back(indexed(view, history, view.holder_slot(i)));
        }
        for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
          waiting.push_back(indexed(view, history, slot));
        }
        std::sort(held.rbegin(), held.rend());
        std::sort(waiting.begin(), waiting.end());
        ++points;
        more_than_fit += waiting.size() > 20 && (!preempt || held.size() > 6);
        held.resize(std::min<size_t>(held.size(), 6));
        waiting.resize(std::min<size_t>(waiting.size(), 20));
        held.insert(held.end(), waiting.begin(), waiting.end());
        ASSERT_EQ(observed.o.rows, static_cast<int32_t>(held.size()));
        for (size_t r = 0; r < held.size(); ++r) {
          ASSERT_EQ(observed.slots[r], held[r].slot) << "row " << r << " at " << view.now_us();
          const float* f = observed.jobs.data() + r * dispatcher::kJobFeatures;
          const int64_t age_us = view.now_us() - view.submit_us(held[r].slot);
          ASSERT_EQ(f[dispatcher::kAge], (log2_seconds(age_us) - 8) / 8);
          ASSERT_EQ(f[dispatcher::kGpus], log2_coarse(view.gpus(held[r].slot)) / 4);
          const int32_t slot = held[r].slot;
          const float attained = log2_seconds(view.attained_us(slot));
          const auto expected =
              history.predict(view.user(slot), view.submit_us(slot), kSiblingPrior);
          const auto& life =
              kRunTimes
                  .life[kRunTimes.residual_life_bin(expected.batch_unknown, expected.user_unknown)];
          ASSERT_EQ(f[dispatcher::kAttained], (attained - 8) / 8);
          ASSERT_EQ(f[dispatcher::kLeft],
                    (life.log2_remaining_s(expected.log2_median, attained) - 12) / 4);
          ASSERT_EQ(f[dispatcher::kSiblings],
                    expected.siblings / (expected.siblings + kSiblingPrior));
          ASSERT_EQ(f[dispatcher::kKnown], 1 - expected.user_unknown);
          ASSERT_EQ(f[dispatcher::kHolds], view.phase(slot) == Phase::kWaiting ? 0 : 1);
        }
        for (size_t i = held.size() * dispatcher::kJobFeatures; i < observed.jobs.size(); ++i) {
          ASSERT_EQ(observed.jobs[i], 0);
        }
      },
      &memory);
  SceneRunner runner(scene, observer);
  runner.play();
  EXPECT_FALSE(runner.failed());
  EXPECT_GT(points, 300);
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
    fresh.reset(Candidates::bytes(view.num_slots()));
    Candidates candidates(fresh.data(), view.num_slots());
    EXPECT_EQ(candidates.advance_decision_number(), 1);
    candidates.gather(view, true, [](const Candidate&) {});
    std::vector<int32_t> listed;
    for (int32_t i = 0; i < candidates.size(); ++i) listed.push_back(candidates[i].slot);
    std::sort(listed.begin(), listed.end());
    std::vector<int32_t> live;
    for (int32_t i = 0; i < view.num_holders(); ++i) live.push_back(view.holder_slot(i));
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      live.push_back(slot);
    }
    std::sort(live.begin(), live.end());
    ASSERT_EQ(listed, live);
    Rng rng = Rng{3}.split(static_cast<uint64_t>(compared));
    std::vector<float> keys(static_cast<size_t>(view.num_slots()));
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
  int seen = 0;
  const char* preempt = GetParam() ? "preempt=true" : "preempt=false";
  const ObservingPolicy observer({preempt}, [&](const View& view, const ObservedState& observed) {
    if (view.now_us() < 4000 * kSecond || view.now_us() > 4001 * kSecond) return;
    for (int32_t r = 0; r < observed.o.rows; ++r) {
      const int32_t slot = observed.slots[static_cast<size_t>(r)];
      const float* f = observed.jobs.data() + r * dispatcher::kJobFeatures;
      if (view.gpus(slot) == 16) {
        EXPECT_GT(f[dispatcher::kSiblings], 0.3);
        ++seen;
      } else if (view.gpus(slot) == 4) {
        EXPECT_EQ(f[dispatcher::kSiblings], 0) << "bob has none";
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
