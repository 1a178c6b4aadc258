// No policy learns the future from speeds. At every level of speed information, worlds that are
// equal up to a time give equal decisions until then. Below level `exact`, a model's tables do not
// matter until a job of it has run.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "env/sim/rulesets/speed_estimator.h"
#include "policies/order.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

// Plays by the `default` rule set, at a level of information about speeds.
class SpeedScenePlayer {
 public:
  SpeedScenePlayer(const Scene& scene, const Policy& policy, SpeedInformation speeds)
      : scene_(scene),
        policy_(policy),
        world_(scene.fixed(), scene.size()),
        speeds_(world_.fixed(), speeds, 0.25, 1),
        view_(world_.fixed(), world_.state(), policy.level(), nullptr,
              speeds_.estimates_for_views()),
        draft_(world_.fixed(), world_.state()) {
    world_.reset(0, scene.size());
    memory_.reset(policy.memory_bytes(view_));
  }

  // Returns false when all jobs are done.
  bool step() {
    if (all_done(state()) || !world_.advance(scene_.truth())) return false;
    draft_.reset();
    speeds_.learn_from_progress(state());
    policy_.decide(view_, memory_, draft_);
    speeds_.record_placements(state());
    if (plan().wake_us != kNever) world_.state().head->timer_us = plan().wake_us;
    return true;
  }

  const SimState& state() { return world_.state(); }
  const View& view() const { return view_; }
  const Plan& plan() const { return draft_.plan(); }

 private:
  const Scene& scene_;
  const Policy& policy_;
  World world_;
  SpeedEstimator speeds_;
  View view_;
  Draft draft_;
  Memory memory_;
};

// Plays until `over` returns true for the state after a decision.
std::vector<TimedPlan> decisions_until(const Scene& scene, const Policy& policy,
                                       SpeedInformation speeds,
                                       const std::function<bool(SpeedScenePlayer&)>& over) {
  SpeedScenePlayer runner(scene, policy, speeds);
  std::vector<TimedPlan> recorded;
  while (runner.step()) {
    recorded.push_back({runner.view().now_us(), runner.plan()});
    if (over(runner)) break;
  }
  return recorded;
}

const FutureOptions& world_of(bool slowdowns) {
  static const FutureOptions models{.models = true,
                                    .world = {.jobs = 40, .after = false, .faults = false}};
  static const FutureOptions slow{
      .models = true, .slowdowns = true, .world = {.jobs = 40, .shapes = false, .faults = false}};
  return slowdowns ? slow : models;
}

// All policies but those that use true run times.
std::vector<std::string> no_oracles() {
  std::vector<std::string> out = PolicyRegistry::names();
  std::erase_if(out, [](const std::string& name) {
    return PolicyRegistry::info(name).level >= InformationLevel::kNoisyOracle;
  });
  return out;
}

class SpeedFuture
    : public ::testing::TestWithParam<std::tuple<std::string, SpeedInformation, bool>> {};

TEST_P(SpeedFuture, DoesNotAffectDecisions) {
  const auto& [name, speeds, slowdowns] = GetParam();
  const auto policy = make_policy(name);
  int ahead = 0, differ = 0;
  constexpr int kTrials = 4;
  for (int trial = 0; trial < kTrials; ++trial) {
    Rng rng = Rng(24).split(static_cast<uint64_t>(trial));
    const ForkableWorld now = forkable_world(rng.split(1), world_of(slowdowns));
    const std::vector<Job>& jobs = now.world.jobs;
    const int64_t until_us = jobs[jobs.size() / 2].submit_us + rng.below(100) * kSecond;
    const ForkableScene scene(now);
    // Assumes that no job has ended and that each has run for as long as any policy allows.
    const ForkableWorld then =
        other_future(now, settled_under_any_policy(jobs, until_us, 2), until_us, rng.split(2));
    const ForkableScene other(then);
    const auto recorded = [&](const Scene& where, int64_t end_us) {
      std::vector<TimedPlan> all = decisions_until(
          where, *policy, speeds,
          [&](SpeedScenePlayer& runner) { return runner.view().now_us() > end_us; });
      std::erase_if(all, [&](const TimedPlan& one) { return one.at_us > end_us; });
      return all;
    };
    ahead += recorded(scene.scene(), until_us) != recorded(other.scene(), until_us);
    differ += recorded(scene.scene(), kNever - 1) != recorded(other.scene(), kNever - 1);
  }
  EXPECT_EQ(ahead, 0);
  EXPECT_GT(differ, 0) << "the futures are the same";
}

INSTANTIATE_TEST_SUITE_P(Registered, SpeedFuture,
                         ::testing::Combine(::testing::ValuesIn(no_oracles()),
                                            ::testing::Values(SpeedInformation::kNoisy,
                                                              SpeedInformation::kLearned),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param) + "_" +
                                              speed_information_name(std::get<1>(info.param)) +
                                              (std::get<2>(info.param) ? "_slowdowns" : "");
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// --- Worlds that differ in the speed tables of one model -----------------------------------------

// The true tables, as a policy could have found them through a leak.
SpeedColumns leaked;
std::vector<int32_t> leaked_classes;

bool last_model_has_run(SpeedScenePlayer& runner, const std::vector<Job>& jobs) {
  const SimState& s = runner.state();
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    const bool holds = s.phase[slot] == Phase::kRunning || s.phase[slot] == Phase::kStarting;
    if (holds && jobs[static_cast<size_t>(s.job[slot])].model == "m2") return true;
  }
  return false;
}

// Counts trials in which other tables of a model without running jobs changed a decision.
int count_table_effects(const Policy& policy, SpeedInformation speeds) {
  int mattered = 0;
  for (uint64_t trial = 0; trial < 30; ++trial) {
    const ForkableWorld now = forkable_world(Rng(25).split(trial), world_of(trial % 2 == 1));
    ForkableWorld changed = now;
    changed.other_tables = true;
    const auto recorded = [&](const ForkableWorld& world) {
      const ForkableScene scene(world);
      leaked = scene.scene().fixed().speed;
      leaked_classes = InventedModels::classes_of(world.world.jobs);
      return decisions_until(scene.scene(), policy, speeds, [&](SpeedScenePlayer& runner) {
        return last_model_has_run(runner, now.world.jobs);
      });
    };
    mattered += recorded(now) != recorded(changed);
  }
  return mattered;
}

class SpeedTables : public ::testing::TestWithParam<std::string> {};

TEST_P(SpeedTables, AreHiddenUntilJobsRun) {
  const auto policy = make_policy(GetParam());
  EXPECT_EQ(count_table_effects(*policy, SpeedInformation::kLearned), 0);
}

INSTANTIATE_TEST_SUITE_P(Registered, SpeedTables, ::testing::ValuesIn(no_oracles()), test_name);

// The same check detects the difference where tables may be used.
TEST(SpeedTables, AreVisibleAtTheExactLevel) {
  for (const char* name : {"joint", "srsf-rate"}) {
    EXPECT_GT(count_table_effects(*make_policy(name), SpeedInformation::kExact), 0) << name;
  }
}

// Starts jobs that are fast by the true tables first.
struct SpeedCheat final : Policy {
  InformationLevel level() const override { return InformationLevel::kBlind; }
  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    push_newly_waiting(view, ranked, [&](int32_t slot) {
      const int32_t job_class = leaked_classes[static_cast<size_t>(view.serial(slot))];
      return -speed_of(leaked, job_class, leaked.num_types - 1, 1, Tier::kIsland, 1);
    });
    start_in_order(view, ranked, PlacementRule::kFirstFit, draft);
  }
};

TEST(SpeedCheats, BypassingTheViewIsDetected) {
  EXPECT_GT(count_table_effects(SpeedCheat(), SpeedInformation::kLearned), 0);
}

}  // namespace
}  // namespace yard::testing
