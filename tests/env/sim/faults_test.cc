// Faults: drawn with exponential times, independently per component, or read from a file. Errors
// name the place in the file.
#include "env/sim/rules/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/sim/state/free_map.h"
#include "tests/support/scene.h"
#include "tests/support/temp_file.h"

namespace yard::testing {
namespace {

constexpr int64_t kHour = 3600 * kSecond;

// Returns the mean hours up and down of one component with these faults.
std::pair<double, double> means(std::vector<Fault> faults, int64_t from_us) {
  double up_h = 0, down_h = 0;
  int64_t at_us = from_us;
  for (const Fault& fault : faults) {
    EXPECT_GT(fault.at_us, at_us) << "it cannot go down while it is";
    EXPECT_GT(fault.until_us, fault.at_us);
    up_h += static_cast<double>(fault.at_us - at_us) / kHour;
    down_h += static_cast<double>(fault.until_us - fault.at_us) / kHour;
    at_us = fault.until_us;
  }
  const auto count = static_cast<double>(faults.size());
  return {up_h / count, down_h / count};
}

std::vector<Fault> drawn(const FaultModel& model) {
  ClusterSpec spec = load_cluster("3x2");
  spec.nodes[2].rack = 1;
  return draw_faults(spec, model, 50 * kHour, 100'000 * kHour, Rng(3));
}

TEST(DrawnFaults, GpuFaultsHaveTheConfiguredMeans) {
  std::map<std::pair<int32_t, uint64_t>, std::vector<Fault>> by_gpu;
  for (const Fault& fault : drawn({.gpu_mtbf_h = 20, .gpu_repair_h = 5})) {
    EXPECT_EQ(fault.kind, FaultKind::kFail);
    EXPECT_GE(fault.at_us, 50 * kHour);
    EXPECT_LT(fault.at_us, 100'000 * kHour);
    by_gpu[{fault.node, fault.mask}].push_back(fault);
  }
  ASSERT_EQ(by_gpu.size(), 6u);
  for (const auto& [gpu, faults] : by_gpu) {
    EXPECT_EQ(count_bits(gpu.second), 1);
    const auto [up_h, down_h] = means(faults, 50 * kHour);
    EXPECT_NEAR(up_h, 20, 1.5) << "4000 of them: a standard error of 0.3";
    EXPECT_NEAR(down_h, 5, 0.4);
  }
  EXPECT_NE((by_gpu[{0, 1}][0].at_us), (by_gpu[{0, 2}][0].at_us)) << "each independently";
}

TEST(DrawnFaults, NodeRackAndSpotFaultsIncludeAllGpus) {
  std::map<int32_t, std::vector<Fault>> nodes, spots, racks;
  for (const Fault& fault : drawn({.node_mtbf_h = 40, .node_repair_h = 2})) {
    EXPECT_EQ(fault.mask, 3u);
    EXPECT_EQ(fault.kind, FaultKind::kFail);
    nodes[fault.node].push_back(fault);
  }
  for (const Fault& fault : drawn({.reclaim_mtbf_h = 30, .reclaim_repair_h = 3})) {
    EXPECT_EQ(fault.mask, 3u);
    EXPECT_EQ(fault.kind, FaultKind::kReclaim);
    spots[fault.node].push_back(fault);
  }
  for (const Fault& fault : drawn({.rack_mtbf_h = 25, .rack_repair_h = 1})) {
    EXPECT_EQ(fault.mask, 3u);
    racks[fault.node].push_back(fault);
  }
  ASSERT_EQ(nodes.size(), 3u);
  ASSERT_EQ(spots.size(), 3u);
  ASSERT_EQ(racks.size(), 3u);
  EXPECT_NEAR(means(nodes[1], 50 * kHour).first, 40, 3);
  EXPECT_NEAR(means(nodes[1], 50 * kHour).second, 2, 0.2);
  EXPECT_NEAR(means(spots[1], 50 * kHour).first, 30, 2);
  EXPECT_NEAR(means(racks[1], 50 * kHour).first, 25, 2);
  const auto same = [&](int32_t a, int32_t b) {
    return racks[a].size() == racks[b].size() &&
           std::equal(racks[a].begin(), racks[a].end(), racks[b].begin(),
                      [](const Fault& x, const Fault& y) { return x.at_us == y.at_us; });
  };
  EXPECT_TRUE(same(0, 1)) << "of one rack";
  EXPECT_FALSE(same(0, 2));
  EXPECT_TRUE(drawn({}).empty());
}

// Faults of different components are independent, also between GPUs and the nodes they are on.
TEST(DrawnFaults, ComponentsFailIndependently) {
  std::map<int64_t, int> times;
  for (const FaultModel& model : {FaultModel{.gpu_mtbf_h = 1000}, FaultModel{.node_mtbf_h = 1000},
                                  FaultModel{.reclaim_mtbf_h = 1000}}) {
    for (const Fault& fault : drawn(model)) ++times[fault.at_us];
  }
  for (const FaultModel& model :
       {FaultModel{.rack_mtbf_h = 1000}, FaultModel{.pod_mtbf_h = 1000}}) {
    std::set<int64_t> at_us;  // of several nodes at once
    for (const Fault& fault : drawn(model)) at_us.insert(fault.at_us);
    for (const int64_t us : at_us) ++times[us];
  }
  EXPECT_GT(times.size(), 500u);
  for (const auto& [at_us, n] : times) EXPECT_EQ(n, 1) << at_us;
}

TEST(DrawnFaults, AreFrozenForASeed) {
  const auto first_us = [](const FaultModel& model) { return drawn(model).at(0).at_us; };
  EXPECT_EQ(first_us({.gpu_mtbf_h = 10}), 202'500'972'889);
  EXPECT_EQ(first_us({.node_mtbf_h = 10}), 195'073'618'637);
  EXPECT_EQ(first_us({.rack_mtbf_h = 10}), 202'624'000'453);
  EXPECT_EQ(first_us({.pod_mtbf_h = 10}), 227'216'248'196);
  EXPECT_EQ(first_us({.reclaim_mtbf_h = 10}), 216'743'566'667);
}

ClusterSpec named() {
  ClusterSpec spec = load_cluster("2x4");
  spec.nodes[0].name = "alpha";
  spec.nodes[1].name = "beta";
  return spec;
}

std::vector<Fault> read(const std::string& rows) {
  const TempFile file("faults.csv", "at_s,until_s,kind,node,gpus\n" + rows);
  return read_faults(file.path(), named());
}

TEST(ReadFaults, ParsesAFile) {
  const std::vector<Fault> faults = read(
      "0,20.5,fail,alpha,all\n\n10,,drain,1,0+3\n 11 , 12 , reclaim , 0 , 2 \n5,6,fail,beta,1\n");
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[3].node, 1);
  EXPECT_EQ(faults[0].at_us, 0);
  EXPECT_EQ(faults[0].until_us, 20'500'000);
  EXPECT_EQ(faults[0].kind, FaultKind::kFail);
  EXPECT_EQ(faults[0].node, 0);
  EXPECT_EQ(faults[0].mask, 0xFu);
  EXPECT_EQ(faults[1].until_us, kNever);
  EXPECT_EQ(faults[1].kind, FaultKind::kDrain);
  EXPECT_EQ(faults[1].node, 1);
  EXPECT_EQ(faults[1].mask, 0b1001u);
  EXPECT_EQ(faults[2].kind, FaultKind::kReclaim);
  EXPECT_EQ(faults[2].node, 0);
  EXPECT_EQ(faults[2].mask, 0b100u);
}

TEST(ReadFaults, ErrorsNameThePlace) {
  const auto place = [](const std::string& row) -> std::string {
    try {
      read("1,2,fail,0,all\n" + row + "\n");
    } catch (const InputError& error) {
      const std::string text = error.what();
      const size_t at = text.find(".csv:");
      return text.substr(at + 5, text.find_first_not_of("0123456789:", at + 5) - at - 5);
    }
    return "taken";
  };
  EXPECT_EQ(place("1,2,fail,0").substr(0, 3), "3:1");
  EXPECT_EQ(place("-1,2,fail,0,all").substr(0, 3), "3:1");
  EXPECT_EQ(place("x,2,fail,0,all").substr(0, 3), "3:1");
  EXPECT_EQ(place("2,2,fail,0,all").substr(0, 3), "3:2");
  EXPECT_EQ(place("2,y,fail,0,all").substr(0, 3), "3:2");
  EXPECT_EQ(place("1e12,,fail,0,all").substr(0, 3), "3:1");
  EXPECT_EQ(place("2,1e12,fail,0,all").substr(0, 3), "3:2");
  EXPECT_EQ(place("1,2,repair,0,all").substr(0, 3), "3:3");
  EXPECT_EQ(place("1,2,fail,2,all").substr(0, 3), "3:4");
  EXPECT_EQ(place("1,2,fail,-1,all").substr(0, 3), "3:4");
  EXPECT_EQ(place("1,2,fail,gamma,all").substr(0, 3), "3:4");
  EXPECT_EQ(place("1,2,fail,0,4").substr(0, 3), "3:5");
  EXPECT_EQ(place("1,2,fail,0,-1").substr(0, 3), "3:5");
  EXPECT_EQ(place("1,2,fail,0,1+z").substr(0, 3), "3:5");
  EXPECT_EQ(place("1,2,fail,1,3"), "taken");
  const TempFile empty("faults.csv", "");
  EXPECT_THROW(read_faults(empty.path(), named()), InputError);
}

}  // namespace
}  // namespace yard::testing
