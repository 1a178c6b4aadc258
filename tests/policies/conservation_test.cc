// GPU time is conserved under every registered policy. Work, work lost to failures, GPUs held while
// jobs save, wait and restore, free time and down time add up to the capacity, to the microsecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "env/sim/placement/fits.h"
#include "env/trace/core/window.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/gpu_time_ledger.h"
#include "tests/support/random_world.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

// A job's size while it runs: thousandths of GPUs, and whole GPUs.
struct Size {
  int64_t milli = 0, whole = 0;
};

Size size_of(const Job& job) {
  if (job.groups.empty()) return {kWholeGpu * int64_t{job.gpus}, job.gpus};
  Size size;
  for (const RoleGroup& g : job.groups) {
    size.whole += int64_t{g.count} * g.task.gpus;
    size.milli += int64_t{g.count} * (kWholeGpu * g.task.gpus + g.task.gpu_milli);
  }
  return size;
}

// Plays the whole workload. `exact`: every GPU has speed 1, so that work is time.
void expect_balanced(const Scene& scene, const std::string& policy, bool exact) {
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  GpuTimeLedger ledger(scene.fixed());
  const int64_t begin_us = runner.state().head->now_us;
  while (runner.step()) ledger.observe(runner.state());
  ASSERT_FALSE(runner.failed());
  const StateHeader& h = *runner.state().head;
  ASSERT_EQ(h.finished, scene.size());

  const GpuTimeMilliUs& spent = ledger.spent();
  EXPECT_EQ(spent.all(),
            kWholeGpu * int64_t{scene.fixed().spec.total_gpus} * (h.now_us - begin_us));
  EXPECT_EQ(spent.running + spent.starting + spent.unassigned, kWholeGpu * h.held_time_us);
  EXPECT_EQ(spent.down, kWholeGpu * h.down_time_us);
  int64_t ran = 0, lost_us = 0;  // thousandths x us; of whole GPUs
  for (int32_t j = 0; j < scene.size(); ++j) {
    const Job& job = scene.jobs()[static_cast<size_t>(j)];
    const GpuTimeLedger::Ended& ended = ledger.ended(j);
    const Size size = size_of(job);
    ran += size.milli * ended.attained_us;
    if (!exact) continue;
    const int64_t lost = ended.attained_us - job.run_us;  // run time without effect
    ASSERT_GE(lost, 0) << "job " << j;
    if (ended.failed == 0) {
      ASSERT_EQ(lost, 0) << "job " << j;
    }
    lost_us += size.whole * lost;
  }
  EXPECT_EQ(spent.running, ran);
  if (exact) {
    EXPECT_EQ(h.lost_time_us, lost_us);
  }
}

class ConservedTime : public ::testing::TestWithParam<std::string> {};

TEST_P(ConservedTime, AddsUpInRandomWorlds) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool exact = seed % 2 == 0;
    RandomWorld world =
        random_world(Rng(seed), {.jobs = 30, .rates = !exact, .tenants = seed % 3 == 0});
    for (Fault& fault : world.faults) {  // so that no job waits forever
      fault.until_us = std::min(fault.until_us, fault.at_us + 10'000 * kSecond);
    }
    if (GetParam() == "drf" || GetParam() == "optimus" || GetParam() == "afs") {
      // These policies resize elastic jobs, which tests/policies/sizes_test.cc covers.
      for (Job& job : world.jobs) {
        for (RoleGroup& g : job.groups) g.min_count = g.max_count = 0;
      }
    }
    if (exact) {
      for (GpuType& type : world.cluster.types) type.speed = 1, type.speed_of_model.clear();
    }
    expect_balanced(*scene_of(world), GetParam(), exact);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ConservedTime, AddsUpOnARealTrace) {
  YARD_NEEDS_TRACES();
  Trace trace = load_trace((traces_dir() / "philly-2017" / "philly.csv.gz").string(), {});
  select_window(trace, {.jobs_from = 0, .jobs_count = 150, .after = ArrivalsAfterWindow::kNothing});
  const ClusterSpec cluster = load_cluster("4x8");
  check_jobs_fit_cluster(trace, cluster, true);
  const Scene scene(cluster, trace.jobs);
  expect_balanced(scene, GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(Registered, ConservedTime, ::testing::ValuesIn(PolicyRegistry::names()),
                         test_name);

}  // namespace
}  // namespace yard::testing
