// The workload synthetic:rings: its jobs are as documented, mixes differ, and its cluster fits it.
#include "env/trace/generators/rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/cluster/spec.h"
#include "env/trace/formats/load_trace.h"

namespace yard {
namespace {

double mean_min(const std::vector<Job>& jobs) {
  double sum = 0;
  for (const Job& job : jobs) sum += 1e-6 * static_cast<double>(job.run_us);
  return sum / static_cast<double>(jobs.size()) / 60;
}

std::map<std::string, double> shares(const std::vector<Job>& jobs) {
  std::map<std::string, double> out;
  for (const Job& job : jobs) out[job.model] += 1.0 / static_cast<double>(jobs.size());
  return out;
}

// Mixes on which an agent was trained must not change.
TEST(SyntheticRings, IsFrozen) {
  std::string jobs;
  for (const int mix : {0, 1, 25}) {
    AllReduceJobsParams p;
    p.mix = mix;
    for (const Job& job : generate_all_reduce_jobs(p, {.seed = 2})) {
      jobs += job.id + "," + std::to_string(job.submit_us) + "," + std::to_string(job.run_us) +
              "," + std::to_string(job.gpus) + "," + job.user + "," + job.model + "\n";
    }
  }
  EXPECT_EQ(jobs.substr(0, jobs.find('\n')), "0,685000000,3148000000,4,user2,inception");
  EXPECT_EQ(sha256_hex(jobs), "5c46892a3061be2c759a36581362c6eca6a609f1b611403fd541d78d0c5ec014");
}

TEST(SyntheticRings, AreRingsOfOneToEightWorkers) {
  const Trace trace = load_trace("synthetic:rings", {.seed = 3});
  EXPECT_EQ(trace.jobs.size(), 200u);
  for (const Job& job : trace.jobs) {
    EXPECT_TRUE(job.groups.empty());
    EXPECT_GE(job.gpus, 1);
    EXPECT_LE(job.gpus, 8);
    EXPECT_EQ(job.pattern, Pattern::kRing);
    EXPECT_EQ(job.limit_us, job.run_us);
  }
  EXPECT_NE(trace.sha256, load_trace("synthetic:rings", {.seed = 4}).sha256);
}

TEST(SyntheticRings, MeanAndLoadMatchTheSettings) {
  AllReduceJobsParams p;
  p.load = 0.7;
  const std::vector<Job> jobs = generate_all_reduce_jobs(p, {.seed = 9, .jobs = 20'000});
  // Five standard errors: the log-normal's deviation is 1.3 times its mean.
  EXPECT_NEAR(mean_min(jobs), 40, 5 * 1.31 * 40 / std::sqrt(20'000));
  double gpu_us = 0;
  for (const Job& job : jobs) gpu_us += static_cast<double>(job.run_us) * job.gpus;
  EXPECT_NEAR(gpu_us / (32 * static_cast<double>(jobs.back().submit_us)), 0.7, 0.01);
  const auto of = shares(jobs);
  EXPECT_EQ(of.size(), 12u);
  for (const auto& [model, share] : of) EXPECT_NEAR(share, 1.0 / 12, 0.011) << model;
}

TEST(SyntheticRings, MixesDifferButDoNotDependOnTheSeed) {
  std::set<int> tenths;
  for (int mix = 1; mix <= 20; ++mix) {
    AllReduceJobsParams p;
    p.mix = mix;
    const std::vector<Job> a = generate_all_reduce_jobs(p, {.seed = 1, .jobs = 4'000});
    const std::vector<Job> b = generate_all_reduce_jobs(p, {.seed = 2, .jobs = 4'000});
    EXPECT_GT(mean_min(a), 19);
    EXPECT_LT(mean_min(a), 84);
    EXPECT_NEAR(mean_min(a), mean_min(b), 0.25 * mean_min(a));
    double apart = 0;
    const auto of_a = shares(a);
    for (const auto& [model, share] : of_a) apart = std::max(apart, std::abs(share - 1.0 / 12));
    EXPECT_GT(apart, 0.05) << "some model is more frequent than without a mix";
    for (const auto& [model, share] : shares(b)) {
      const auto known = of_a.find(model);
      EXPECT_NEAR(share, known == of_a.end() ? 0 : known->second, 0.05) << model;
    }
    tenths.insert(static_cast<int>(mean_min(a) / 10));
  }
  EXPECT_GT(tenths.size(), 3u) << "of ten minutes";
}

TEST(SyntheticRings, ShiftsAreConfigurable) {
  const GenerateOptions options{.seed = 5, .jobs = 4'000};
  AllReduceJobsParams p;
  p.other_models = 0.5;
  double other = 0;
  for (const auto& [model, share] : shares(generate_all_reduce_jobs(p, options))) {
    if (std::set<std::string>{"detect", "graph", "segment", "vit"}.contains(model)) other += share;
  }
  EXPECT_NEAR(other, 0.5, 0.04);
  const auto mean_gpus = [&](double larger) {
    AllReduceJobsParams sizes;
    sizes.larger = larger;
    double sum = 0;
    for (const Job& job : generate_all_reduce_jobs(sizes, options)) sum += job.gpus;
    return sum / options.jobs;
  };
  EXPECT_GT(mean_gpus(1), 1.3 * mean_gpus(0));
  EXPECT_LT(mean_gpus(-1), 0.8 * mean_gpus(0));
  AllReduceJobsParams noisy;
  noisy.limit_sd = 0.5;
  double sum = 0, squares = 0;
  for (const Job& job : generate_all_reduce_jobs(noisy, options)) {
    const double off =
        std::log(static_cast<double>(job.limit_us) / static_cast<double>(job.run_us));
    sum += off, squares += off * off;
  }
  EXPECT_NEAR(sum / options.jobs, 0, 0.04);
  EXPECT_NEAR(std::sqrt(squares / options.jobs), 0.5, 0.04);
}

TEST(SyntheticRings, RefusesAClusterTooSmallForTheLargestJob) {
  EXPECT_THROW(generate_all_reduce_jobs({}, {.cluster_gpus = 7}), InputError);
}

TEST(SyntheticRings, ClusterHasEveryModel) {
  const ClusterSpec cluster = load_cluster("rings-8");
  EXPECT_TRUE(cluster.choose_exchange);
  EXPECT_EQ(cluster.total_gpus(), 32);
  AllReduceJobsParams p;
  p.other_models = 0.5;
  for (const Job& job : generate_all_reduce_jobs(p, {.jobs = 1'000})) {
    const auto model = cluster.models.find(job.model);
    ASSERT_NE(model, cluster.models.end()) << job.model;
    EXPECT_GT(model->second.gradient_mib, 0);
  }
}

}  // namespace
}  // namespace yard
