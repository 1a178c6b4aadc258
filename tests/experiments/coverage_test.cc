// The predictor's intervals of remaining run time hold about as often as they claim.
#include "experiments/replay/coverage.h"

#include <gtest/gtest.h>

#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

Scenario coverage_scenario(double congestion) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "4x8";
  options.generate_jobs = 2000;
  options.window.from = "15%";
  options.window.to = "85%";
  options.congestion = congestion;
  return load_scenario(options);
}

TEST(PredictionCoverage, IntervalsHaveTheirNominalCoverage) {
  const Scenario scenario = coverage_scenario(1);
  const PredictionCoverage found =
      measure_interval_coverage(scenario, prepare("gittins", {}), {}, 1800);
  EXPECT_GT(found.all.predictions, 5000);
  EXPECT_EQ(found.all.predictions, found.waiting.predictions + found.begun.predictions);
  for (size_t k = 0; k < kNominalCoverages.size(); ++k) {
    // Jobs are few and correlated, so the shares are not exact.
    EXPECT_NEAR(found.all.share(k), kNominalCoverages[k], 0.08) << kNominalCoverages[k];
  }
  EXPECT_LT(found.all.median_error_log2, 2.5);
}

TEST(PredictionCoverage, DoesNotDependOnTheSamplingInterval) {
  const Scenario scenario = coverage_scenario(2);
  const PredictionCoverage often = measure_interval_coverage(scenario, prepare("las", {}), {}, 900);
  const PredictionCoverage rarely =
      measure_interval_coverage(scenario, prepare("las", {}), {}, 9000);
  EXPECT_GT(often.all.predictions, 3 * rarely.all.predictions);
  EXPECT_NEAR(often.all.share(1), rarely.all.share(1), 0.1);
}

}  // namespace
}  // namespace yard
