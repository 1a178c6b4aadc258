// Inputs which every published rule set rejects, whatever engine it runs on.
#include "env/sim/rulesets/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "tests/support/measurements.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

// Plays `jobs` under the first policy of the rule set.
Outcome play(const std::string& rules, const std::vector<Job>& jobs, const ClusterSpec& cluster,
             std::function<void(const SimState&)> watch = nullptr) {
  const Scene scene(cluster, jobs);
  const RuleSet::Info& info = RuleSetRegistry::info(rules);
  std::vector<Job> measured = jobs;
  std::erase_if(measured, [](const Job& job) { return job.gpus == 0; });
  const Settings settings = measurements_for(info.needs, measured, 8);
  return RuleSetRegistry::make(rules, settings)
      ->replay({.fixed = scene.fixed(),
                .workload = scene.workload(),
                .first_job = 0,
                .end_job = scene.size(),
                .policy = info.policies.front(),
                .placement = info.placements.empty() ? "" : info.placements.front(),
                .settings = {},
                .decider = nullptr,
                .trace = &scene.trace(),
                .cluster = &scene.cluster(),
                .watch = std::move(watch)});
}

std::string refusal(const std::string& rules, const std::vector<Job>& jobs,
                    const ClusterSpec& cluster) {
  try {
    play(rules, jobs, cluster);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> published() {
  std::vector<std::string> names = RuleSetRegistry::names();
  std::erase_if(names,
                [](const auto& name) { return RuleSetRegistry::info(name).policies.empty(); });
  return names;
}

class Published : public ::testing::TestWithParam<std::string> {};

TEST_P(Published, RefusesJobsWithoutGpus) {
  const std::vector<Job> jobs = with_work(jobs_of({{0, 1, 100}, {1, 0, 100}}));
  EXPECT_EQ(refusal(GetParam(), with_work(jobs_of({{0, 1, 100}})), load_cluster("1x8")), "");
  const std::string message = refusal(GetParam(), jobs, load_cluster("1x8"));
  EXPECT_THAT(message, HasSubstr("jobs with GPUs"));
  EXPECT_THAT(message, HasSubstr("job number 1"));
}

TEST_P(Published, RejectsMixedSpeedsUnlessItSupportsTypes) {
  ClusterSpec cluster = load_cluster("1x8:v100");
  cluster.types[0].speed = 0.5;
  const std::string message = refusal(GetParam(), with_work(jobs_of({{0, 1, 100}})), cluster);
  if (RuleSetRegistry::info(GetParam()).by_types) {
    EXPECT_EQ(message, "");
  } else {
    EXPECT_THAT(message, HasSubstr("GPUs of speed 1"));
  }
}

// A long replay must stop soon after Ctrl-C. Each case runs in a separate process, so that this
// one's files are left alone.
TEST_P(Published, SignalStopsAtTheNextEvent) {
  const auto interrupted = [&] {
    install_interrupt_handler();
    int events = 0;
    try {
      play(GetParam(), with_work(jobs_of({{0, 1, 100}, {1000, 1, 100}})), load_cluster("1x8"),
           [&](const SimState&) {
             if (++events == 1) std::raise(SIGTERM);
           });
    } catch (const Interrupted&) {
      std::_Exit(events == 1 ? 0 : 1);
    }
    std::_Exit(2);
  };
  EXPECT_EXIT(interrupted(), ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Registered, Published, ::testing::ValuesIn(published()),
                         [](const auto& info) { return info.param; });

TEST(PublishedRules, OnlyOneSupportsTypes) {
  int by_types = 0;
  for (const std::string& name : published()) by_types += RuleSetRegistry::info(name).by_types;
  EXPECT_EQ(by_types, 1) << "gavel";
}

}  // namespace
}  // namespace yard::testing
