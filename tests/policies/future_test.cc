// Policies do not see the future. Two worlds are equal up to a time and differ later in run times,
// arrivals, shapes, users and faults. Decisions must be equal until that time. Planted cheats must
// be caught, or fail to compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <concepts>
#include <string>
#include <vector>

#include "env/sim/rules/rules.h"
#include "policies/order.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

// Hidden state that a cheating policy reads through a leak. Honest policies have no access.
Truth leaked_truth;

std::vector<TimedPlan> decisions_until(const Scene& scene, const Policy& policy, int64_t until_us) {
  leaked_truth = scene.truth();
  SceneRunner runner(scene, policy);
  std::vector<TimedPlan> recorded;
  while (runner.advance() && runner.view().now_us() <= until_us) {
    if (!runner.decide()) break;
    recorded.push_back({runner.view().now_us(), runner.plan()});
  }
  return recorded;
}

struct Kind {
  std::string name;
  FutureOptions options;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kinds = {
      {"plain", {.world = {.jobs = 40, .shapes = false, .after = false, .faults = false}}},
      {"shapes", {.world = {.jobs = 40, .after = false, .faults = false}}},
      {"after", {.world = {.jobs = 40, .shapes = false, .faults = false}}},
      {"faults", {.world = {.jobs = 40, .shapes = false, .after = false}}},
      {"tenants", {.tenants = true, .world = {.jobs = 40, .after = false, .faults = false}}},
      {"overload", {.overload = true, .world = {.jobs = 40, .after = false, .faults = false}}},
      {"models", {.models = true, .world = {.jobs = 40, .after = false, .faults = false}}},
      {"everything", {.tenants = true, .overload = true, .models = true, .world = {.jobs = 40}}}};
  return kinds;
}

struct LookaheadCounts {
  int ahead = 0;        // differing decisions before the worlds part
  int differ = 0;       // worlds that differ after that
  size_t recorded = 0;  // decisions compared
};

LookaheadCounts count_lookahead(const Policy& policy, const FutureOptions& options, int trials) {
  LookaheadCounts lookahead;
  for (int trial = 0; trial < trials; ++trial) {
    Rng rng = Rng(14).split(static_cast<uint64_t>(trial));
    const ForkableWorld now = forkable_world(rng.split(1), options);
    const std::vector<Job>& jobs = now.world.jobs;
    const int64_t until_us =
        jobs[jobs.size() / 8 + rng.below(static_cast<uint32_t>(3 * jobs.size() / 4))].submit_us +
        rng.below(100) * kSecond;
    const ForkableScene scene(now);
    leaked_truth = scene.scene().truth();
    const ForkableWorld then =
        other_future(now, settled_by(scene.scene(), policy, until_us), until_us, rng.split(2));
    const ForkableScene other(then);
    const std::vector<TimedPlan> recorded = decisions_until(scene.scene(), policy, until_us);
    lookahead.recorded += recorded.size();
    lookahead.ahead += recorded != decisions_until(other.scene(), policy, until_us);
    lookahead.differ += decisions_until(scene.scene(), policy, kNever) !=
                        decisions_until(other.scene(), policy, kNever);
  }
  return lookahead;
}

class Future : public ::testing::TestWithParam<std::tuple<std::string, size_t>> {};

TEST_P(Future, DoesNotAffectPoliciesThatAreNotOracles) {
  const auto policy = make_policy(std::get<0>(GetParam()));
  const Kind& kind = kinds()[std::get<1>(GetParam())];
  constexpr int kTrials = 6;
  const LookaheadCounts lookahead = count_lookahead(*policy, kind.options, kTrials);
  if (policy->level() >= InformationLevel::kNoisyOracle) {
    EXPECT_GT(lookahead.ahead, 0) << "the oracle does not use the future";
  } else {
    EXPECT_EQ(lookahead.ahead, 0);
  }
  EXPECT_GT(lookahead.recorded, size_t{10 * kTrials});
  EXPECT_GT(lookahead.differ, kTrials / 2) << "the futures do not differ";
}

INSTANTIATE_TEST_SUITE_P(Registered, Future,
                         ::testing::Combine(::testing::ValuesIn(PolicyRegistry::names()),
                                            ::testing::Range(size_t{0}, kinds().size())),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param) + "_" +
                                              kinds()[std::get<1>(info.param)].name;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// Ends jobs by their measured losses, also in the other world until the two part.
TEST(Future, DoesNotAffectLoadControl) {
  const auto policy = make_policy("mlf-h load_control=true");
  int64_t ends = 0;
  for (const Kind& kind : kinds()) {
    EXPECT_EQ(count_lookahead(*policy, kind.options, 6).ahead, 0) << kind.name;
    const ForkableScene scene(forkable_world(Rng(15), kind.options));
    for (const TimedPlan& recorded : decisions_until(scene.scene(), *policy, kNever)) {
      for (const Edit& edit : recorded.plan.edits) ends += edit.verb == Verb::kEnd;
    }
  }
  EXPECT_GT(ends, 20);
}

// Information above a policy's level must not matter to it: users and their past run times, and
// limits.
class Levels : public ::testing::TestWithParam<std::string> {};

TEST_P(Levels, HiddenInformationDoesNotMatter) {
  const auto policy = make_policy(GetParam());
  int64_t users = 0, limits = 0;
  // Limits only decide between elastic jobs, which are few.
  const uint64_t trials = GetParam() == "optimus" ? 40 : 6;
  for (uint64_t trial = 0; trial < trials; ++trial) {
    const ForkableWorld now = forkable_world(Rng(16).split(trial), {});
    ForkableWorld renamed = now, relaxed = now;
    Rng rng = Rng(17).split(trial);
    for (Job& job : renamed.world.jobs) job.user = "v" + std::to_string(rng.below(20));
    for (Job& job : relaxed.world.jobs) job.limit_us = (1 + rng.below(9000)) * kSecond;
    const std::vector<TimedPlan> recorded =
        decisions_until(ForkableScene(now).scene(), *policy, kNever);
    users += recorded != decisions_until(ForkableScene(renamed).scene(), *policy, kNever);
    limits += recorded != decisions_until(ForkableScene(relaxed).scene(), *policy, kNever);
  }
  const InformationLevel level = policy->level();
  const bool by_size = GetParam() == "gittins" ||
                       GetParam() == "tiresias-gittins";  // its only input from finished jobs
  const bool by_users = policy->min_information_level() == InformationLevel::kHistory ||
                        GetParam() == "survival-estimate";
  const bool by_owner =
      GetParam() == "fair-share" || GetParam() == "drf";  // uses owners, but not their run times
  EXPECT_EQ(users > 0, by_owner || (policy->min_information_level() >= InformationLevel::kHistory &&
                                    by_users && !by_size));
  EXPECT_EQ(limits > 0, level == InformationLevel::kEstimate);
}

INSTANTIATE_TEST_SUITE_P(Registered, Levels, ::testing::ValuesIn(PolicyRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// --- Cheats that compile, and are caught by the same comparison ----------------------------------

// Starts jobs in the order of a key; declares the level `blind`.
template <class KeyOf>
struct Cheat final : Policy {
  explicit Cheat(KeyOf key_of) : key_of(key_of) {}
  KeyOf key_of;

  InformationLevel level() const override { return InformationLevel::kBlind; }
  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    push_newly_waiting(view, ranked, [&](int32_t slot) { return key_of(view, slot); });
    start_in_order(view, ranked, PlacementRule::kFirstFit, draft);
  }
};

int count_early_differences(const Policy& policy, const char* kind = "plain") {
  const auto it =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.name == kind; });
  return count_lookahead(policy, it->options, 12).ahead;
}

TEST(Cheats, HonestPolicyPasses) {
  const Cheat honest([](const View& view, int32_t slot) { return double(view.gpus(slot)); });
  EXPECT_EQ(count_early_differences(honest), 0);
  EXPECT_EQ(count_early_differences(honest, "everything"), 0);
}

TEST(Cheats, UsingMeasuredLossesPasses) {
  const Cheat honest([](const View& view, int32_t slot) {
    return view.has_training_metric(slot) ? view.training_metric_now(slot) : 0.0;
  });
  EXPECT_EQ(count_early_differences(honest), 0);
  EXPECT_EQ(count_early_differences(honest, "everything"), 0);
}

TEST(Cheats, TruthLeakedThroughAGlobalIsDetected) {
  const Cheat cheat([](const View& view, int32_t slot) {
    return static_cast<double>(leaked_truth.work_us[view.serial(slot)]);
  });
  EXPECT_GT(count_early_differences(cheat), 0);
}

// Changes the order by the time of the next fault. A timer of its own would expose it sooner.
TEST(Cheats, UsingFutureFaultsIsDetected) {
  const Cheat cheat([](const View& view, int32_t slot) {
    int64_t next_us = kNever;
    for (int32_t i = leaked_truth.num_faults;
         i-- > 0 && leaked_truth.faults[i].at_us > view.now_us();) {
      next_us = leaked_truth.faults[i].at_us;
    }
    return static_cast<double>(next_us / kSecond % 2 == 0 ? view.serial(slot) : -view.serial(slot));
  });
  EXPECT_GT(count_early_differences(cheat, "faults"), 0);
}

TEST(Cheats, UsingFutureRepairsIsDetected) {
  const Cheat cheat([](const View& view, int32_t slot) -> double {
    int64_t back_us = 0;
    for (int32_t i = 0;
         i < leaked_truth.num_faults && leaked_truth.faults[i].at_us <= view.now_us(); ++i) {
      back_us = std::max(back_us, leaked_truth.faults[i].until_us);
    }
    return back_us / kSecond % 2 == 0 ? view.serial(slot) : -view.serial(slot);
  });
  EXPECT_GT(count_early_differences(cheat, "faults"), 0);
}

// A predictor that counts the hidden run times of running jobs as if they had ended.
TEST(Cheats, LearningFromUnfinishedRunTimesIsDetected) {
  const Cheat cheat([](const View& view, int32_t slot) {
    double sum_us = 0;
    for (int32_t i = 0; i < view.num_holders(); ++i) {
      if (view.user(view.holder_slot(i)) == view.user(slot)) {
        sum_us += static_cast<double>(leaked_truth.work_us[view.serial(view.holder_slot(i))]);
      }
    }
    return sum_us;
  });
  EXPECT_GT(count_early_differences(cheat), 0);
}

// A world's number of slots would reveal how many jobs are to come.
TEST(Cheats, UsingTheNumberOfSlotsIsDetected) {
  const Cheat cheat([](const View& view, int32_t slot) -> double {
    return view.num_slots() % 2 == 0 ? view.serial(slot) : -view.serial(slot);
  });
  EXPECT_GT(count_early_differences(cheat), 0);
}

// --- Cheats that abort ---------------------------------------------------------------------------

TEST(CheatsDeathTest, RunTimesBelowTheOracleLevelAbort) {
  const Cheat cheat([](const View& view, int32_t slot) { return view.work_left_us(slot); });
  EXPECT_DEATH(count_early_differences(cheat), "left_line\\(\\) needs an oracle level");
}

TEST(CheatsDeathTest, LimitsBelowTheEstimateLevelAbort) {
  const Cheat cheat([](const View& view, int32_t slot) { return double(view.limit_us(slot)); });
  EXPECT_DEATH(count_early_differences(cheat), "limit_us\\(\\) needs the level `estimate`");
}

// --- Cheats that do not compile -----------------------------------------------------------------
// Access to the state, to the columns of future jobs, and to the truth.
template <class T>
concept GivesState = requires(T t) {
  t.state();
}
|| requires(T t) { t.state_; }
|| requires(T t) { t.s_; }
|| requires(T t) { t.head; };
template <class T>
concept GivesJobs = requires(T t) {
  t.fixed();
}
|| requires(T t) { t.fixed_; }
|| requires(T t) { t.jobs(); }
|| requires(T t) { t.jobs; };
template <class T>
concept GivesTruth = requires(T t) {
  t.truth();
}
|| requires(T t) { t.true_work_us_; }
|| requires(T t) { t.event_queue(); }
|| requires(T t) { t.event_queue_; };
template <class T>
concept AdvancesWorld = requires(T t, const Truth& truth) {
  t.advance(truth);
}
|| std::constructible_from<World, T> || std::convertible_to<T, SimState> ||
    std::convertible_to<T, SimModel> || std::convertible_to<T, Truth>;
// The job table's columns hold the size classes and users of the whole workload.
template <class T>
concept RevealsWorkload = requires(T t) {
  t.num_request_classes();
}
|| requires(T t) { t.class_gpus_to_start(0); }
|| requires(T t) { t.num_users(); }
|| requires(T t) { t.has_gpu_shares(); }
|| requires(T t) { t.has_faults(); };
// Changes the state without the draft, through a copy or through the world.
template <class T>
concept ActsWithoutDraft = requires(T t, const Plan& plan) {
  execute(t, t, plan);
}
|| requires(T t) { preempt(t, t, 0); }
|| std::constructible_from<Draft, T, T>;

template <class T>
constexpr bool kTight = !GivesState<T> && !GivesJobs<T> && !GivesTruth<T> && !AdvancesWorld<T> &&
                        !RevealsWorkload<T> && !ActsWithoutDraft<T>;

static_assert(kTight<View&> && kTight<const View&>);
static_assert(kTight<Draft&> && kTight<Memory&> && kTight<Placer&>);
static_assert(std::same_as<decltype(std::declval<const View&>().spec()), const SpecColumns&>);

// The same concepts hold for the real owners of the data, so they test the right members.
static_assert(GivesState<World&> && GivesJobs<World&> && GivesTruth<World&> &&
              AdvancesWorld<World&>);
static_assert(GivesJobs<SimModel&> && GivesTruth<Workload&> && GivesState<SimState&>);

}  // namespace
}  // namespace yard::testing
