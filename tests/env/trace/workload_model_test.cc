// The statistical workload model: samples resemble the fitted trace, equal seeds give equal jobs,
// and a model survives a round trip through a file.
#include "env/trace/fitted/workload_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/trace/core/thin.h"
#include "env/trace/fitted/fit_workload.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/require.h"

namespace yard {
namespace {

// Returns the largest distance between two empirical distributions (Kolmogorov and Smirnov).
double ks(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double max_distance = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double at = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= at) ++i;
    while (j < b.size() && b[j] <= at) ++j;
    max_distance =
        std::max(max_distance, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                        static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return max_distance;
}

std::vector<double> run_times(const std::vector<Job>& jobs) {
  std::vector<double> out;
  for (const Job& job : jobs) out.push_back(1e-6 * static_cast<double>(job.run_us));
  return out;
}

std::vector<double> sizes(const std::vector<Job>& jobs) {
  std::vector<double> out;
  for (const Job& job : jobs) out.push_back(job.gpus);
  return out;
}

WorkloadModel fitted(const Trace& trace) {
  return fit_workload_model(trace, select_trace_part(trace, {.to = "60%"}));
}

TEST(Like, ResemblesTheFittedTrace) {
  const Trace trace = load_trace("synthetic:habits", {.seed = 3, .jobs = 4000});
  const TracePart part = select_trace_part(trace, {.to = "60%"});
  const WorkloadModel model = fit_workload_model(trace, part);
  EXPECT_EQ(model.owner, "user");
  EXPECT_EQ(model.jobs, static_cast<int64_t>(part.jobs.size()));
  const std::vector<Job> jobs = sample_workload(model, {.seed = 9, .jobs = 6000});
  ASSERT_EQ(jobs.size(), 6000u);
  EXPECT_LT(ks(run_times(jobs), run_times(part.jobs)), 0.1);
  EXPECT_LT(ks(sizes(jobs), sizes(part.jobs)), 0.1);
  EXPECT_TRUE(std::is_sorted(jobs.begin(), jobs.end(),
                             [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; }));
}

TEST(Like, SameSeedSameJobs) {
  const WorkloadModel model = fitted(load_trace("synthetic:habits", {.seed = 3, .jobs = 1000}));
  const auto submits = [&](uint64_t seed) {
    std::vector<int64_t> out;
    for (const Job& job : sample_workload(model, {.seed = seed, .jobs = 300})) {
      out.push_back(job.submit_us);
    }
    return out;
  };
  EXPECT_EQ(submits(1), submits(1));
  EXPECT_NE(submits(1), submits(2));
}

TEST(Like, ModelRoundTripsThroughAFile) {
  const WorkloadModel model = fitted(load_trace("synthetic:habits", {.seed = 3, .jobs = 1000}));
  const std::string text = to_text(model);
  EXPECT_EQ(to_text(parse_workload_model(text, "m.json")), text);
  // A truncated or altered text gives a model or an error with a place, nothing else.
  int refused = 0;
  for (size_t cut = 1; cut < text.size(); cut += text.size() / 200 + 1) {
    std::string bent = text;
    bent[cut] = bent[cut] == '9' ? 'x' : '9';
    for (const std::string& broken : {text.substr(0, cut), bent}) {
      try {
        parse_workload_model(broken, "m.json");
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith("m.json"));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 200);
}

TEST(Like, ThinningKeepsItsShare) {
  const Trace trace = load_trace("synthetic:habits", {.seed = 3, .jobs = 4000});
  for (const ThinBy by : {ThinBy::kJob, ThinBy::kBatch}) {
    std::vector<Job> jobs = trace.jobs;
    thin(jobs, 0.25, by, Rng(5));
    EXPECT_NEAR(static_cast<double>(jobs.size()) / 4000, 0.25, 0.05);
  }
}

TEST(Like, ItpFitIsCloserThanTheTraceHalvesAre) {
  YARD_NEEDS_TRACES();
  const Trace trace =
      load_trace(testing::traces_dir() / "microsoft-itp-2021/raw/cluster04.csv.gz", {});
  const TracePart part = select_trace_part(trace, {.to = "60%"});
  const std::vector<Job> jobs = sample_workload(fit_workload_model(trace, part), {.seed = 4});
  const auto middle = part.jobs.begin() + static_cast<std::ptrdiff_t>(part.jobs.size() / 2);
  const double halves =
      ks(run_times({part.jobs.begin(), middle}), run_times({middle, part.jobs.end()}));
  EXPECT_LT(ks(run_times(jobs), run_times(part.jobs)), halves);
  EXPECT_LT(ks(sizes(jobs), sizes(part.jobs)), 0.1);
}

}  // namespace
}  // namespace yard
