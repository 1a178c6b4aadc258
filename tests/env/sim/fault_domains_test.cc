// Random faults by domain: which nodes fail joint_faults, how often, and with what notice.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "env/sim/rules/faults.h"

namespace yard {
namespace {

constexpr int64_t kHourUs = 3'600'000'000;

// Eight nodes of 2 GPUs, racks of two, pods of two racks, numbered with gaps.
ClusterSpec pods() {
  ClusterSpec spec = load_cluster("8x2");
  for (size_t m = 0; m < spec.nodes.size(); ++m) {
    spec.nodes[m].rack = static_cast<int32_t>(10 * (m / 2));
    spec.nodes[m].pod = static_cast<int32_t>(7 * (m / 4));
  }
  return spec;
}

// Returns the sets of nodes which go down joint_faults, with their frequency.
std::map<std::set<int32_t>, int> joint_faults(const std::vector<Fault>& faults) {
  std::map<std::pair<int64_t, int64_t>, std::set<int32_t>> at;
  for (const Fault& fault : faults) {
    EXPECT_EQ(fault.kind, FaultKind::kFail);
    EXPECT_EQ(fault.mask, 0b11u);
    at[{fault.at_us, fault.until_us}].insert(fault.node);
  }
  std::map<std::set<int32_t>, int> out;
  for (const auto& [when, nodes] : at) ++out[nodes];
  return out;
}

TEST(DrawnFaults, RackAndPodFaultsIncludeAllTheirNodes) {
  const auto racks = joint_faults(
      draw_faults(pods(), {.rack_mtbf_h = 99, .rack_repair_h = 1}, 0, 100'000 * kHourUs, Rng(3)));
  ASSERT_EQ(racks.size(), 4u);
  for (const auto& [nodes, times] : racks) {
    EXPECT_EQ(nodes.size(), 2u);
    EXPECT_EQ(*nodes.begin() / 2, *nodes.rbegin() / 2);
    EXPECT_NEAR(times, 1000, 150) << "100 h between faults, 1,000 faults, five standard deviations";
  }
  const auto pod = joint_faults(
      draw_faults(pods(), {.pod_mtbf_h = 99, .pod_repair_h = 1}, 0, 100'000 * kHourUs, Rng(3)));
  ASSERT_EQ(pod.size(), 2u);
  EXPECT_EQ(pod.begin()->first, (std::set<int32_t>{0, 1, 2, 3}));
  EXPECT_NEAR(pod.begin()->second, 1000, 150);
}

TEST(DrawnFaults, SpotNodesAreReclaimedByZone) {
  ClusterSpec spec = load_cluster("6x2");
  for (const size_t m : {1, 2, 3, 4}) spec.nodes[m].spot = true;
  for (const size_t m : {0, 1, 2}) spec.nodes[m].zone = 1;
  std::map<int64_t, std::set<int32_t>> at;
  for (const Fault& fault : draw_faults(spec, {.reclaim_mtbf_h = 10}, 0, 1000 * kHourUs, Rng(1))) {
    EXPECT_EQ(fault.kind, FaultKind::kReclaim);
    at[fault.at_us].insert(fault.node);
  }
  std::map<std::set<int32_t>, int> sets;
  for (const auto& [when, nodes] : at) ++sets[nodes];
  ASSERT_EQ(sets.size(), 3u);
  for (const auto& nodes : std::vector<std::set<int32_t>>{{1, 2}, {3}, {4}}) {
    EXPECT_NEAR(sets[nodes], 83, 45) << "12 h between faults, five standard deviations";
  }
}

TEST(DrawnFaults, MayOccurMoreThanOnceAnHour) {
  const std::vector<Fault> faults = draw_faults(
      load_cluster("1x1"), {.gpu_mtbf_h = 0.3, .gpu_repair_h = 0.2}, 0, 1000 * kHourUs, Rng(2));
  EXPECT_NEAR(static_cast<double>(faults.size()), 2000, 150) << "half an hour between faults";
}

TEST(DrawnFaults, ZoneFaultsIncludeAllTheirNodes) {
  ClusterSpec spec = load_cluster("4x2");
  for (const size_t m : {0, 3}) spec.nodes[m].zone = 2;
  const auto zones = joint_faults(
      draw_faults(spec, {.zone_mtbf_h = 99, .zone_repair_h = 1}, 0, 100'000 * kHourUs, Rng(3)));
  ASSERT_EQ(zones.size(), 1u) << "nodes of zone 0 belong to no zone";
  EXPECT_EQ(zones.begin()->first, (std::set<int32_t>{0, 3}));
  EXPECT_NEAR(zones.begin()->second, 1000, 150);
}

TEST(DrawnFaults, ReclaimsGiveNotice) {
  const std::vector<Fault> faults = draw_faults(
      pods(), {.reclaim_mtbf_h = 10, .reclaim_notice_s = 30}, 0, 1000 * kHourUs, Rng(1));
  ASSERT_FALSE(faults.empty());
  for (const Fault& fault : faults) {
    EXPECT_EQ(fault.kind, FaultKind::kReclaim);
    EXPECT_EQ(fault.notice_us, 30'000'000);
  }
}

}  // namespace
}  // namespace yard
