// Clusters from shorthand, and from short and complete YAML files.
#include "env/cluster/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "env/base/core/error.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using testing::TempFile;

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    load_cluster(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Cluster, ShorthandCountsNodesThenGpus) {
  const ClusterSpec spec = load_cluster("16x8");
  EXPECT_EQ(spec.text, "16x8");
  ASSERT_EQ(spec.nodes.size(), 16u);
  EXPECT_EQ(spec.total_gpus(), 128);
  EXPECT_EQ(spec.max_gpus_per_node(), 8);
  ASSERT_EQ(spec.types.size(), 1u);
  EXPECT_EQ(spec.types[0].speed, 1.0);
  EXPECT_EQ(spec.nodes[15].name, "gpu15");
}

TEST(Cluster, ShorthandPartsKeepTheirOrder) {
  const ClusterSpec spec = load_cluster("2x8:v100+3x4:k80+1x8:v100");
  ASSERT_EQ(spec.nodes.size(), 6u);
  ASSERT_EQ(spec.types.size(), 2u);
  EXPECT_EQ(spec.types[0].name, "v100");
  EXPECT_EQ(spec.types[1].name, "k80");
  EXPECT_EQ(spec.nodes[2].type, 1);
  EXPECT_EQ(spec.nodes[2].gpus, 4);
  EXPECT_EQ(spec.nodes[5].type, 0);
  EXPECT_EQ(spec.nodes[5].name, "v1005");
  EXPECT_EQ(spec.total_gpus(), 36);
}

TEST(Cluster, InvalidShorthandErrorsStateTheExpectedForm) {
  EXPECT_THAT(error_of("8x65"), AllOf(HasSubstr("1 to 64 GPUs per node"), HasSubstr("got 65")));
  EXPECT_THAT(error_of("0x8"), HasSubstr("1 to 1048576 nodes, got 0"));
  EXPECT_THAT(error_of("8x8:"), HasSubstr("NODESxGPUS[:TYPE]"));
  EXPECT_THAT(error_of("8x8+"), HasSubstr("got ''"));
  EXPECT_THAT(error_of("8x8+4"), HasSubstr("got '4'"));
  EXPECT_THAT(error_of("8xfast"), HasSubstr("got '8xfast'"));
  EXPECT_THAT(error_of("8x99999999999999999999"), HasSubstr("NODESxGPUS"));
  EXPECT_THAT(error_of("1000000x1+1000000x1"), HasSubstr("nodes in total"));
  EXPECT_THAT(error_of("no/such/cluster.yaml"),
              AllOf(HasSubstr("a YAML file, or one of: dgx-a100-pod"),
                    HasSubstr("got 'no/such/cluster.yaml', a missing file")));
  EXPECT_THAT(error_of(""), HasSubstr("NODESxGPUS"));
  std::string many = "1x1:t0";
  for (int t = 1; t < 65; ++t) many += "+1x1:t" + std::to_string(t);
  EXPECT_THAT(error_of(many), HasSubstr("expected at most 64 GPU types, got 65"));
}

TEST(Cluster, ReadsTypesAndGroupsFromYaml) {
  const TempFile file("own.yaml", R"(gpu_types:
  v100: {speed: 1.0, mem_gib: 32}
  k80:  {speed: 0.25}
nodes:
  - {count: 2, gpus: 8, type: v100, cpus: 64, mem_gib: 256.5, rack: 3, name: fast}
  - {gpus: 4, type: k80}
  - gpus: 1
)");
  const ClusterSpec spec = load_cluster(file.path());
  ASSERT_EQ(spec.nodes.size(), 4u);
  ASSERT_EQ(spec.types.size(), 3u);
  EXPECT_EQ(spec.types[0].mem_gib, 32);
  EXPECT_EQ(spec.types[1].speed, 0.25);
  EXPECT_EQ(spec.types[2].name, "gpu");
  EXPECT_EQ(spec.nodes[1].name, "fast1");
  EXPECT_EQ(spec.nodes[1].cpus, 64);
  EXPECT_EQ(spec.nodes[1].mem_gib, 256.5);
  EXPECT_EQ(spec.nodes[1].rack, 3);
  EXPECT_EQ(spec.nodes[2].name, "k802");
  EXPECT_EQ(spec.nodes[3].type, 2);
  EXPECT_EQ(spec.total_gpus(), 21);
}

TEST(Cluster, ReadsEveryKeyFromYaml) {
  const TempFile file("own.yaml", R"(about: a lab
gpu_types:
  v100:
    speed: 1
    speed_of_model: {ResNet-50: 1.2, LM: 0.9}
    mem_gib: 32
    price_per_h: 2.5
    idle_w: 36
    busy_w: 177.5
    shares: milli
    source: measured
tiers:
  gpu: {bandwidth_gbps: 7200}
  island: {bandwidth_gbps: 1200, latency_us: 13}
  node: {bandwidth_gbps: 126, oversubscription: 2}
  rack: {bandwidth_gbps: 100, latency_us: 29}
  pod: {oversubscription: 3}
  core: {bandwidth_gbps: 10, latency_us: 100, oversubscription: 1.5}
nodes:
  - {count: 4, gpus: 8, type: v100, cpus: 95.5, island_gpus: 4, tenant: vision, nodes_per_rack: 2,
     racks_per_pod: 1}
  - {gpus: 0, cpus: 32, mem_gib: 64, rack: 5, pod: 3, zone: 2, spot: true, cpu_overload: 1.5}
  - {gpus: 2, nics: 2, nic_gbps: 25, island_gbps: 33, island_latency_us: 9, node_gbps: 31,
     node_latency_us: 10, rack: 5, pod: 3}
tenants:
  - {name: vision, weight: 3, priority: 2, may_lend: false, may_preempt: lower}
  - {name: speech, quota_gpus: 2, limit_gpus: 16, may_preempt: borrowers}
  - {name: guests, may_borrow: false}
)");
  const ClusterSpec spec = load_cluster(file.path());
  EXPECT_EQ(spec.about, "a lab");
  ASSERT_EQ(spec.types.size(), 2u);
  const GpuType& v100 = spec.types[0];
  EXPECT_EQ(v100.speed_on("ResNet-50"), 1.2);
  EXPECT_EQ(v100.speed_on("VGG"), 1);
  EXPECT_EQ(v100.price_per_h, 2.5);
  EXPECT_EQ(v100.idle_w, 36);
  EXPECT_EQ(v100.busy_w, 177.5);
  EXPECT_EQ(v100.shares, Shares::kMilli);
  EXPECT_EQ(v100.source, "measured");
  EXPECT_EQ(spec.types[1].shares, Shares::kNone);
  EXPECT_EQ(spec.tiers[static_cast<size_t>(Tier::kRack)].latency_us, 29);
  EXPECT_EQ(spec.tiers[static_cast<size_t>(Tier::kPod)].oversubscription, 3);
  EXPECT_EQ(spec.tiers[static_cast<size_t>(Tier::kCore)].bandwidth_gbps, 10);

  ASSERT_EQ(spec.nodes.size(), 6u);
  const auto place = [&](size_t m) { return std::pair(spec.nodes[m].rack, spec.nodes[m].pod); };
  EXPECT_EQ(place(0), std::pair(6, 4)) << "above the numbers in the file";
  EXPECT_EQ(place(1), place(0));
  EXPECT_EQ(place(2), std::pair(7, 5));
  EXPECT_EQ(place(3), place(2));
  EXPECT_EQ(place(4), std::pair(5, 3));
  EXPECT_EQ(spec.nodes[0].num_islands(), 2);
  EXPECT_EQ(spec.nodes[0].cpus, 95.5);
  EXPECT_EQ(spec.nodes[0].tenant, 0);
  const Node& cpus = spec.nodes[4];
  EXPECT_EQ(cpus.name, "cpu4");
  EXPECT_EQ(cpus.gpus, 0);
  EXPECT_EQ(cpus.num_islands(), 0);
  EXPECT_EQ(cpus.zone, 2);
  EXPECT_TRUE(cpus.spot);
  EXPECT_EQ(cpus.cpu_overload, 1.5);
  EXPECT_EQ(cpus.tenant, kNoTenant);
  const Node& last = spec.nodes[5];
  EXPECT_EQ(last.name, "gpu5");
  EXPECT_EQ(last.num_islands(), 1);
  EXPECT_EQ(last.nics, 2);
  EXPECT_EQ(last.nic_gbps, 25);
  EXPECT_EQ(last.island_gbps, 33);
  EXPECT_EQ(last.island_latency_us, 9);
  EXPECT_EQ(last.node_gbps, 31);
  EXPECT_EQ(last.node_latency_us, 10);

  ASSERT_EQ(spec.tenants.size(), 3u);
  const Tenant& vision = spec.tenants[0];
  EXPECT_EQ(vision.quota_gpus, 32) << "those of its nodes";
  EXPECT_EQ(vision.limit_gpus, 34);
  EXPECT_EQ(vision.weight, 3);
  EXPECT_EQ(vision.priority, 2);
  EXPECT_TRUE(vision.may_borrow);
  EXPECT_FALSE(vision.may_lend);
  EXPECT_EQ(vision.may_preempt, Preempts::kLower);
  EXPECT_EQ(spec.tenants[1].quota_gpus, 2);
  EXPECT_EQ(spec.tenants[1].limit_gpus, 16);
  EXPECT_EQ(spec.tenants[1].may_preempt, Preempts::kBorrowers);
  EXPECT_EQ(spec.tenants[2].quota_gpus, 0);
  EXPECT_EQ(spec.tenants[2].limit_gpus, 0) << "it may not borrow";
}

}  // namespace
}  // namespace yard
