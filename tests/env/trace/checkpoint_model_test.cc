// The cost of a stop by the size of the model, computed by hand.
#include "env/trace/profiles/checkpoint_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/require.h"

namespace yard {
namespace {

Trace asking_for(const std::vector<std::string>& models) {
  Trace trace;
  for (const std::string& model : models) {
    Job job;
    job.id = std::to_string(trace.jobs.size());
    job.model = model;
    trace.jobs.push_back(job);
  }
  return trace;
}

TEST(Checkpoints, CostsComeFromSizeMeasurementOrJob) {
  Profiles profiles;
  parse_profile("model,parameters,save_s,restore_s\nGPT-2,134217728,,\nmoe,1e9,12.5,\nodd,,,90\n",
                "restarts.csv", profiles);
  Trace trace = asking_for({"gpt2", "moe", "odd", "unknown", "", "gpt2"});
  trace.jobs[5].restore_us = 5'000'000;
  // 2^27 weights of 4 bytes, two values per weight: 1 GiB at half a GiB per second.
  fill_checkpoint_costs(
      trace, profiles,
      {.state_per_weight = 2, .storage_gib_per_s = 0.5, .save_s = 1, .start_s = 20});
  const auto times = [&](size_t j) {
    return std::pair(trace.jobs[j].save_us, trace.jobs[j].restore_us);
  };
  EXPECT_EQ(times(0), std::pair(int64_t{3'000'000}, int64_t{22'000'000}));
  EXPECT_EQ(times(1).first, 12'500'000) << "measured";
  EXPECT_EQ(times(1).second, std::llround(1e6 * (20 + 8e9 / (0.5 * 1073741824))));
  EXPECT_EQ(times(2), std::pair(int64_t{-1}, int64_t{90'000'000}));
  EXPECT_EQ(times(3), std::pair(int64_t{-1}, int64_t{-1}));
  EXPECT_EQ(times(4), std::pair(int64_t{-1}, int64_t{-1}));
  EXPECT_EQ(times(5), std::pair(int64_t{3'000'000}, int64_t{5'000'000})) << "the job's own value";
}

TEST(Checkpoints, CostsOfPublishedModels) {
  YARD_NEEDS_TRACES();
  Profiles profiles;
  load_profiles(testing::traces_dir() / "pipedream-layers" / "vgg16.graph.txt.gz", profiles);
  Trace trace = asking_for({"VGG-16"});
  fill_checkpoint_costs(trace, profiles, {});
  // 138.4 M weights (Simonyan and Zisserman, ICLR 2015), 12 bytes each.
  EXPECT_NEAR(1e-6 * static_cast<double>(trace.jobs[0].save_us), 138.4e6 * 12 / (0.5 * 1073741824),
              0.05);
  EXPECT_EQ(trace.jobs[0].restore_us, trace.jobs[0].save_us + 20'000'000);
}

}  // namespace
}  // namespace yard
