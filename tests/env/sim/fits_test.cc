// Jobs which can run nowhere under their tenant's rules are rejected before the simulation.
#include "env/sim/placement/fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "env/cluster/spec.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

// Two nodes of 8 GPUs, one each; b lends if `b_lends`, a does not. c owns nothing and may hold 3.
ClusterSpec fenced(bool b_lends) {
  ClusterSpec spec = load_cluster("2x8");
  spec.tenants = {{.name = "a", .quota_gpus = 8, .may_borrow = false, .may_lend = false},
                  {.name = "b", .quota_gpus = 8, .may_lend = b_lends},
                  {.name = "c", .limit_gpus = 3}};
  spec.nodes[0].tenant = 0;
  spec.nodes[1].tenant = 1;
  return spec;
}

Trace of(const std::string& tenant, int32_t gpus) {
  Trace trace;
  trace.source = "jobs.csv";
  trace.jobs.resize(1);
  trace.jobs[0].id = "x";
  trace.jobs[0].tenant = tenant;
  trace.jobs[0].gpus = gpus;
  return trace;
}

std::string error_of(const std::string& tenant, int32_t gpus, bool b_lends = true) {
  Trace trace = of(tenant, gpus);
  try {
    check_jobs_fit_cluster(trace, fenced(b_lends), false);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Fits, TenantMayUseItsOwnAndLentNodes) {
  EXPECT_EQ(error_of("b", 8), "");
  EXPECT_EQ(error_of("", 8), "") << "on the node that b lends";
  EXPECT_THAT(error_of("", 9), HasSubstr("at most 8 GPUs, the limit of jobs without a tenant"));
  EXPECT_THAT(error_of("b", 9), HasSubstr("at most 8 GPUs, the limit of 'b', got 9 for job 'x'"));
  EXPECT_THAT(error_of("", 1, false), HasSubstr("a tenant with nodes of its own, since no node is "
                                                "lent (tenants: a, b, c), got none for job 'x'"));
  EXPECT_THAT(error_of("d", 1, false), HasSubstr("got 'd' for job 'x'"));
}

TEST(Fits, CpuJobsAreNamedOrSkipped) {
  Trace trace = of("", 0);
  trace.jobs.push_back(of("", 2).jobs[0]);
  Trace kept = trace;
  try {
    check_jobs_request_gpus(trace, false);
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at least 1 GPU"));
    EXPECT_THAT(error.what(), HasSubstr("'x'"));
  }
  check_jobs_request_gpus(kept, true);
  ASSERT_EQ(kept.jobs.size(), 1u);
  EXPECT_EQ(kept.jobs[0].gpus, 2);
  ASSERT_EQ(kept.skipped.size(), 1u);
  EXPECT_EQ(kept.skipped[0].reason, "no GPUs");
  EXPECT_EQ(kept.skipped[0].count, 1);
}

TEST(Fits, TenantLimitApplies) {
  EXPECT_EQ(error_of("a", 8), "");
  EXPECT_THAT(error_of("a", 9), HasSubstr("at most 8 GPUs, the limit of 'a'"))
      << "it may not borrow";
  EXPECT_EQ(error_of("c", 3), "");
  EXPECT_THAT(error_of("c", 4), HasSubstr("at most 3 GPUs, the limit of 'c'"));
  Trace shaped = of("c", 4);
  shaped.jobs[0].groups = {RoleGroup{}};
  shaped.jobs[0].groups[0].task.gpus = 4;
  EXPECT_THROW(check_jobs_fit_cluster(shaped, fenced(true), false), InputError);
}

}  // namespace
}  // namespace yard
