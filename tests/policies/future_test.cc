// Nobody looks ahead: two worlds that are equal up to a time and different after it (how long jobs
// still run, who arrives, how many, of which sizes and users) must see the same decisions up to it.
// Planted cheats must be caught, or fail to compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <concepts>
#include <string>
#include <vector>

#include "env/sim/rules.h"
#include "policies/order.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

constexpr const char* kCluster = "2x4+1x8";

std::vector<Job> now_jobs() {
  return random_jobs(Rng(13), {.count = 40, .sizes = {1, 1, 2, 4, 9}, .mean_gap_s = 90});
}

// What a cheat that has found a hole would read. The honest have no way to it.
const int64_t* leaked_work_us = nullptr;

struct Said {
  int64_t at_us;
  Plan plan;
  bool operator==(const Said&) const = default;
};

std::vector<Said> said_until(const Scene& scene, const Policy& policy, int64_t until_us) {
  leaked_work_us = scene.truth().work_us;
  Player player(scene, policy);
  std::vector<Said> said;
  while (player.advance() && player.view().now_us() <= until_us) {
    if (!player.decide()) break;
    said.push_back({player.view().now_us(), player.plan()});
  }
  return said;
}

// The same jobs up to `until_us`, as this policy's own play has made them; another future.
std::vector<Job> other_future(const Scene& scene, const Policy& policy, int64_t until_us, Rng rng) {
  Player player(scene, policy);
  leaked_work_us = scene.truth().work_us;
  std::vector<Job> jobs = scene.jobs();
  // Work done by each at `until_us` is a bound on what may change: known from the state just before
  // the first event after it.
  std::vector<double> least_us(jobs.size(), 0);
  std::vector<char> ended(jobs.size(), 0);
  while (player.advance() && player.view().now_us() <= until_us) {
    const ClusterState& s = player.state();
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kDone) ended[static_cast<size_t>(s.job[slot])] = 1;
    }
    if (!player.decide()) break;
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kFree || s.phase[slot] == Phase::kDone) continue;
      const bool holds = s.phase[slot] == Phase::kRunning || s.phase[slot] == Phase::kStarting;
      const int64_t runs_from_us =
          s.phase[slot] == Phase::kStarting ? s.until_us[slot] : s.since_us[slot];
      const double ran =
          holds ? static_cast<double>(std::max<int64_t>(until_us - runs_from_us, 0)) : 0;
      least_us[static_cast<size_t>(s.job[slot])] = s.done_us[slot] + ran * s.rate[slot];
    }
  }
  std::vector<Job> other;
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].submit_us > until_us) break;
    other.push_back(jobs[j]);
    if (ended[j]) continue;
    const auto more_us = static_cast<int64_t>(1e9 * rng.exponential());
    other.back().run_us = static_cast<int64_t>(least_us[j]) + 2 + more_us;
  }
  const size_t kept = other.size();
  std::vector<Job> later = random_jobs(
      rng.split(1),
      {.count = static_cast<int32_t>(5 + rng.below(60)), .sizes = {1, 3, 5, 16}, .users = 9});
  for (size_t j = 0; j < later.size(); ++j) {
    later[j].id = std::to_string(kept + j);
    later[j].submit_us += until_us + 1;
    other.push_back(later[j]);
  }
  return other;
}

// Returns at how many of several times the policy decided differently before that time.
int times_it_looked_ahead(const Policy& policy) {
  const Scene scene(kCluster, now_jobs());
  int looked = 0;
  for (uint64_t trial = 0; trial < 12; ++trial) {
    Rng rng = Rng(14).split(trial);
    const int64_t until_us = scene.jobs()[3 + rng.below(30)].submit_us + rng.below(100) * kSecond;
    const Scene other(kCluster, other_future(scene, policy, until_us, rng));
    const std::vector<Said> here = said_until(scene, policy, until_us);
    EXPECT_GT(here.size(), 3u);
    looked += here != said_until(other, policy, until_us);
  }
  return looked;
}

class Future : public ::testing::TestWithParam<std::string> {};

TEST_P(Future, IsUnknownToWhoDoesNotDeclareAnOracle) {
  const auto policy = make_policy(GetParam());
  if (policy->level() >= Level::kNoisyOracle) {
    EXPECT_GT(times_it_looked_ahead(*policy), 0) << "an oracle that knows nothing";
  } else {
    EXPECT_EQ(times_it_looked_ahead(*policy), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, Future, ::testing::ValuesIn(PolicyRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// --- cheats that compile, and are caught by the same measure ------------------------------------

// Starts first in the order of a key; declares to know nothing.
template <class KeyOf>
struct Cheat final : Policy {
  explicit Cheat(KeyOf key_of) : key_of(key_of) {}
  KeyOf key_of;

  Level level() const override { return Level::kBlind; }
  size_t memory_bytes(const View& view) const override { return Ranked::bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    Ranked ranked(view, carver);
    take_in_changed(view, ranked, [&](int32_t slot) { return key_of(view, slot); });
    start_in_order(view, ranked, Placement::kFirstFit, draft);
  }
};

TEST(Cheats, AnHonestPolicyOfTheSameFormIsNotAccused) {
  const Cheat honest([](const View& view, int32_t slot) { return double(view.gpus(slot)); });
  EXPECT_EQ(times_it_looked_ahead(honest), 0);
}

TEST(Cheats, WhoSmugglesTheTruthThroughAGlobalIsCaught) {
  const Cheat cheat([](const View& view, int32_t slot) {
    return static_cast<double>(leaked_work_us[view.serial(slot)]);
  });
  EXPECT_GT(times_it_looked_ahead(cheat), 0);
}

// The room that a world has is told by the number of jobs to come.
TEST(Cheats, WhoCountsTheSlotsIsCaught) {
  const Cheat cheat([](const View& view, int32_t slot) -> double {
    return view.capacity() % 2 == 0 ? view.serial(slot) : -view.serial(slot);
  });
  EXPECT_GT(times_it_looked_ahead(cheat), 0);
}

// The size classes and users of the whole workload are in the job table's columns.
TEST(Cheats, WhoLooksForSizesThatNobodyHasAskedForIsCaught) {
  const Cheat cheat([](const View& view, int32_t slot) -> double {
    const bool large_to_come = view.class_gpus(view.num_classes() - 1) > 10;
    return large_to_come ? view.gpus(slot) : -view.gpus(slot);
  });
  EXPECT_GT(times_it_looked_ahead(cheat), 0);
}

// --- cheats that abort --------------------------------------------------------------------------

TEST(CheatsDeathTest, WhoReadsRunTimesBelowItsLevelAborts) {
  const Cheat cheat([](const View& view, int32_t slot) { return view.left_us(slot); });
  EXPECT_DEATH(times_it_looked_ahead(cheat), "left_line\\(\\) needs an oracle level");
}

TEST(CheatsDeathTest, WhoReadsLimitsBelowItsLevelAborts) {
  const Cheat cheat([](const View& view, int32_t slot) { return double(view.limit_us(slot)); });
  EXPECT_DEATH(times_it_looked_ahead(cheat), "limit_us\\(\\) needs the level `estimate`");
}

// --- cheats that do not compile -----------------------------------------------------------------

// Ways to the state, to the columns of jobs still to come, and to the truth behind it.
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
|| requires(T t) { t.told_work_us_; }
|| requires(T t) { t.agenda(); }
|| requires(T t) { t.agenda_; };
template <class T>
concept GoesOnAlone = requires(T t, const Truth& truth) {
  t.advance(truth);
}
|| std::constructible_from<World, T> || std::convertible_to<T, ClusterState> ||
    std::convertible_to<T, Fixed> || std::convertible_to<T, Truth>;
// Acting beside the draft, on a copy or on the world itself.
template <class T>
concept ActsBesideTheDraft = requires(T t, const Plan& plan) {
  execute(t, t, plan);
}
|| requires(T t) { preempt(t, t, 0); }
|| std::constructible_from<Draft, T, T>;

template <class T>
constexpr bool kTight =
    !GivesState<T> && !GivesJobs<T> && !GivesTruth<T> && !GoesOnAlone<T> && !ActsBesideTheDraft<T>;

static_assert(kTight<View&> && kTight<const View&>);
static_assert(kTight<Draft&> && kTight<Memory&> && kTight<Placer&>);
static_assert(std::same_as<decltype(std::declval<const View&>().spec()), const SpecColumns&>);

// The same questions find what there is to find, so they are the right ones.
static_assert(GivesState<World&> && GivesJobs<World&> && GivesTruth<World&> && GoesOnAlone<World&>);
static_assert(GivesJobs<Fixed&> && GivesTruth<Workload&> && GivesState<ClusterState&>);

}  // namespace
}  // namespace yard::testing
