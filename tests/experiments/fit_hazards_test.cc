// Hazards fitted on a window: those of a known distribution, without information from after the
// window. The file written is a policy.
#include "experiments/search/fit_hazards.h"

#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/predict/hazard.h"
#include "policies/learned/open_policy.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

constexpr size_t kBins = TimeBins::kBins;

// Jobs of one GPU, one a second, which run for `run_s`; every second one runs twice as long. Those
// of the first 1000 s are scored.
Scenario steps(double run_s) {
  Trace trace;
  trace.source = "steps";
  for (int j = 0; j < 2000; ++j) {
    Job job;
    job.id = std::to_string(j);
    job.submit_us = j * 1'000'000;
    job.run_us = static_cast<int64_t>(run_s * (j % 2 == 0 ? 1e6 : 2e6));
    job.scored = j < 1000;
    trace.jobs.push_back(job);
  }
  Window window;
  window.to_us = 1'000'000'000;
  window.scored = 1000;
  return Scenario(std::move(trace), window, load_cluster("4x8"), 1);
}

TEST(FitHazards, AreTheSharesOfEndedJobs) {
  const std::vector<double> hazards = fit_hazards(steps(20));
  ASSERT_EQ(hazards.size(), 12 * kBins);
  const auto first = static_cast<size_t>(TimeBins::bin_of_us(20'000'000));
  const auto second = static_cast<size_t>(TimeBins::bin_of_us(40'000'000));
  for (size_t b = 0; b < second; ++b) {
    EXPECT_NEAR(hazards[b], b == first ? 0.5 : 0, 0.02) << b;
  }
  EXPECT_GT(hazards[second], 0.97);
  // Sizes without jobs fall back on the hazards of all jobs.
  EXPECT_NEAR(hazards[3 * kBins + first], 0.5, 0.02);
}

TEST(FitHazards, CensorJobsAtTheWindowsEnd) {
  // Jobs of 900 s end within the window if submitted in its first 100 s. All others are censored:
  // they only show how long they ran within it.
  const std::vector<double> hazards = fit_hazards(steps(900));
  const auto first = static_cast<size_t>(TimeBins::bin_of_us(900'000'000));
  double ever = 0;
  for (size_t b = first + 1; b < kBins; ++b) ever = std::max(ever, hazards[b]);
  EXPECT_NEAR(ever, 0.075, 1e-6) << "no job is known to have run longer";
  EXPECT_GT(hazards[first], 0.5);
}

TEST(FitHazards, FileIsAPolicy) {
  const Scenario scenario = steps(20);
  const testing::TempFile file("fitted.yaml", hazards_policy_yaml(fit_hazards(scenario), scenario));
  const OpenedPolicy opened = open_policy(file.path(), {});
  EXPECT_EQ(opened.policy->level(), InformationLevel::kDistribution);
  Settings few;
  few.set("hazards", "0.5,0.5", "test");
  EXPECT_THROW(open_policy(file.path(), few), InputError);
  EXPECT_THROW(open_policy("gittins-fitted", few), InputError);
}

}  // namespace
}  // namespace yard
