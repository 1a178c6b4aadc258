// The workload synthetic:servers: its jobs are as documented, and its cluster and speeds fit it.
#include "env/trace/generators/servers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/core/error.h"
#include "env/cluster/spec.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

TEST(SyntheticServers, HasWorkersAndServers) {
  const Trace trace = load_trace("synthetic:servers", {.seed = 3});
  EXPECT_EQ(trace.jobs.size(), 30u);
  for (const Job& job : trace.jobs) {
    ASSERT_EQ(job.groups.size(), 2u);
    EXPECT_EQ(job.groups[0].role, "ps");
    EXPECT_EQ(job.groups[0].task.gpus, 0);
    EXPECT_EQ(job.groups[1].task.gpus, 1);
    for (const RoleGroup& g : job.groups) {
      EXPECT_EQ(g.count, 2);
      EXPECT_EQ(g.min_count, 1);
      EXPECT_EQ(g.max_count, 16);
      EXPECT_EQ(g.task.cpu_milli, 2000);
    }
    EXPECT_EQ(job.pattern, Pattern::kParameterServer);
    EXPECT_EQ(job.gpus, 2);
    EXPECT_EQ(job.limit_us, job.run_us);
  }
}

TEST(SyntheticServers, MeanAndLoadMatchTheSettings) {
  ParameterServerJobsParams p;
  p.load = 0.7;
  const std::vector<Job> jobs = generate_parameter_server_jobs(p, {.seed = 9, .jobs = 20'000});
  double run_s = 0;
  std::map<std::string, int> models;
  for (const Job& job : jobs) {
    run_s += 1e-6 * static_cast<double>(job.run_us);
    ++models[job.model];
  }
  const double n = static_cast<double>(jobs.size());
  // Five standard errors: the log-normal's deviation is 1.3 times its mean.
  EXPECT_NEAR(run_s / n, 147 * 60, 5 * 1.31 * 147 * 60 / std::sqrt(n));
  EXPECT_NEAR(2 * run_s / (26 * 1e-6 * static_cast<double>(jobs.back().submit_us)), 0.7, 0.01);
  EXPECT_EQ(models.size(), 8u);
  for (const auto& [model, count] : models)
    EXPECT_NEAR(count, n / 8, 5 * std::sqrt(n / 8)) << model;
}

TEST(SyntheticServers, FixedSizesAreNotElastic) {
  ParameterServerJobsParams p;
  p.most = 0;
  for (const Job& job : generate_parameter_server_jobs(p, {})) {
    for (const RoleGroup& g : job.groups) EXPECT_EQ(g.min_count + g.max_count, 0);
  }
}

TEST(SyntheticServers, DrawsSizesUpToTheMaximum) {
  ParameterServerJobsParams p;
  p.drawn = true;
  p.workers = 3;
  std::map<int, int> sizes;
  for (const Job& job : generate_parameter_server_jobs(p, {.jobs = 900})) {
    EXPECT_EQ(job.groups[0].count, job.groups[1].count);
    ++sizes[job.gpus];
  }
  ASSERT_EQ(sizes.size(), 3u);
  for (const auto& [gpus, jobs] : sizes) EXPECT_NEAR(jobs, 300, 5 * 15) << gpus;
}

TEST(SyntheticServers, RefusesAClusterTooSmallForOneJob) {
  EXPECT_THROW(generate_parameter_server_jobs({}, {.cluster_gpus = 1}), InputError);
}

TEST(SyntheticServers, EveryModelHasSpeeds) {
  const Profiles profiles = load_profiles("experiments/speeds/servers.csv");
  const ClusterSpec cluster = load_cluster("servers-13");
  ParameterServerJobsParams p;
  p.jobs = 500;
  for (const Job& job : generate_parameter_server_jobs(p, {})) {
    const auto is = [&](const auto& profile) { return profile.model == job.model; };
    const auto profile = std::ranges::find_if(profiles.models, is);
    ASSERT_NE(profile, profiles.models.end()) << job.model;
    EXPECT_EQ(profile->parameter_server_runs.size(), 25u);
  }
  EXPECT_EQ(cluster.nodes.size(), 13u);
}

}  // namespace
}  // namespace yard
