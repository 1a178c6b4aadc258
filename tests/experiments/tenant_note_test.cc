// Tenants which the cluster lacks are listed in a notice: no quota applies to their jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "env/trace/core/notices.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/scenario/scenario.h"
#include "experiments/scenario/tenants.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

ClusterSpec cluster_of(std::initializer_list<const char*> tenants) {
  ClusterSpec out;
  for (const char* name : tenants) out.tenants.push_back({.name = name});
  return out;
}

Trace trace_of(std::initializer_list<const char*> tenants) {
  Trace out;
  for (const char* name : tenants) out.jobs.emplace_back().tenant = name;
  return out;
}

TEST(TenantNote, NamesTenantsThatTheClusterLacks) {
  const ClusterSpec cluster = cluster_of({"physics", "biology"});
  EXPECT_EQ(unknown_tenants_note(trace_of({"physics", "Biology", "phys", "phys"}), cluster),
            "3 jobs have tenants that the cluster does not define: 'Biology', 'phys'. No tenant "
            "quota or limit applies to them. The cluster defines 'biology', 'physics'");
  EXPECT_EQ(unknown_tenants_note(trace_of({"x"}), cluster),
            "1 job has a tenant that the cluster does not define: 'x'. No tenant quota or limit "
            "applies to it. The cluster defines 'biology', 'physics'");
  EXPECT_THAT(unknown_tenants_note(trace_of({"1", "2", "3", "4", "5", "6", "7"}), cluster),
              HasSubstr("'5' and 2 more. "));
}

TEST(TenantNote, IsEmptyIfAllTenantsAreKnown) {
  EXPECT_EQ(unknown_tenants_note(trace_of({"x"}), cluster_of({})), "") << "no tenants at all";
  EXPECT_EQ(unknown_tenants_note(trace_of({"", "a"}), cluster_of({"a"})), "");
}

TEST(TenantNote, IsANoticeOfTheTrace) {
  const testing::TempFile cluster("cluster.yaml",
                                  "nodes: [{count: 2, gpus: 4}]\ntenants: [{name: physics}]\n");
  const testing::TempFile jobs(
      "jobs.csv", "job_id,submit_s,run_s,gpus,tenant\na,0,10,1,phys\nb,1,10,1,physics\n");
  ScenarioOptions options;
  options.trace = jobs.path();
  options.cluster = cluster.path();
  const Scenario scenario = load_scenario(options);
  ASSERT_EQ(scenario.trace.notices.size(), 1u);
  EXPECT_THAT(format_notice(scenario.trace.notices[0]),
              HasSubstr("jobs.csv: 1 job has a tenant that the cluster does not define: 'phys'"));
}

}  // namespace
}  // namespace yard
