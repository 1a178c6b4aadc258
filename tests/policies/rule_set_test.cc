// Requirements of every registered rule set, under each scheduler and placement that it accepts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "tests/support/measurements.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

struct RuleSetPlay {
  std::string policy, placement;
};

// The schedulers that the rule set defines, or all of Yardmaster's.
std::vector<RuleSetPlay> plays_of(const RuleSet::Info& info) {
  std::vector<RuleSetPlay> plays;
  const auto policies = info.policies.empty() ? PolicyRegistry::names() : info.policies;
  const auto placements = info.placements.empty() ? std::vector<std::string>{""} : info.placements;
  for (std::string policy : policies) {
    if (policy.ends_with("-N")) policy.back() = '2';  // a name with a number in it
    for (const std::string& placement : placements) plays.push_back({policy, placement});
  }
  return plays;
}

class EveryRuleSet : public ::testing::TestWithParam<std::string> {
 protected:
  Outcome replay(const Scene& scene, const RuleSetPlay& play) {
    std::unique_ptr<Policy> policy;
    std::unique_ptr<PolicyDecider> decider;
    if (info_.policies.empty()) {
      policy = make_policy(play.policy);
      decider = std::make_unique<PolicyDecider>(*policy);
    }
    const int node_gpus = scene.cluster().max_gpus_per_node();
    const Settings files = measurements_for(info_.needs, scene.jobs(), node_gpus);
    StepChecker checker(scene.fixed());
    const Outcome out = RuleSetRegistry::make(GetParam(), files)
                            ->replay({.fixed = scene.fixed(),
                                      .workload = scene.workload(),
                                      .first_job = 0,
                                      .end_job = scene.size(),
                                      .policy = play.policy,
                                      .placement = play.placement,
                                      .settings = {},
                                      .decider = decider.get(),
                                      .trace = &scene.trace(),
                                      .cluster = &scene.cluster(),
                                      .watch = checker.watcher()});
    EXPECT_EQ(checker.broken(), "");
    return out;
  }

  const RuleSet::Info& info_ = RuleSetRegistry::info(GetParam());
};

TEST(Default, StopsWhenTimesAreNoLongerExact) {
  const Scene scene("1x1", jobs_of({{0, 1, 4e9}, {0, 1, 4e9}, {0, 1, 4e9}}));
  const auto policy = make_policy("fifo");
  PolicyDecider decider(*policy);
  EXPECT_THROW(RuleSetRegistry::make("default", {})
                   ->replay({.fixed = scene.fixed(),
                             .workload = scene.workload(),
                             .first_job = 0,
                             .end_job = scene.size(),
                             .policy = "fifo",
                             .placement = "",
                             .settings = {},
                             .decider = &decider,
                             .watch = {}}),
               RunError);
}

TEST_P(EveryRuleSet, DescribesItself) {
  EXPECT_FALSE(info_.about.empty());
  EXPECT_FALSE(info_.source.empty());
  EXPECT_FALSE(info_.fidelity.empty());
}

// `list rules` shows the registered keys; `--set` accepts the keys that the rule set reads.
TEST_P(EveryRuleSet, ListsItsSettings) {
  std::vector<std::string> keys;
  for (const Field& field : info_.fields()) keys.push_back(field.key);
  const std::string known =
      keys.empty() ? "no keys are accepted here" : "expected one of: " + join(keys);
  Settings settings;
  settings.set("no_such_key", "1", "test");
  try {
    RuleSetRegistry::make(GetParam(), settings);
    FAIL() << "an unknown key is accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), "test: unknown key 'no_such_key', " + known);
  }
}

TEST_P(EveryRuleSet, RejectsUnlistedNames) {
  if (info_.policies.empty()) return;
  const Scene scene("1x4", with_work(jobs_of({{0, 1, 10}})));
  EXPECT_THROW(replay(scene, {"no_such", ""}), InputError);
  EXPECT_THROW(replay(scene, {plays_of(info_)[0].policy, "no_such"}), InputError);
}

TEST_P(EveryRuleSet, HandlesAnEmptyTrace) {
  const Scene scene("4x8", {});
  for (const RuleSetPlay& play : plays_of(info_)) {
    const Outcome outcome = replay(scene, play);
    EXPECT_TRUE(outcome.jobs.empty());
    EXPECT_EQ(outcome.held_time_us, 0);
  }
}

TEST_P(EveryRuleSet, RunsOneJobAloneForItsRunTime) {
  for (const int gpus : {1, 8, 16}) {
    const Scene scene("4x8", with_work(jobs_of({{40, gpus, 100}})));
    for (const RuleSetPlay& play : plays_of(info_)) {
      SCOPED_TRACE(play.policy + " " + play.placement + ", GPUs: " + std::to_string(gpus));
      const Outcome outcome = replay(scene, play);
      ASSERT_EQ(outcome.jobs.size(), 1u);
      const JobOutcome& job = outcome.jobs[0];
      EXPECT_GE(job.start_us, 40 * kSecond);
      EXPECT_EQ(job.preemptions, 0);
      EXPECT_EQ(job.restarts, 0);
      if (!info_.waiver.empty()) {
        EXPECT_GE(job.end_us - job.start_us, 100 * kSecond);
        EXPECT_EQ(outcome.held_time_us, gpus * (job.end_us - job.start_us));
        continue;
      }
      const int64_t round_us = std::llround(info_.round_s * kSecond);
      const int64_t whole_us = std::llround((100 + info_.start_s) * kSecond);
      EXPECT_LE(job.start_us, 40 * kSecond + round_us);
      EXPECT_EQ(job.end_us, job.start_us + whole_us);
      EXPECT_GE(outcome.held_time_us, gpus * whole_us);
      EXPECT_LE(outcome.held_time_us, gpus * (whole_us + round_us)) << "up to the round's end";
    }
  }
}

TEST_P(EveryRuleSet, FinishesEveryJobDeterministically) {
  std::vector<Job> jobs =
      random_jobs(Rng(41), {.count = 80, .sizes = {1, 2, 4, 8, 16}, .mean_gap_s = 60});
  for (Job& job : jobs) job.run_us = job.run_us / kSecond * kSecond + kSecond;  // whole seconds
  const Scene scene("4x8", with_work(jobs));
  for (const RuleSetPlay& play : plays_of(info_)) {
    SCOPED_TRACE(play.policy + " " + play.placement);
    const Outcome a = replay(scene, play), b = replay(scene, play);
    ASSERT_EQ(a.jobs.size(), jobs.size());
    for (size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_GE(a.jobs[j].start_us, jobs[j].submit_us);
      EXPECT_GE(a.jobs[j].end_us, a.jobs[j].start_us);
      EXPECT_EQ(a.jobs[j].start_us, b.jobs[j].start_us);
      EXPECT_EQ(a.jobs[j].end_us, b.jobs[j].end_us);
      EXPECT_EQ(a.jobs[j].preemptions, b.jobs[j].preemptions);
    }
    EXPECT_EQ(a.held_time_us, b.held_time_us);
    EXPECT_EQ(a.events, b.events);
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryRuleSet, ::testing::ValuesIn(RuleSetRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// A job that is never started must not hang the replay.
TEST(DefaultRuleSet, NamesAPolicyThatNeverStartsAJob) {
  struct Lazy final : Policy {
    InformationLevel level() const override { return InformationLevel::kBlind; }
    void decide(const View&, Memory&, Draft&) const override {}
  };
  const Scene scene("1x1", jobs_of({{0, 1, 1}, {5, 1, 1}}));
  const Lazy lazy;
  PolicyDecider decider(lazy);
  try {
    RuleSetRegistry::make("default", {})
        ->replay({.fixed = scene.fixed(),
                  .workload = scene.workload(),
                  .first_job = 0,
                  .end_job = scene.size(),
                  .policy = "lazy",
                  .placement = {},
                  .settings = {},
                  .decider = &decider,
                  .watch = {}});
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "lazy leaves 2 jobs waiting with nothing running");
  }
}

}  // namespace
}  // namespace yard::testing
