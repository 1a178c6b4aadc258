// Clusters from shorthand and YAML, and what is said of those that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/cluster/spec.h"

namespace yard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A YAML file that goes away with its test.
class Yaml {
 public:
  explicit Yaml(const std::string& text)
      : path_(::testing::TempDir() + "cluster_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml") {
    write_file_atomic(path_, text);
  }
  ~Yaml() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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

TEST(Cluster, ShorthandPartsFollowEachOther) {
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

TEST(Cluster, ShorthandThatIsWrongSaysWhatWasExpected) {
  EXPECT_THAT(error_of("8x65"), AllOf(HasSubstr("1 to 64 GPUs a node"), HasSubstr("got 65")));
  EXPECT_THAT(error_of("0x8"), HasSubstr("1 to 1048576 nodes, got 0"));
  EXPECT_THAT(error_of("8x8:"), HasSubstr("NODESxGPUS[:TYPE]"));
  EXPECT_THAT(error_of("8x8+"), HasSubstr("got ''"));
  EXPECT_THAT(error_of("8x8+4"), HasSubstr("got '4'"));
  EXPECT_THAT(error_of("8xfast"), HasSubstr("got '8xfast'"));
  EXPECT_THAT(error_of("8x99999999999999999999"), HasSubstr("NODESxGPUS"));
  EXPECT_THAT(error_of("1000000x1+1000000x1"), HasSubstr("nodes in all"));
  EXPECT_THAT(error_of("no/such/cluster.yaml"),
              AllOf(HasSubstr("or a YAML file"), HasSubstr("no/such/cluster.yaml")));
  EXPECT_THAT(error_of(""), HasSubstr("NODESxGPUS"));
}

TEST(Cluster, YamlSaysTypesAndGroups) {
  const Yaml file(R"(gpu_types:
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

struct Wrong {
  const char* name;
  const char* yaml;
  const char* said;  // after the file's name
};

class WrongYaml : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongYaml, NamesTheLine) {
  const std::string path = ::testing::TempDir() + "wrong_cluster_" + GetParam().name + ".yaml";
  write_file_atomic(path, GetParam().yaml);
  EXPECT_THAT(error_of(path), HasSubstr(path + GetParam().said));
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(
    Cluster, WrongYaml,
    ::testing::Values(
        Wrong{"unknown_key", "nodes:\n  - gpus: 8\n    gpu_count: 9\n",
              ":3: expected one of the keys count, gpus, type, cpus, mem_gib, rack, name, got "
              "'gpu_count'"},
        Wrong{"unknown_top", "nodes: [{gpus: 8}]\nswitches: 4\n", ":2: expected one of the keys"},
        Wrong{"twice", "nodes:\n  - gpus: 8\n    gpus: 4\n", ":3: expected every key once"},
        Wrong{"no_gpus", "nodes:\n  - gpus: 8\n  - {count: 2}\n", ":3: expected gpus of the nodes"},
        Wrong{"too_many", "nodes:\n  - gpus: 65\n",
              ":2: expected gpus as a whole number from 1 to 64, got '65'"},
        Wrong{"fraction", "nodes:\n  - gpus: 8\n    count: 1.5\n", ":3: expected count as a whole"},
        Wrong{"speed", "gpu_types:\n  k80:\n    speed: 0\nnodes: [{gpus: 1}]\n",
              ":3: expected speed as a number from 0.001 to 1000, got '0'"},
        Wrong{"no_nodes", "gpu_types:\n  k80: {speed: 1}\n",
              ":1: expected nodes as a list of groups, got none"},
        Wrong{"empty_list", "nodes: []\n", ":1: expected nodes as a list of groups, got a list"},
        Wrong{"map", "nodes: {gpus: 8}\n", ":1: expected nodes as a list of groups, got a map"},
        Wrong{"scalar", "8x8\n", ":1: expected a map with gpu_types, nodes, got '8x8'"},
        Wrong{"syntax", "nodes:\n  - {gpus: 8\n", ":3: expected a cluster in YAML"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Cluster, AnEmptyFileIsNoCluster) {
  const Yaml file("");
  EXPECT_THAT(error_of(file.path()),
              HasSubstr("expected a map with gpu_types, nodes, got nothing"));
}

}  // namespace
}  // namespace yard
