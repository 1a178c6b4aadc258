// The cluster over time, against values computed by hand and the replay's own utilisation.
#include "experiments/replay/series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "env/base/text/text.h"
#include "env/cluster/spec.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

constexpr int64_t kSecond = 1'000'000;

struct Played {
  nlohmann::ordered_json series;
  std::string csv;
  double utilisation;
};

Played play(const Scenario& scenario, const std::string& policy) {
  Series series(scenario);
  series.begin();
  RunOptions how;
  how.watch = [&](const SimModel& fixed, const SimState& state) {
    series.record_state(fixed, state);
  };
  const yard::Run run = run_policy(scenario, policy, how);
  series.end(run);
  return {series.json()["series"][0], series.csv(), run.summary.utilisation};
}

Job job_of(const char* id, int64_t submit_s, int32_t gpus, int64_t run_s) {
  Job job;
  job.id = id;
  job.submit_us = submit_s * kSecond;
  job.gpus = gpus;
  job.run_us = run_s * kSecond;
  job.scored = true;
  return job;
}

TEST(Series, RecordsHeldGpusAndWaitingJobs) {
  // Four GPUs: a holds all of them for 240 s, then b holds two for 240 s.
  Trace trace;
  trace.jobs = {job_of("a", 0, 4, 240), job_of("b", 120, 2, 240)};
  const Window window{.from_us = 0, .to_us = 121 * kSecond, .scored = 2};
  const Scenario scenario(trace, window, load_cluster("1x4"), 0);
  const auto series = play(scenario, "fifo").series;
  EXPECT_EQ(series["policy"], "fifo");
  EXPECT_EQ(series["gpus"], 4);
  EXPECT_EQ(series["from_s"], 0.0);
  EXPECT_EQ(series["to_s"], 121.0);
  ASSERT_EQ(series["t_s"].size(), 240u);  // slices of 2 s
  EXPECT_EQ(series["t_s"][0], 1.0);
  EXPECT_EQ(series["t_s"][239], 479.0);
  for (size_t i = 0; i < 240; ++i) {
    EXPECT_EQ(series["held_gpus"][i], i < 120 ? 4.0 : 2.0) << i;
    EXPECT_EQ(series["waiting"][i], i >= 60 && i < 120 ? 1.0 : 0.0) << i;
  }
}

TEST(Series, RecordsFreeUnusableAndTenantGpus) {
  // Two nodes of two GPUs: a and c need one GPU each, b and d two.
  Trace trace;
  trace.jobs = {job_of("a", 0, 1, 240), job_of("b", 0, 2, 120), job_of("c", 0, 1, 240),
                job_of("d", 60, 2, 120)};
  for (Job& job : trace.jobs) job.tenant = job.gpus == 1 ? "small" : "large, too";
  const Window window{.from_us = 0, .to_us = 61 * kSecond, .scored = 4};
  const Scenario scenario(trace, window, load_cluster("2x2"), 0);
  // a and c share a node; b has the other until 120 s, then d until 240 s.
  const auto [series, csv, utilisation] = play(scenario, "fifo");
  ASSERT_EQ(series["t_s"].size(), 240u);
  for (size_t i = 0; i < 240; ++i) {
    const bool waits = i >= 60 && i < 120;
    EXPECT_EQ(series["held_gpus"][i], 4.0) << i;
    EXPECT_EQ(series["free_gpus"][i], 0.0) << i;
    EXPECT_EQ(series["waiting_gpus"][i], waits ? 2.0 : 0.0) << i;
    EXPECT_EQ(series["running"][i], 3.0) << i;
    EXPECT_EQ(series["unusable_gpus"][i], 0.0) << i;
    EXPECT_EQ(series["tenants"][0]["held_gpus"][i], 2.0) << i;
    EXPECT_EQ(series["tenants"][0]["waiting"][i], waits ? 1.0 : 0.0) << i;
    EXPECT_EQ(series["tenants"][1]["held_gpus"][i], 2.0) << i;
  }
  EXPECT_EQ(series["tenants"][0]["tenant"], "large, too");
  const auto lines = split(csv, '\n');
  ASSERT_EQ(lines.size(), 242u);
  EXPECT_EQ(lines[0],
            "policy,t_s,held_gpus,free_gpus,waiting,waiting_gpus,running,unusable_gpus,"
            "\"held_gpus:large, too\",\"waiting:large, too\",held_gpus:small,waiting:small");
  EXPECT_EQ(lines[61], "fifo,60.5,4,0,1,2,3,0,2,1,2,0");
}

TEST(Series, MeanIsTheUtilisation) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "4x8";
  options.generate_jobs = 300;
  const Scenario scenario = load_scenario(options);
  for (const char* policy : {"greedy", "las", "srsf-history"}) {
    const auto [series, csv, utilisation] = play(scenario, policy);
    double sum = 0;
    for (const auto& held : series["held_gpus"]) sum += held.get<double>();
    const double mean = sum / static_cast<double>(series["held_gpus"].size()) / 32;
    // Each of the 240 means is rounded to a thousandth of a GPU.
    EXPECT_NEAR(mean, utilisation, 1e-4) << policy;
  }
}

}  // namespace
}  // namespace yard
