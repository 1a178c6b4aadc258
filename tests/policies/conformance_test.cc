// Requirements of every registered policy, with each placement that it offers. Policies come from
// the registry, so an added one is tested automatically.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

// Policies by name, each with all placements if it has that setting.
std::vector<std::string> every_policy() {
  std::vector<std::string> texts;
  for (const std::string& name : PolicyRegistry::names()) {
    const auto fields = PolicyRegistry::info(name).fields();
    const bool places = std::any_of(fields.begin(), fields.end(),
                                    [](const Field& f) { return f.key == "placement"; });
    if (!places) texts.push_back(name);
    for (const char* placement : kPlacementRuleNames) {
      if (places) texts.push_back(name + " placement=" + placement);
    }
  }
  return texts;
}

std::string policy_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

// A crowded cluster of unequal nodes: gangs over several nodes, jobs of one second, jobs without
// work.
std::vector<Job> crowd(uint64_t seed) {
  std::vector<Job> jobs =
      random_jobs(Rng(12).split(seed),
                  {.count = 60, .sizes = {1, 1, 1, 2, 2, 4, 7, 12, 20}, .mean_gap_s = 120});
  jobs[5].run_us = 0;
  return jobs;
}

constexpr const char* kCluster = "3x4+1x8";

// One decision of the policy: its time and its plan.
struct TimedPlan {
  int64_t at_us;
  Plan plan;
  bool operator==(const TimedPlan&) const = default;
};

std::vector<TimedPlan> record_decisions(SceneRunner& runner) {
  std::vector<TimedPlan> recorded;
  while (runner.step()) recorded.push_back({runner.view().now_us(), runner.plan()});
  return recorded;
}

// Keeps only the bytes of the memory between decisions, at another address.
struct RelocatedMemory final : Policy {
  explicit RelocatedMemory(std::string text) : text(std::move(text)) {}
  std::string text;

  InformationLevel level() const override { return make_policy(text)->level(); }
  size_t memory_bytes(const View& view) const override {
    return make_policy(text)->memory_bytes(view);
  }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Memory saved;
    saved.reset(memory.bytes());
    std::copy_n(memory.data(), memory.bytes(), saved.data());
    memory.reset(0);
    make_policy(text)->decide(view, saved, draft);
    memory = saved;
  }
};

class EveryPolicy : public ::testing::TestWithParam<std::string> {
 protected:
  EveryPolicy() : policy_(make_policy(GetParam())) {}
  const std::string name_ = GetParam().substr(0, GetParam().find(' '));
  const Policy::Info& info_ = PolicyRegistry::info(name_);
  const std::unique_ptr<Policy> policy_;
};

TEST_P(EveryPolicy, DescribesItself) {
  EXPECT_FALSE(info_.about.empty());
  EXPECT_FALSE(info_.source.empty());
  EXPECT_FALSE(info_.fidelity.empty());
  EXPECT_EQ(policy_->level(), info_.level);
  if (info_.level >= InformationLevel::kNoisyOracle) {
    EXPECT_FALSE(info_.servable) << "run times are unknown in a live cluster";
  }
}

TEST_P(EveryPolicy, RefusesUnknownSettings) {
  try {
    make_policy(name_ + " no_such_key=1");
    FAIL() << "the unknown setting was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_key"), std::string::npos) << error.what();
  }
}

// The runner checks legality and invariants at every event.
TEST_P(EveryPolicy, FinishesEveryJobDeterministically) {
  for (const PreemptionCosts& costs : {PreemptionCosts{}, no_costs()}) {
    const Scene scene(kCluster, crowd(1), costs);
    SceneRunner first(scene, *policy_), second(scene, *policy_);
    const std::vector<TimedPlan> recorded = record_decisions(first);
    ASSERT_FALSE(first.failed());
    ASSERT_EQ(recorded, record_decisions(second));
    for (size_t j = 0; j < first.jobs().size(); ++j) {
      const JobOutcome& out = first.jobs()[j];
      EXPECT_GE(out.start_us, scene.jobs()[j].submit_us);
      EXPECT_GE(out.end_us, out.start_us + scene.jobs()[j].run_us);
      EXPECT_EQ(out.restarts, out.preemptions);
      if (!info_.preemptive) {
        EXPECT_EQ(out.preemptions, 0);
      }
    }
  }
}

// Some jobs of a live cluster must not be preempted. If preempting others cannot make enough room,
// nothing is preempted: each decision that preempts also starts jobs.
TEST_P(EveryPolicy, NeverPreemptsPinnedJobsOrInVain) {
  const Scene scene(kCluster, crowd(3), no_costs());
  SceneRunner runner(scene, *policy_);
  while (runner.advance()) {
    SimState& state = runner.world().state();
    for (int32_t w = runner.view().queue_head(); w != kNone; w = runner.view().queue_next(w)) {
      state.pinned[w] = state.job[w] % 3 != 0;
    }
    if (!runner.decide()) break;
    const auto count = [&](Verb verb) {
      return std::ranges::count_if(runner.plan().edits,
                                   [&](const Edit& e) { return e.verb == verb; });
    };
    ASSERT_TRUE(count(Verb::kPreempt) == 0 || count(Verb::kStart) > 0)
        << "at " << runner.view().now_us() << " us";
  }
  ASSERT_FALSE(runner.failed());
  for (size_t j = 0; j < runner.jobs().size(); ++j) {
    ASSERT_NE(runner.jobs()[j].end_us, kNone);
    if (j % 3 != 0) {
      EXPECT_EQ(runner.jobs()[j].preemptions, 0);
    }
  }
}

TEST_P(EveryPolicy, MatchesTheEngine) {
  const Scene scene(kCluster, crowd(2));
  SceneRunner runner(scene, *policy_);
  runner.play();
  PolicyDecider decider(*policy_);
  StepChecker checker(scene.fixed());
  const Outcome outcome = RuleSetRegistry::make("default", {})
                              ->replay({.fixed = scene.fixed(),
                                        .workload = scene.workload(),
                                        .first_job = 0,
                                        .end_job = scene.size(),
                                        .policy = name_,
                                        .placement = {},
                                        .settings = {},
                                        .decider = &decider,
                                        .oracle_noise = 0,
                                        .watch = checker.watcher()});
  EXPECT_EQ(checker.broken(), "");
  EXPECT_EQ(outcome.events, runner.events());
  for (size_t j = 0; j < runner.jobs().size(); ++j) {
    EXPECT_EQ(outcome.jobs[j].start_us, runner.jobs()[j].start_us);
    EXPECT_EQ(outcome.jobs[j].end_us, runner.jobs()[j].end_us);
    EXPECT_EQ(outcome.jobs[j].preemptions, runner.jobs()[j].preemptions);
    EXPECT_EQ(outcome.jobs[j].restarts, runner.jobs()[j].restarts);
  }
}

TEST_P(EveryPolicy, KeepsStateOnlyInItsMemory) {
  const Scene scene(kCluster, crowd(3));
  const RelocatedMemory forgetful(GetParam());
  SceneRunner whole(scene, *policy_), saved(scene, forgetful);
  EXPECT_EQ(record_decisions(whole), record_decisions(saved));
}

TEST_P(EveryPolicy, ContinuesIdenticallyFromACopy) {
  const Scene scene(kCluster, crowd(4));
  SceneRunner whole(scene, *policy_);
  const std::vector<TimedPlan> recorded = record_decisions(whole);
  SceneRunner runner(scene, *policy_);
  for (size_t event = 0; event < recorded.size(); ++event) {
    if (event % 20 == 7) {
      SceneRunner copy(scene, *policy_);
      copy.copy_from(runner);
      const std::vector<TimedPlan> rest = record_decisions(copy);
      ASSERT_EQ(rest, std::vector<TimedPlan>(recorded.begin() + static_cast<int64_t>(event),
                                             recorded.end()));
    }
    ASSERT_TRUE(runner.step());
  }
}

// For a snapshot of a live cluster, every job counts as changed and the memory is built from the
// view alone. A blind policy must decide as if it had seen all events. A policy that learns from
// finished jobs only sees those in the snapshot, so its decision need only be legal.
TEST_P(EveryPolicy, DecidesIdenticallyFromASnapshot) {
  if (!info_.servable) return;  // not servable: no snapshots
  const Scene scene(kCluster, crowd(5));
  SceneRunner runner(scene, *policy_);
  World snapshot(scene.fixed(), scene.size());
  const View view(scene.fixed(), snapshot.state(), policy_->level());
  Draft draft(scene.fixed(), snapshot.state());
  const bool by_entry =
      GetParam().starts_with("las placement") || GetParam().starts_with("tiresias");
  int decisions = 0, events = 0, others = 0;
  while (runner.advance()) {
    snapshot.copy_from(runner.world());
    SimState& s = snapshot.state();
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] != Phase::kFree) mark_changed(s, slot);
    }
    Memory memory;
    memory.reset(policy_->memory_bytes(view));
    policy_->rebuild_memory(view, memory);
    draft.reset();
    policy_->decide(view, memory, draft);
    const std::string why = flaw_of_decision(scene.fixed(), runner.state(), draft.plan());
    ASSERT_EQ(why, "");
    ASSERT_TRUE(runner.decide());
    ++events;
    if (info_.level == InformationLevel::kBlind) {
      const bool same = draft.plan() == runner.plan();
      ASSERT_TRUE(same || by_entry) << "event " << runner.events();
      others += !same;
      decisions += !runner.plan().edits.empty();
    }
  }
  if (!GetParam().starts_with("tiresias")) {
    EXPECT_LT(others, 0.2 * events);
  }
  if (info_.level == InformationLevel::kBlind) {
    EXPECT_GT(decisions, 10);
  }
}

TEST_P(EveryPolicy, HandlesOneJobAndNone) {
  for (const int gpus : {1, 8, 20}) {
    const Scene scene(kCluster, jobs_of({{3, gpus, 100}}));
    SceneRunner runner(scene, *policy_);
    runner.play();
    EXPECT_EQ(runner.jobs()[0].end_us, 103 * kSecond) << "alone it starts at once";
  }
  const Scene empty(kCluster, {});
  SceneRunner runner(empty, *policy_);
  EXPECT_FALSE(runner.step());
  EXPECT_FALSE(runner.failed());
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryPolicy, ::testing::ValuesIn(every_policy()),
                         policy_test_name);

}  // namespace
}  // namespace yard::testing
