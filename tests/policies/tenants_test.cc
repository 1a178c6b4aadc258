// Policies about tenants and users: fair-share (weights, quotas, priority, preemption), drf
// (weights, users, dominant resource) and qssf (one queue per tenant).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

ClusterSpec shared(const std::string& nodes, const std::vector<Tenant>& tenants) {
  ClusterSpec spec = load_cluster(nodes);
  spec.tenants = tenants;
  for (Tenant& tenant : spec.tenants) {
    if (tenant.limit_gpus == 0) tenant.limit_gpus = spec.total_gpus();
  }
  return spec;
}

struct TenantLine {
  double submit_s;
  std::string tenant, user;
  int count;  // jobs of one GPU
  double run_s = 1000;
};

std::vector<Job> tenant_jobs(const std::vector<TenantLine>& lines) {
  std::vector<Job> jobs;
  for (const TenantLine& line : lines) {
    for (int i = 0; i < line.count; ++i) {
      Job job = testing::jobs_of({{line.submit_s, 1, line.run_s}})[0];
      job.id = "j" + std::to_string(jobs.size());
      job.tenant = line.tenant;
      job.user = line.user;
      jobs.push_back(job);
    }
  }
  return jobs;
}

// GPUs that the jobs of each user hold after all events up to `at_s`.
std::map<std::string, int> held_at(const Scene& scene, const std::string& policy, double at_s) {
  const auto made = make_policy(policy);
  SceneRunner runner(scene, *made);
  std::map<std::string, int> out;
  const auto until_us = static_cast<int64_t>(at_s * 1e6);
  while (runner.step()) {
    if (runner.view().now_us() > until_us) break;
    out.clear();
    for (int32_t i = 0; i < runner.view().num_holders(); ++i) {
      const int32_t slot = runner.view().holder_slot(i);
      const Job& job = scene.jobs()[static_cast<size_t>(runner.view().serial(slot))];
      out[job.tenant + job.user] += runner.view().gpus(slot);
    }
  }
  EXPECT_FALSE(runner.failed());
  return out;
}

using Held = std::map<std::string, int>;

TEST(Tenants, WeightsOfThreeToOneGiveThreeToOne) {
  const std::vector<Tenant> tenants = {{.name = "a", .weight = 3}, {.name = "b", .weight = 1}};
  for (const std::string policy : {"fair-share", "fair-share share=tenant",
                                   "fair-share preempt=false", "drf", "drf share=tenant"}) {
    SCOPED_TRACE(policy);
    const auto jobs = tenant_jobs({{0, "b", "", 9}, {0, "a", "", 9}});
    EXPECT_EQ(held_at(Scene(shared("1x4", tenants), jobs, no_costs()), policy, 0),
              (Held{{"a", 3}, {"b", 1}}));
    EXPECT_EQ(held_at(Scene(shared("2x4", tenants), jobs, no_costs()), policy, 0),
              (Held{{"a", 6}, {"b", 2}}));
    const auto named = tenant_jobs({{0, "b", "x", 9}, {0, "a", "y", 9}});
    EXPECT_EQ(held_at(Scene(shared("2x4", tenants), named, no_costs()), policy, 0),
              (Held{{"ay", 6}, {"bx", 2}}));
  }
}

// Holds in the long run, for either order of arrival: 3 jobs of a end for each of b.
TEST(Tenants, SharesConvergeToTheWeights) {
  const std::vector<Tenant> tenants = {{.name = "a", .weight = 3}, {.name = "b", .weight = 1}};
  for (const std::string policy : {"fair-share", "drf"}) {
    const auto jobs = tenant_jobs({{0, "b", "", 40, 100}, {10, "a", "", 40, 100}});
    EXPECT_EQ(held_at(Scene(shared("1x4", tenants), jobs, no_costs()), policy, 250),
              (Held{{"a", 3}, {"b", 1}}))
        << policy;
  }
}

TEST(Tenants, UsersOfATenantShareEqually) {
  const std::vector<Tenant> tenants = {{.name = "a", .weight = 3}, {.name = "b", .weight = 1}};
  for (const std::string policy : {"fair-share", "drf"}) {
    const auto jobs = tenant_jobs({{0, "a", "x", 9}, {0, "a", "y", 9}, {0, "b", "z", 9}});
    EXPECT_EQ(held_at(Scene(shared("2x4", tenants), jobs, no_costs()), policy, 0),
              (Held{{"ax", 3}, {"ay", 3}, {"bz", 2}}))
        << policy;
  }
}

// a has two of eight guaranteed; the other six are shared by weight.
TEST(FairShare, QuotasComeBeforeWeights) {
  const auto jobs = tenant_jobs({{0, "b", "", 9}, {0, "a", "", 9}});
  const Scene scene(shared("2x4", {{.name = "a", .quota_gpus = 2}, {.name = "b", .weight = 5}}),
                    jobs, no_costs());
  EXPECT_EQ(held_at(scene, "fair-share", 0), (Held{{"a", 3}, {"b", 5}}));
  EXPECT_EQ(held_at(scene, "fair-share share=user", 0), (Held{{"b", 8}}));
}

TEST(FairShare, BorrowersWithHigherPriorityGoFirst) {
  const auto jobs = tenant_jobs({{0, "b", "", 9}, {0, "a", "", 9}});
  const Scene scene(
      shared("1x4", {{.name = "a", .priority = 1}, {.name = "b", .quota_gpus = 1, .weight = 9}}),
      jobs, no_costs());
  EXPECT_EQ(held_at(scene, "fair-share", 0), (Held{{"a", 3}, {"b", 1}}));
}

// b holds four GPUs, two of them borrowed, when a asks for its guaranteed two.
TEST(FairShare, PreemptsOnlyPermittedTenantsAndOnlyForTheQuota) {
  struct Case {
    Preempts may;
    int32_t priority;
    int gets;
  };
  for (const Case& c : std::vector<Case>{{Preempts::kNoJobs, 1, 0},
                                         {Preempts::kBorrowers, 0, 2},
                                         {Preempts::kLower, 0, 0},
                                         {Preempts::kLower, 1, 2},
                                         {Preempts::kAnyJob, 0, 2}}) {
    SCOPED_TRACE(std::string(kPreemptsNames[static_cast<size_t>(c.may)]) + " " +
                 std::to_string(c.priority));
    const Scene scene(
        shared("1x4", {{.name = "a", .quota_gpus = 2, .priority = c.priority, .may_preempt = c.may},
                       {.name = "b", .quota_gpus = 2}}),
        tenant_jobs({{0, "b", "", 4}, {10, "a", "", 4}}), no_costs());
    Held expected = {{"b", 4 - c.gets}};
    if (c.gets > 0) expected["a"] = c.gets;
    EXPECT_EQ(held_at(scene, "fair-share hold_s=0", 20), expected);
  }
}

// Equal requests are distinguished if one tenant may preempt and another may not.
TEST(FairShare, TenantThatMayPreemptGoesFirst) {
  const Scene scene(
      shared("1x4", {{.name = "a", .quota_gpus = 1, .priority = 1},
                     {.name = "b", .quota_gpus = 2},
                     {.name = "c", .quota_gpus = 1, .may_preempt = Preempts::kBorrowers}}),
      tenant_jobs({{0, "b", "", 4}, {10, "a", "", 1}, {10, "c", "", 1}}), no_costs());
  EXPECT_EQ(held_at(scene, "fair-share hold_s=0", 20), (Held{{"b", 3}, {"c", 1}}));
}

TEST(Drf, RigidJobsGoToTheUserWithTheLeastShare) {
  const Scene scene("1x4", tenant_jobs({{0, "", "x", 4}, {0, "", "y", 4}}), no_costs());
  EXPECT_EQ(held_at(scene, "greedy", 0), (Held{{"x", 4}}));
  EXPECT_EQ(held_at(scene, "drf", 0), (Held{{"x", 2}, {"y", 2}}));
}

// The example of the paper: 9 CPUs and 18 GB; tasks of x use 1 CPU and 4 GB, those of y 3 and 1.
TEST(Drf, MatchesTheExampleOfThePaper) {
  ClusterSpec spec = load_cluster("1x8");
  spec.nodes[0].cpus = 9;
  spec.nodes[0].mem_gib = 18;
  std::vector<Job> jobs = tenant_jobs({{0, "", "y", 9}, {0, "", "x", 9}});
  for (Job& job : jobs) {
    RoleGroup group;
    group.count = group.min_count = group.max_count = 1;
    group.task.gpus = 1;
    group.task.cpu_milli = job.user == "x" ? 1000 : 3000;
    group.task.mem_mib = (job.user == "x" ? 4 : 1) * 1024;
    job.groups = {group};
  }
  EXPECT_EQ(held_at(Scene(spec, jobs, no_costs()), "drf", 0), (Held{{"x", 3}, {"y", 2}}));
}

// The first job of a asks for four GPUs, does not fit with b's job, and blocks all of a. Jobs of c
// start.
TEST(Qssf, JobThatDoesNotFitBlocksOnlyItsTenant) {
  std::vector<Job> jobs =
      tenant_jobs({{0, "b", "", 1}, {10, "a", "", 1}, {11, "a", "", 2}, {12, "c", "", 2}});
  jobs[1].gpus = 4;
  jobs[0].name = "other", jobs[1].name = "soon";
  const std::vector<Tenant> tenants = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  // A job's name predicts its run time: one job before all others makes "soon" the shortest.
  Job once = jobs[0];
  once.id = "once", once.gpus = 2, once.name = "soon", once.run_us = 1 * kSecond,
  once.submit_us = 0;
  jobs.insert(jobs.begin(), once);
  const Scene scene(shared("1x4", tenants), jobs, no_costs());
  EXPECT_EQ(held_at(scene, "qssf", 20), (Held{{"b", 1}, {"c", 2}}));
  EXPECT_EQ(held_at(scene, "qssf per_tenant=false", 20), (Held{{"b", 1}}));
  EXPECT_EQ(held_at(scene, "qssf strict=false", 20), (Held{{"a", 2}, {"b", 1}, {"c", 1}}));
}

// At 100, a job of one GPU goes before those of two, however long these have waited relative to
// their limit. Among jobs of one GPU, the one with the longest relative wait goes first.
TEST(Unicef, JobsOfOneGpuGoFirst) {
  std::vector<Job> jobs =
      testing::jobs_of({{0, 2, 100}, {1, 2, 10}, {2, 1, 50}, {3, 1, 50}, {4, 1, 50}});
  const int64_t limits_s[] = {100, 10, 1000, 100, 60};
  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].limit_us = limits_s[j] * kSecond;
  const Scene scene("1x2", jobs, no_costs());
  const auto policy = make_policy("unicef");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[4].start_us, 100 * kSecond);
  EXPECT_EQ(runner.jobs()[3].start_us, 100 * kSecond);
  EXPECT_EQ(runner.jobs()[2].start_us, 150 * kSecond);
  EXPECT_EQ(runner.jobs()[1].start_us, 200 * kSecond);
}

}  // namespace
}  // namespace yard::testing
