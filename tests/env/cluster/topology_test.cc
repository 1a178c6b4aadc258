// Tiers of nodes and GPUs, and the bandwidth of links, against values computed by hand.
#include "env/cluster/topology.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/temp_file.h"

namespace yard {
namespace {

using testing::TempFile;

Tier tier(const TopologyColumns& t, const std::vector<int32_t>& nodes) {
  return tier_of_nodes(t, nodes.data(), static_cast<int32_t>(nodes.size()));
}

double slowest(const TopologyColumns& t, Tier tier, const std::vector<int32_t>& nodes) {
  return slowest_gbps(t, tier, nodes.data(), static_cast<int32_t>(nodes.size()));
}

// 2 pods of 2 racks of 2 nodes, and a rack in a separate pod with a slow node and a CPU node.
const char* const kYaml = R"(
tiers:
  island: {bandwidth_gbps: 2400, latency_us: 10}
  node: {bandwidth_gbps: 250, latency_us: 12}
  rack: {bandwidth_gbps: 400, latency_us: 20}
  pod: {oversubscription: 2, latency_us: 25}
  core: {bandwidth_gbps: 100, oversubscription: 4}
nodes:
  - {count: 8, gpus: 8, island_gpus: 4, nodes_per_rack: 2, racks_per_pod: 2}
  - {gpus: 3, island_gpus: 2, island_gbps: 33, island_latency_us: 9, nics: 2, nic_gbps: 25, rack: 9,
     pod: 9}
  - {gpus: 0, rack: 9, pod: 9}
)";

TEST(Topology, FindsTheTierOfNodes) {
  const TempFile file("own.yaml", kYaml);
  const Topology topology(load_cluster(file.path()));
  const TopologyColumns& t = topology.columns();
  EXPECT_EQ(t.num_nodes, 10);
  EXPECT_EQ(t.num_racks, 5);
  EXPECT_EQ(t.num_pods, 3);
  EXPECT_EQ(tier(t, {3}), Tier::kNode);
  EXPECT_EQ(tier(t, {3, 3}), Tier::kNode);
  EXPECT_EQ(tier(t, {0, 1}), Tier::kRack);
  EXPECT_EQ(tier(t, {1, 2}), Tier::kPod);
  EXPECT_EQ(tier(t, {0, 1, 3}), Tier::kPod);
  EXPECT_EQ(tier(t, {0, 3, 1}), Tier::kPod);
  EXPECT_EQ(tier(t, {3, 4}), Tier::kCore);
  EXPECT_EQ(tier(t, {0, 1, 2, 9}), Tier::kCore);
  EXPECT_EQ(tier(t, {8, 9}), Tier::kRack);
  EXPECT_EQ(t.rack_pod[t.rack[2]], t.pod[2]);
  EXPECT_EQ(t.rack_nodes[t.rack[9]], 2);
  EXPECT_EQ(t.pod_nodes[t.pod[5]], 4);
}

TEST(Topology, FindsTheTierOfGpus) {
  const TempFile file("own.yaml", kYaml);
  const Topology topology(load_cluster(file.path()));
  const TopologyColumns& t = topology.columns();
  EXPECT_EQ(tier_of_gpus(t, 0, 0b1000'0000), Tier::kGpu);
  EXPECT_EQ(tier_of_gpus(t, 0, 0b0000'1001), Tier::kIsland);
  EXPECT_EQ(tier_of_gpus(t, 0, 0b1111'0000), Tier::kIsland);
  EXPECT_EQ(tier_of_gpus(t, 0, 0b0001'1000), Tier::kNode);
  EXPECT_EQ(tier_of_gpus(t, 8, 0b011), Tier::kIsland);
  EXPECT_EQ(tier_of_gpus(t, 8, 0b110), Tier::kNode);
  EXPECT_EQ(t.islands[0], 2);
  EXPECT_EQ(t.islands[8], 2);
  EXPECT_EQ(t.islands[9], 0);
  const Topology wide(load_cluster("1x64"));
  EXPECT_EQ(tier_of_gpus(wide.columns(), 0, ~uint64_t{0}), Tier::kIsland)
      << "one island by default";
  EXPECT_EQ(tier_of_gpus(wide.columns(), 0, uint64_t{1} << 63), Tier::kGpu);
}

// The tier of a set of GPUs is that of its farthest pair, for every island size.
TEST(Topology, TierOfGpusIsThatOfTheirFarthestPair) {
  for (const int size : {1, 2, 3, 5, 8, 32, 63, 64}) {
    const TempFile file("own.yaml",
                        "nodes: [{gpus: 64, island_gpus: " + std::to_string(size) + "}]\n");
    const Topology topology(load_cluster(file.path()));
    for (int a = 0; a < 64; ++a) {
      for (int b = a + 1; b < 64; ++b) {
        const uint64_t mask = uint64_t{1} << a | uint64_t{1} << b;
        ASSERT_EQ(tier_of_gpus(topology.columns(), 0, mask),
                  a / size == b / size ? Tier::kIsland : Tier::kNode)
            << size << " " << a << " " << b;
      }
    }
  }
}

TEST(Topology, GivesLinkCapacities) {
  const TempFile file("own.yaml", kYaml);
  const Topology topology(load_cluster(file.path()));
  const TopologyColumns& t = topology.columns();
  EXPECT_EQ(t.num_kinds, 2);
  EXPECT_EQ(gbps_at(t, 0, Tier::kGpu), 0) << "not given";
  EXPECT_EQ(gbps_at(t, 0, Tier::kIsland), 2400);
  EXPECT_EQ(gbps_at(t, 8, Tier::kIsland), 33);
  EXPECT_EQ(latency_us_at(t, 0, Tier::kIsland), 10);
  EXPECT_EQ(latency_us_at(t, 8, Tier::kIsland), 9);
  EXPECT_EQ(latency_us_at(t, 8, Tier::kPod), 25);
  EXPECT_EQ(gbps_at(t, 8, Tier::kRack), 50) << "two NICs of 25";
  EXPECT_EQ(gbps_at(t, 0, Tier::kPod), 400) << "that of the rack";
  EXPECT_EQ(gbps_at(t, 0, Tier::kCore), 100);
  EXPECT_EQ(gbps_at(t, 8, Tier::kCore), 50) << "no more than its NICs";
  EXPECT_EQ(slowest(t, Tier::kRack, {0, 8}), 50);
  EXPECT_EQ(slowest(t, Tier::kGpu, {0, 8}), 0);
  EXPECT_EQ(t.oversubscription[static_cast<size_t>(Tier::kPod)], 2);
  EXPECT_EQ(t.rack_up_gbps[t.rack[0]], 2 * 400 / 2);
  EXPECT_EQ(t.rack_up_gbps[t.rack[8]], (50 + 400) / 2);
  EXPECT_EQ(t.pod_up_gbps[t.pod[0]], 4 * 100 / (2 * 4));
}

TEST(Topology, ShorthandIsOneRackWithoutLinks) {
  const Topology topology(load_cluster("4x8:v100+2x4:k80"));
  const TopologyColumns& t = topology.columns();
  EXPECT_EQ(t.num_racks, 1);
  EXPECT_EQ(t.num_pods, 1);
  EXPECT_EQ(t.num_kinds, 1);
  EXPECT_EQ(tier(t, {0, 5}), Tier::kRack);
  for (int i = 0; i < kTiers; ++i) {
    EXPECT_EQ(t.gbps[i], 0);
    EXPECT_EQ(t.latency_us[i], 0);
    EXPECT_EQ(t.oversubscription[i], 1);
  }
}

}  // namespace
}  // namespace yard
