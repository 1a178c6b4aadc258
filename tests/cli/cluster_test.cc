// `cluster describe` and the clusters which come with the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json describe(const std::string& cluster) {
  const Result result = shell("yardmaster cluster describe '" + cluster + "' --json");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return Json::parse(result.out);
}

TEST(ClusterDescribe, CountsAndRatios) {
  const Folder folder;  // another working directory: ready-made clusters are found there, too
  folder.write("own.yaml", R"(about: mine
gpu_types:
  v100: {mem_gib: 32, idle_w: 36, busy_w: 177, price_per_h: 3, speed_of_model: {LM: 1.5}}
  k80: {mem_gib: 12, speed: 0.25}
tiers:
  island: {bandwidth_gbps: 1200, latency_us: 13}
  rack: {bandwidth_gbps: 100}
  pod: {oversubscription: 2}
nodes:
  - {count: 4, gpus: 8, type: v100, cpus: 64, mem_gib: 256, island_gpus: 4, nodes_per_rack: 2, tenant: a}
  - {count: 2, gpus: 4, type: k80, rack: 9, nic_gbps: 25}
  - {gpus: 0, rack: 9, spot: true, cpus: 32}
tenants:
  - {name: a, weight: 2}
  - {name: b, may_preempt: lower}
)");
  const Json c = describe("own.yaml");
  EXPECT_EQ(c["about"], "mine");
  EXPECT_EQ(c["nodes"], 7);
  EXPECT_EQ(c["nodes_without_gpus"], 1);
  EXPECT_EQ(c["spot_nodes"], 1);
  EXPECT_EQ(c["gpus"], 40);
  EXPECT_EQ(c["racks"], 3);
  EXPECT_EQ(c["pods"], 1);
  EXPECT_TRUE(c["cpus_per_gpu"].is_null()) << "not given for the K80s";
  EXPECT_EQ(c["gpu_mem_gib"], 32 * 32 + 8 * 12);
  EXPECT_TRUE(c["gpus_busy_w"].is_null()) << "not given for the K80s";
  ASSERT_EQ(c["types"].size(), 2u);
  EXPECT_EQ(c["types"][0]["gpus"], 32);
  EXPECT_EQ(c["types"][0]["speed_of_model"]["LM"], 1.5);
  ASSERT_EQ(c["kinds"].size(), 3u);
  EXPECT_EQ(c["kinds"][0]["nodes"], 4);
  EXPECT_EQ(c["kinds"][0]["islands"], 2);
  EXPECT_TRUE(c["kinds"][2]["type"].is_null());
  ASSERT_EQ(c["tiers"].size(), 6u);
  const Json &island = c["tiers"][1], &rack = c["tiers"][3], &pod = c["tiers"][4];
  EXPECT_EQ(island["groups"], 10);
  EXPECT_EQ(island["largest_gpus"], 4);
  EXPECT_EQ(island["bisection_gbps"], 4 * 1200 / 2);
  EXPECT_EQ(rack["groups"], 3);
  EXPECT_EQ(rack["least_gbps"], 25);
  EXPECT_EQ(rack["most_gbps"], 100);
  EXPECT_EQ(rack["bisection_gbps"], 2 * 100 / 2);
  // 4 nodes of 100 Gbit/s, 2 of 25 and the one without GPUs, of 100; oversubscribed by 2.
  EXPECT_EQ(pod["bisection_gbps"], (4 * 100 + 2 * 25 + 100) / 2.0 / 2);
  EXPECT_EQ(c["tenants"][0]["quota_gpus"], 32);
  EXPECT_EQ(c["tenants"][0]["nodes"], 4);
  EXPECT_EQ(c["tenants"][1]["may_preempt"], "lower");

  const Result text = shell("yardmaster cluster describe own.yaml");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("own.yaml: mine"));
  EXPECT_THAT(text.out, HasSubstr("7 nodes (1 without GPUs, 1 spot), 40 GPUs"));
}

TEST(ClusterDescribe, AcceptsShorthandAndNames) {
  const Folder folder;
  EXPECT_EQ(describe("4x8:v100+4x8:k80")["gpus"], 64);
  const Json philly = describe("philly");
  EXPECT_EQ(philly["nodes"], 552);
  EXPECT_EQ(philly["gpus"], 2490);
  EXPECT_EQ(philly["text"], "philly");
  EXPECT_EQ(philly["tenants"].size(), 15u);
}

TEST(ClusterDescribe, ReadsPublishedNodeLists) {
  YARD_NEEDS_TRACES();
  EXPECT_EQ(describe("openb")["gpus"], 6212);
  EXPECT_EQ(describe("lingjun")["racks"], 119);
}

TEST(ClusterDescribe, ErrorsAreOneLine) {
  const Folder folder;
  folder.write("wrong.yaml", "nodes:\n  - {gpus: 8, speed: 2}\n");
  for (const auto& [cluster, said] :
       {std::pair("nowhere", "or one of: dgx-a100-pod, "),
        std::pair("8x65", "1 to 64 GPUs per node"),
        std::pair("wrong.yaml", "wrong.yaml:2:15: expected one of the keys")}) {
    const Result result = shell(std::string("yardmaster cluster describe ") + cluster);
    EXPECT_EQ(result.code, 2) << cluster;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(shell("yardmaster cluster").code, 2);
  EXPECT_EQ(shell("yardmaster cluster describe").code, 2);
}

TEST(ReadyCluster, CanBeSimulatedByName) {
  const Folder folder;
  const Result result = shell(
      "yardmaster simulate --trace synthetic:habits --generate-jobs 100 --cluster itp-10 "
      "--policy fifo --json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["cluster"]["gpus"], 32);
}

}  // namespace
}  // namespace yard::testing
