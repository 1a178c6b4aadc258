// The embedded workload in which placement and GPU type matter: frozen, and as documented.
#include "env/trace/generators/mixed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/cluster/spec.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

// Agents are trained and compared on it, so its jobs must not change. Run times come from exp() and
// log() and are rounded to seconds. Only a C library which differs by a second would show.
TEST(Mixed, IsFrozen) {
  std::string jobs;
  for (const uint64_t seed : {1, 2}) {
    for (const Job& job : generate_mixed_jobs({}, {.seed = seed})) {
      jobs += job.id + "," + std::to_string(job.submit_us) + "," + std::to_string(job.run_us) +
              "," + std::to_string(job.gpus) + "," + job.user + "," + job.model + "\n";
    }
  }
  EXPECT_EQ(jobs.substr(0, jobs.find('\n')), "0,184000000,394000000,1,class3,reinforce");
  EXPECT_EQ(sha256_hex(jobs), "7564b9447e909ccd1a0b58a45e8968fa5b81f1ab7c6d65d296af80f91aa82990");
  EXPECT_EQ(hash_of_parameters(MixedJobsParams{}),
            "ae1ec0ee498d5a2c3141aefbaf0e7d9e13f2501e44607d611ed5b0d4f018b78e");
}

TEST(Mixed, SameSeedSameJobs) {
  const Trace a = load_trace("synthetic:mixed", {.seed = 7});
  const Trace b = load_trace("synthetic:mixed", {.seed = 7});
  const Trace c = load_trace("synthetic:mixed", {.seed = 8});
  EXPECT_EQ(a.jobs.size(), 256u);
  EXPECT_EQ(a.sha256, b.sha256);
  EXPECT_NE(a.sha256, c.sha256);
}

TEST(Mixed, SharesAndClassesMatchTheSettings) {
  const MixedJobsParams p;
  const std::vector<Job> jobs = generate_mixed_jobs(p, {.seed = 2, .jobs = 20000});
  std::map<int, double> share;
  std::map<std::string, std::map<int, int>> sizes;
  std::map<std::string, std::map<std::string, int>> models;
  std::map<std::string, std::vector<double>> logs;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const Job& job = jobs[j];
    ASSERT_GE(job.submit_us, j == 0 ? 0 : jobs[j - 1].submit_us);
    share[job.gpus] += 1.0 / static_cast<double>(jobs.size());
    ++sizes[job.user][job.gpus];
    ++models[job.user][job.model];
    logs[job.user].push_back(std::log(1e-6 * static_cast<double>(job.run_us)));
  }
  // Four standard errors of a share are at most 0.014.
  EXPECT_NEAR(share[1], 0.40, 0.014);
  EXPECT_NEAR(share[2], 0.15, 0.014);
  EXPECT_NEAR(share[4], 0.20, 0.014);
  EXPECT_NEAR(share[8], 0.17, 0.014);
  EXPECT_NEAR(share[16], 0.08, 0.014);
  ASSERT_EQ(sizes.size(), 24u);
  const auto median = [&](const std::string& user) {
    std::vector<double>& of = logs[user];
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return std::exp(of[of.size() / 2]);
  };
  EXPECT_NEAR(median("class1"), 300, 15);       // deviation 0.3
  EXPECT_NEAR(median("class24"), 21550, 2500);  // deviation 1.1
  for (const auto& [user, of_user] : models) {
    EXPECT_EQ(of_user.size(), 2u) << user;
  }
  EXPECT_GT(sizes["class13"][16], sizes["class13"][8]);
  EXPECT_GT(sizes["class4"][8], sizes["class4"][4]);
}

TEST(Mixed, LoadMatchesTheSetting) {
  for (const double load : {0.3, 0.6, 1.2}) {
    MixedJobsParams p;
    p.load = load;
    const std::vector<Job> jobs = generate_mixed_jobs(p, {.seed = 3});
    double work = 0;
    for (const Job& job : jobs) work += static_cast<double>(job.run_us) * job.gpus;
    // The last of 256 jobs arrives a little before the end of the span.
    EXPECT_NEAR(work / (72 * static_cast<double>(jobs.back().submit_us)), load, 0.03 * load);
  }
}

// A model without measurements would be neutral: neither placement nor type would matter to it.
TEST(Mixed, ClusterHasSpeedsOfAllModels) {
  const ClusterSpec cluster = load_cluster("mixed-9");
  EXPECT_EQ(cluster.total_gpus(), MixedJobsParams{}.cluster_gpus);
  std::set<std::string> named, known;
  for (const Job& job : generate_mixed_jobs({}, {.seed = 1, .jobs = 2000})) named.insert(job.model);
  for (const auto& [name, model] : cluster.models) known.insert(name);
  EXPECT_EQ(named, known);
}

std::string mixed_error(const std::vector<std::string>& settings, LoadOptions options = {}) {
  for (const std::string& s : settings) options.settings.overlay(s);
  try {
    load_trace("synthetic:mixed", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Mixed, SettingsAreReadAndChecked) {
  EXPECT_EQ(mixed_error({"load=0.5", "jobs=10"}), "no error");
  EXPECT_THAT(mixed_error({"loda=0.5"}), HasSubstr("loda"));
  EXPECT_THAT(mixed_error({"shortest_s=10", "longest_s=5"}), HasSubstr("got 10"));
  EXPECT_THAT(mixed_error({"share_1=0", "share_2=0"}, {.cluster_gpus = 3}), HasSubstr("share_1"));
  EXPECT_THAT(mixed_error({}, {.jobs = -1}), HasSubstr("-1 jobs"));
}

}  // namespace
}  // namespace yard
