// Lists of machines: each registered format by its example, three by their special cases, and the
// published files by their publishers' figures.
#include "env/cluster/node_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/cluster/spec.h"
#include "tests/support/require.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using ::testing::HasSubstr;
using testing::TempFile;
using Lists = Registry<NodeListReader>;

std::vector<ListedNode> read(const std::string& format, const std::string& text) {
  return Lists::make(format, {})->read(text, "nodes.csv");
}

std::string error_of(const std::string& format, const std::string& text) {
  try {
    read(format, text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EveryNodeList, ReadsItsOwnExample) {
  ASSERT_GE(Lists::names().size(), 3u);
  for (const std::string& name : Lists::names()) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(Lists::info(name).help.empty());
    EXPECT_FALSE(Lists::info(name).provided_keys.empty());
    const auto nodes = read(name, Lists::info(name).example);
    ASSERT_GE(nodes.size(), 2u);
    for (const ListedNode& node : nodes) EXPECT_FALSE(node.name.empty());
    EXPECT_THAT(error_of(name, Lists::info(name).example + "x\n"), HasSubstr("fields, got 1"));
  }
}

TEST(Openb, ReadsCoresMemoryAndModel) {
  const auto nodes = read("openb",
                          "model,gpu,sn,cpu_milli,memory_mib\r\n"
                          "P100,2,a,15500,262144\r\n"
                          "\r\n"
                          ",0,b,32000,131072");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].name, "a");
  EXPECT_EQ(nodes[0].type, "P100");
  EXPECT_EQ(nodes[0].gpus, 2);
  EXPECT_EQ(nodes[0].cpus, 15.5);
  EXPECT_EQ(nodes[0].mem_gib, 256);
  EXPECT_EQ(nodes[1].gpus, 0);
  EXPECT_EQ(nodes[1].type, "");
}

TEST(Openb, ErrorsNameLineAndColumn) {
  const std::string head = "sn,cpu_milli,memory_mib,gpu,model\n";
  EXPECT_THAT(
      error_of("openb", "sn,gpu\n"),
      HasSubstr("nodes.csv:1:1: expected the columns sn, cpu_milli, memory_mib, gpu, model, "
                "got 'sn,gpu'"));
  EXPECT_THAT(error_of("openb", ""), HasSubstr("nodes.csv:1:1: expected the columns"));
  EXPECT_THAT(error_of("openb", head + "a,1,1,65,T4\n"),
              HasSubstr("nodes.csv:2:7: expected gpu as a whole number from 0 to 64, got '65'"));
  EXPECT_THAT(error_of("openb", head + "a,1,1,1,T4\nb,x,1,1,T4\n"),
              HasSubstr("nodes.csv:3:3: expected cpu_milli"));
  EXPECT_THAT(error_of("openb", head + "a,1,1,1,\n"), HasSubstr("nodes.csv:2:9: expected a model"));
  EXPECT_THAT(error_of("openb", head + "a,1,1,0,T4\n"),
              HasSubstr("expected no model on a node without GPUs, got 'T4'"));
  EXPECT_THAT(error_of("openb", head + "a,1,1,1\n"),
              HasSubstr("nodes.csv:2:1: expected 5 fields, got 4"));
}

TEST(Pai, ReadsTarArchives) {
  const std::string csv = "a,V100,96,384,8\nb,CPU,96,512,0\n";
  std::string tar(512, '\0');
  tar.replace(0, 4, "spec");
  tar.replace(124, 11, "00000000037");  // octal: 31 bytes
  tar.replace(257, 5, "ustar");
  tar += csv + std::string(1024, '\0');
  for (const std::string& text : {csv, tar}) {
    const auto nodes = read("pai", text);
    ASSERT_EQ(nodes.size(), 2u);
    EXPECT_EQ(nodes[0].type, "V100");
    EXPECT_EQ(nodes[0].cpus, 96);
    EXPECT_EQ(nodes[0].mem_gib, 384);
    EXPECT_EQ(nodes[1].gpus, 0);
    EXPECT_EQ(nodes[1].type, "");
  }
  EXPECT_THAT(error_of("pai", tar.substr(0, 520)), HasSubstr("nodes.csv: expected a complete tar"));
  EXPECT_THAT(error_of("pai", "a,CPU,96,384,8\n"), HasSubstr("nodes.csv:1:3: expected a GPU type"));
  EXPECT_THAT(error_of("pai", "a,T4,96,384,0\n"), HasSubstr("nodes.csv:1:3: expected CPU"));
}

TEST(Lingjun, RackNamesIncludeThePod) {
  const auto nodes = read("lingjun",
                          "ip,DSW,PSW,ASW\n"
                          "a,G,P1,S1\n"
                          "b,G,P2,S1\n"
                          "c,G,P1,S1\n");
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_NE(nodes[0].rack, nodes[1].rack);
  EXPECT_NE(nodes[0].pod, nodes[1].pod);
  EXPECT_EQ(nodes[0].rack, nodes[2].rack);
  EXPECT_EQ(nodes[0].pod, nodes[2].pod);
}

TEST(NodeLists, AreRelativeToTheYamlFileAndComeAfterGroups) {
  const TempFile yaml("cluster.yaml", R"(
nodes:
  - {gpus: 4, type: t4, rack: 7, pod: 2}
nodes_from:
  - {file: hosts.csv, format: lingjun, gpus: 8, type: v100, cpus: 96, nic_gbps: 100}
  - file: nodes.csv
    format: openb
    cpu_nodes: false
    island_gpus: 4
    nodes_per_rack: 1
    pod: 0
    by_type: {P100: {island_gbps: 126, spot: true}}
)");
  write_file_atomic(yaml.folder() / "hosts.csv",
                    "ip,DSW,PSW,ASW\nh0,G,P0,S0\nh1,G,P1,S0\nh2,G,P0,S0\n");
  write_file_atomic(yaml.folder() / "nodes.csv",
                    "sn,cpu_milli,memory_mib,gpu,model\n"
                    "n0,32000,1024,0,\nn1,32000,1024,2,P100\nn2,32000,2048,8,G2\n");
  const ClusterSpec spec = load_cluster(yaml.path());
  ASSERT_EQ(spec.nodes.size(), 6u);
  EXPECT_EQ(spec.total_gpus(), 4 + 24 + 10);
  const auto place = [&](size_t m) { return std::pair(spec.nodes[m].rack, spec.nodes[m].pod); };
  EXPECT_EQ(place(1), std::pair(8, 3)) << "above the numbers in the file";
  EXPECT_EQ(place(2), std::pair(9, 4));
  EXPECT_EQ(place(3), place(1));
  EXPECT_EQ(place(4), std::pair(10, 0));
  EXPECT_EQ(place(5), std::pair(11, 0));
  EXPECT_EQ(spec.nodes[1].name, "h0");
  EXPECT_EQ(spec.nodes[1].cpus, 96);
  EXPECT_EQ(spec.nodes[1].nic_gbps, 100);
  EXPECT_EQ(spec.nodes[4].name, "n1");
  EXPECT_EQ(spec.types[static_cast<size_t>(spec.nodes[4].type)].name, "P100");
  EXPECT_EQ(spec.nodes[4].island_gpus, 2) << "no larger than the node";
  EXPECT_EQ(spec.nodes[4].island_gbps, 126);
  EXPECT_TRUE(spec.nodes[4].spot);
  EXPECT_EQ(spec.nodes[5].num_islands(), 2);
  EXPECT_FALSE(spec.nodes[5].spot);
  EXPECT_EQ(spec.nodes[5].mem_gib, 2);
}

std::string error_of_list(const std::string& entry) {
  const TempFile yaml("cluster.yaml", "nodes_from: " + entry + "\n");
  write_file_atomic(yaml.folder() / "once.csv", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\n");
  write_file_atomic(yaml.folder() / "twice.csv",
                    "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\na,1,1,1,T4\n");
  try {
    load_cluster(yaml.path());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(NodeLists, ErrorsNameTheListFile) {
  EXPECT_THAT(error_of_list("{file: none.csv, format: openb}"),
              HasSubstr("none.csv: expected a readable file"));
  EXPECT_THAT(error_of_list("{file: twice.csv, format: openb}"),
              HasSubstr("twice.csv: expected each node once, got 'a' again"));
  EXPECT_THAT(error_of_list("{file: once.csv, format: openb, by_type: {H100: {spot: true}}}"),
              HasSubstr("expected a GPU type in the node list, got 'H100'"));
}

// The published lists against the figures of SOURCE.md.
class Published : public ::testing::Test {
 protected:
  static std::map<std::string, int64_t> gpus_by_type(const ClusterSpec& spec) {
    std::map<std::string, int64_t> gpus;
    for (const Node& node : spec.nodes) {
      if (node.gpus > 0) gpus[spec.types[static_cast<size_t>(node.type)].name] += node.gpus;
    }
    return gpus;
  }
  static int64_t cpu_nodes(const ClusterSpec& spec) {
    return std::ranges::count(spec.nodes, 0, &Node::gpus);
  }
};

TEST_F(Published, Openb) {
  YARD_NEEDS_TRACES();
  const ClusterSpec spec = load_cluster("openb");
  EXPECT_EQ(spec.nodes.size(), 1213u);
  EXPECT_EQ(spec.total_gpus(), 6212);
  EXPECT_EQ(cpu_nodes(spec), 0);
  const std::map<std::string, int64_t> expected = {
      {"G2", 549 * 8}, {"T4", 387 * 2 + 17 * 4},         {"P100", 131 * 2 + 3},
      {"G3", 39 * 8},  {"V100M16", 19 + 28 * 4 + 8 * 8}, {"V100M32", 9 * 4 + 21 * 8},
      {"A10", 2}};
  EXPECT_EQ(gpus_by_type(spec), expected);
  for (const GpuType& type : spec.types) EXPECT_EQ(type.shares, Shares::kMilli) << type.name;

  const ClusterSpec all = load_cluster("openb-all");
  EXPECT_EQ(all.nodes.size(), 1523u);
  EXPECT_EQ(cpu_nodes(all), 310);
  EXPECT_EQ(gpus_by_type(all), expected);
}

TEST_F(Published, Pai) {
  YARD_NEEDS_TRACES();
  const ClusterSpec spec = load_cluster("pai");
  EXPECT_EQ(spec.nodes.size(), 1897u);
  EXPECT_EQ(spec.total_gpus(), 6742);
  EXPECT_EQ(cpu_nodes(spec), 83);
  const std::map<std::string, int64_t> expected = {{"P100", 798 * 2},
                                                   {"T4", 497 * 2},
                                                   {"V100", 104 * 8},
                                                   {"V100M32", 135 * 8},
                                                   {"MISC", 280 * 8}};
  EXPECT_EQ(gpus_by_type(spec), expected);
}

TEST_F(Published, Lingjun) {
  YARD_NEEDS_TRACES();
  const ClusterSpec spec = load_cluster("lingjun");
  EXPECT_EQ(spec.nodes.size(), 847u);
  std::set<int32_t> racks;
  std::map<int32_t, int> pods;
  for (const Node& node : spec.nodes) {
    racks.insert(node.rack);
    ++pods[node.pod];
  }
  EXPECT_EQ(racks.size(), 119u);
  EXPECT_EQ(pods, (std::map<int32_t, int>{{0, 362}, {1, 306}, {2, 179}}));
}

}  // namespace
}  // namespace yard
