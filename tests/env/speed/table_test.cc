// Properties of the speed tables for arbitrary measurements, on small ones defined here.
#include "env/sim/speed/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "env/base/core/rng.h"
#include "env/base/text/text.h"
#include "env/sim/speed/contention.h"
#include "env/sim/speed/optimus.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

const std::vector<GpuType> kTypes = {{"v100", 1, 16}, {"k80", 0.25, 12}, {"other", 0.5, 0}};
constexpr int32_t kV100 = 0, kK80 = 1, kOther = 2;

// Returns a model with a global batch size, measured on 1 to 16 GPUs, 4 per node.
Profiles measured() {
  Profiles p;
  ModelProfile& net = p.profile("test", "Net-1", BatchScaling::kStrong);
  net.gradient_bytes = 4e8;
  const auto add = [&](const std::string& type, std::vector<int32_t> placement, double seconds) {
    MeasuredRun run{type, std::move(placement), 0, seconds, -1};
    run.local_batch = 64.0 / run.gpus();
    net.runs.push_back(run);
  };
  add("v100", {1}, 1.0);
  add("v100", {2}, 0.55);
  add("v100", {4}, 0.32);
  add("v100", {1, 1}, 0.8);
  add("v100", {4, 4}, 0.40);
  add("v100", {2, 2, 2, 2}, 0.30);
  add("v100", {4, 4, 4, 4}, 0.25);
  add("k80", {1}, 4.0);
  add("k80", {4}, 1.5);
  return p;
}

struct TableFixture {
  explicit TableFixture(const Profiles& profiles, TierLinks links = {})
      : table(profiles, {.types = kTypes, .max_gpus = 32, .node_gpus = 4, .links = links}) {}
  double rate(int32_t c, int32_t type, int32_t gpus, Tier tier, int32_t nodes) {
    return speed_of(table.columns(), c, type, gpus, tier, nodes);
  }
  SpeedTable table;
};

TEST(SpeedTable, RequestedPlacementHasThroughputOne) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  for (const int32_t gpus : {1, 2, 3, 4}) {
    const int32_t c = f.table.class_of("net1", 64, gpus);
    ASSERT_GT(c, 0);
    EXPECT_EQ(f.rate(c, kV100, gpus, Tier::kIsland, 1), 1);
    EXPECT_EQ(f.rate(c, kV100, gpus, Tier::kNode, 1), 1);
  }
  for (const int32_t gpus : {5, 8, 16, 31}) {
    const int32_t c = f.table.class_of("net1", 64, gpus);
    EXPECT_EQ(f.rate(c, kV100, gpus, Tier::kRack, (gpus + 3) / 4), 1);
  }
}

TEST(SpeedTable, ReproducesMeasurements) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  const int32_t c = f.table.class_of("net1", 64, 1);  // one iteration a second
  EXPECT_DOUBLE_EQ(f.rate(c, kV100, 4, Tier::kNode, 1), 1 / 0.32);
  EXPECT_DOUBLE_EQ(f.rate(c, kV100, 2, Tier::kRack, 2), 1 / 0.8);
  EXPECT_DOUBLE_EQ(f.rate(c, kV100, 8, Tier::kRack, 2), 1 / 0.40);
  EXPECT_DOUBLE_EQ(f.rate(c, kV100, 8, Tier::kRack, 4), 1 / 0.30);
  EXPECT_DOUBLE_EQ(f.rate(c, kV100, 16, Tier::kRack, 4), 1 / 0.25);
  EXPECT_DOUBLE_EQ(f.rate(c, kK80, 1, Tier::kNode, 1), 1 / 4.0);
  EXPECT_DOUBLE_EQ(f.rate(c, kK80, 4, Tier::kNode, 1), 1 / 1.5);
}

TEST(SpeedTable, IsMonotoneBetweenMeasurements) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  const int32_t c = f.table.class_of("net1", 64, 1);
  const double at4 = f.rate(c, kV100, 4, Tier::kNode, 1);
  const double at2 = f.rate(c, kV100, 2, Tier::kNode, 1);
  EXPECT_GT(f.rate(c, kV100, 3, Tier::kNode, 1), at2);
  EXPECT_LT(f.rate(c, kV100, 3, Tier::kNode, 1), at4);
  for (int32_t n = 3; n <= 8; ++n) {
    EXPECT_GE(f.rate(c, kV100, n, Tier::kRack, 2), f.rate(c, kV100, n - 1, Tier::kRack, 2)) << n;
  }
  for (int32_t n = 9; n <= 16; ++n) {
    EXPECT_GE(f.rate(c, kV100, n, Tier::kRack, 4), f.rate(c, kV100, n - 1, Tier::kRack, 4)) << n;
  }
}

// Falling curves are measured, too: more GPUs can be slower.
TEST(SpeedTable, FallingMeasurementsFallMonotonically) {
  Profiles p;
  ModelProfile& net = p.profile("test", "net", BatchScaling::kStrong);
  for (const auto& [gpus, rate] :
       std::vector<std::pair<int32_t, double>>{{1, 10}, {8, 12}, {16, 6}}) {
    net.runs.push_back({"v100", {gpus}, 64.0 / gpus, 1 / rate, -1});
  }
  SpeedTable table(p, {.types = kTypes, .max_gpus = 16, .node_gpus = 16});
  const int32_t c = table.class_of("net", 64, 1);
  for (int32_t n = 9; n <= 16; ++n) {
    EXPECT_LE(speed_of(table.columns(), c, kV100, n, Tier::kNode, 1),
              speed_of(table.columns(), c, kV100, n - 1, Tier::kNode, 1));
  }
  EXPECT_DOUBLE_EQ(speed_of(table.columns(), c, kV100, 16, Tier::kNode, 1), 0.6);
}

// Holds for all measurements, even where the fitted form is not monotone between them.
TEST(SpeedTable, IsMonotoneBetweenRandomMeasurements) {
  Rng rng(11);
  for (int trial = 0; trial < 60; ++trial) {
    Profiles p;
    ModelProfile& net = p.profile("test", "net", BatchScaling::kStrong);
    const double batch = 32 * (1 + rng.below(8)), largest = 4 + 12 * rng.uniform();
    for (const int32_t gpus : {1, 6, 24}) {
      for (const double part : {0.3, 1.0}) {
        const double seconds = (0.2 + part) * (1 + 0.2 * gpus * rng.uniform());
        net.runs.push_back({"v100", {gpus}, largest * part, seconds, -1});
      }
    }
    SpeedTable table(p, {.types = kTypes, .max_gpus = 24, .node_gpus = 24});
    const int32_t c = table.class_of("net", static_cast<int32_t>(batch), 1);
    const SpeedColumns columns = table.columns();
    const auto rate = [&](int32_t n) { return speed_of(columns, c, kV100, n, Tier::kNode, 1); };
    for (const auto& [from, to] : std::vector<std::pair<int32_t, int32_t>>{{1, 6}, {6, 24}}) {
      const double sign = rate(to) < rate(from) ? -1 : 1;
      for (int32_t n = from + 1; n <= to; ++n) {
        EXPECT_GE(sign * (rate(n) - rate(n - 1)), 0) << n << " of " << batch;
      }
    }
  }
}

// The form, fitted to few placements across nodes, may predict more there than inside one.
TEST(SpeedTable, ExtrapolatedSpreadingIsNoGain) {
  Profiles p;
  ModelProfile& net = p.profile("test", "net", BatchScaling::kStrong);
  for (const auto& [placement, rate] : std::vector<std::pair<std::vector<int32_t>, double>>{
           {{1}, 1}, {{2}, 1.1}, {{4}, 1.2}, {{8}, 1.3}, {{8, 8}, 12}, {{8, 8, 8, 8}, 24}}) {
    MeasuredRun run{"v100", placement, 0, 1 / rate, -1};
    run.local_batch = 64.0 / run.gpus();
    net.runs.push_back(run);
  }
  SpeedTable table(p, {.types = kTypes, .max_gpus = 32, .node_gpus = 8});
  const int32_t c = table.class_of("net", 64, 1);
  for (int32_t n = 2; n <= 8; ++n) {
    for (const int32_t nodes : {2, 3, 4, 7, 12}) {
      EXPECT_LE(speed_of(table.columns(), c, kV100, n, Tier::kRack, nodes),
                speed_of(table.columns(), c, kV100, n, Tier::kNode, 1));
    }
  }
  EXPECT_DOUBLE_EQ(speed_of(table.columns(), c, kV100, 16, Tier::kRack, 2), 12) << "measured";
}

TEST(SpeedTable, UnknownModelsAreNeutral) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  EXPECT_EQ(f.table.class_of("", 64, 4), 0);
  EXPECT_EQ(f.table.class_of("nobody's", 64, 4), 0);
  EXPECT_EQ(f.table.class_of("net1", 64, 0), 0) << "a job without GPUs";
  for (const Tier tier : {Tier::kIsland, Tier::kNode, Tier::kRack, Tier::kPod, Tier::kCore}) {
    for (const int32_t gpus : {1, 7, 32}) {
      EXPECT_EQ(f.rate(0, kV100, gpus, tier, 3), 1);
      EXPECT_EQ(f.rate(0, kK80, gpus, tier, 3), 0.25) << "the type's speed, whatever the number";
    }
  }
  EXPECT_EQ(exchange_share(f.table.columns(), 0, kV100, 8, Tier::kRack, 2), 0);
  EXPECT_EQ(link_bytes_per_s(f.table.columns(), 0, kV100, 8, Tier::kRack, 2), 0);
}

TEST(SpeedTable, UnmeasuredTypesUseTheReference) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  const int32_t c = f.table.class_of("net1", 64, 4);
  EXPECT_DOUBLE_EQ(f.rate(c, kOther, 4, Tier::kNode, 1), 0.5);
  EXPECT_DOUBLE_EQ(f.rate(c, kOther, 1, Tier::kNode, 1), 0.5 * 0.32);
  SpeedTable on_k80(profiles,
                    {.types = kTypes, .max_gpus = 8, .node_gpus = 4, .reference_type = "K80"});
  const int32_t k = on_k80.class_of("net1", 64, 4);
  EXPECT_EQ(speed_of(on_k80.columns(), k, kK80, 4, Tier::kNode, 1), 1);
  EXPECT_DOUBLE_EQ(speed_of(on_k80.columns(), k, kV100, 4, Tier::kNode, 1), 1.5 / 0.32);
  // The cluster has none of the measured types: the profile's first type is the reference.
  SpeedTable elsewhere(profiles, {.types = {{"h100", 3, 80}}, .max_gpus = 8, .node_gpus = 4});
  const int32_t e = elsewhere.class_of("net1", 64, 4);
  EXPECT_EQ(speed_of(elsewhere.columns(), e, 0, 4, Tier::kNode, 1), 3);
}

// The order of types in the cluster does not affect the reference type.
TEST(SpeedTable, ReferenceDoesNotDependOnTypeOrder) {
  const Profiles profiles = measured();
  const auto on_v100 = [&](std::vector<GpuType> types) {
    SpeedTable table(profiles, {.types = types, .max_gpus = 8, .node_gpus = 4});
    const int32_t v100 = types[0].name == "v100" ? 0 : 1;
    return speed_of(table.columns(), table.class_of("net1", 64, 4), v100, 4, Tier::kNode, 1);
  };
  const GpuType v100{"v100", 1, 16}, k80{"k80", 1, 12};
  EXPECT_EQ(on_v100({v100, k80}), 1) << "of two types of speed 1, the faster as measured";
  EXPECT_EQ(on_v100({k80, v100}), 1);
  GpuType fast = v100, slow = k80;
  fast.speed = 4;
  EXPECT_DOUBLE_EQ(on_v100({fast, k80}), 1.5 / 0.32) << "the type of speed 1";
  EXPECT_DOUBLE_EQ(on_v100({k80, fast}), 1.5 / 0.32);
  slow.speed = 0.5;
  EXPECT_EQ(on_v100({fast, slow}), 1) << "none of speed 1: the fastest";
  EXPECT_EQ(on_v100({slow, fast}), 1);
}

TEST(SpeedTable, TiersWithoutLinksAddNothing) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  const int32_t c = f.table.class_of("net1", 64, 8);
  EXPECT_EQ(f.rate(c, kV100, 8, Tier::kPod, 2), f.rate(c, kV100, 8, Tier::kRack, 2));
  EXPECT_EQ(f.rate(c, kV100, 8, Tier::kCore, 4), f.rate(c, kV100, 8, Tier::kRack, 4));
}

TEST(SpeedTable, SlowerTiersSlowJobsThatExchange) {
  const Profiles profiles = measured();
  const TierLinks links = {Link{},        {1e-6, 200e9}, {2e-6, 50e9},
                           {10e-6, 10e9}, {15e-6, 5e9},  {20e-6, 2e9}};
  TableFixture f(profiles, links);
  const int32_t c = f.table.class_of("net1", 64, 4);
  EXPECT_EQ(f.rate(c, kV100, 4, Tier::kIsland, 1), 1) << "requested where it is fastest";
  EXPECT_LT(f.rate(c, kV100, 4, Tier::kNode, 1), 1);
  for (const int32_t nodes : {2, 4, 7, 12}) {
    const double rack = f.rate(c, kV100, 16, Tier::kRack, nodes);
    const double pod = f.rate(c, kV100, 16, Tier::kPod, nodes);
    const double core = f.rate(c, kV100, 16, Tier::kCore, nodes);
    EXPECT_LT(pod, rack);
    EXPECT_LT(core, pod);
  }
  EXPECT_EQ(f.rate(c, kV100, 1, Tier::kIsland, 1), f.rate(c, kV100, 1, Tier::kNode, 1))
      << "one GPU exchanges nothing";
}

// More bandwidth is never slower.
TEST(SpeedTable, IsMonotoneInBandwidth) {
  const Profiles profiles = measured();
  double before = 0;
  for (double pod = 1e8; pod < 1e12; pod *= 4) {
    const TierLinks links = {Link{},        {1e-6, 200e9}, {1e-6, 200e9},
                             {10e-6, 10e9}, {10e-6, pod},  {10e-6, pod}};
    TableFixture f(profiles, links);
    const int32_t c = f.table.class_of("net1", 64, 8);
    const double rate = f.rate(c, kV100, 8, Tier::kPod, 2);
    EXPECT_GT(rate, before);
    before = rate;
  }
}

TEST(SpeedTable, ExtrapolatesAcrossNodesFromOneNode) {
  Profiles p = measured();
  std::erase_if(p.models[0].runs, [](const MeasuredRun& run) { return run.nodes() > 1; });
  const TierLinks links = {Link{}, {1e-6, 100e9}, {1e-6, 100e9}, {10e-6, 1e9}, {}, {}};
  TableFixture f(p, links);
  const int32_t c = f.table.class_of("net1", 64, 4);
  EXPECT_LT(f.rate(c, kV100, 4, Tier::kRack, 2), 1) << "0.4 GB over 1 GB/s";
  EXPECT_LE(f.rate(c, kV100, 4, Tier::kRack, 4), f.rate(c, kV100, 4, Tier::kRack, 2));
  TableFixture blind(p);
  const int32_t b = blind.table.class_of("net1", 64, 4);
  EXPECT_EQ(blind.rate(b, kV100, 4, Tier::kRack, 2), 1) << "no links, no difference";
}

TEST(SpeedTable, SizesThatDoNotFitHaveZeroThroughput) {
  Profiles p;
  ModelProfile& net = p.profile("test", "big", BatchScaling::kStrong);
  for (const auto& [gpus, s] :
       std::vector<std::pair<int32_t, double>>{{1, 0}, {2, 0}, {4, 2}, {8, 1}}) {
    net.runs.push_back({"v100", {gpus}, 1.0 / gpus, s, -1});
  }
  SpeedTable table(p, {.types = kTypes, .max_gpus = 16, .node_gpus = 16});
  const int32_t c = table.class_of("big", 1, 4);
  for (int32_t n = 1; n <= 2; ++n) {
    EXPECT_EQ(speed_of(table.columns(), c, kV100, n, Tier::kNode, 1), 0);
  }
  EXPECT_GT(speed_of(table.columns(), c, kV100, 3, Tier::kNode, 1), 0) << "not measured";
  EXPECT_EQ(speed_of(table.columns(), c, kV100, 4, Tier::kNode, 1), 1);
  EXPECT_EQ(table.class_of("big", 1, 2), 0) << "requested a size that it cannot run on";
  // If another type can hold the model, that one is the reference.
  net.runs.push_back({"k80", {2}, 0.5, 8, -1});
  SpeedTable both(p, {.types = kTypes, .max_gpus = 16, .node_gpus = 16});
  const int32_t on_k80 = both.class_of("big", 1, 2);
  EXPECT_EQ(speed_of(both.columns(), on_k80, kK80, 2, Tier::kNode, 1), 1);
  EXPECT_EQ(speed_of(both.columns(), on_k80, kV100, 2, Tier::kNode, 1), 0);
}

// Eight times the largest measured batch: seven parts without an exchange and one with it.
TEST(SpeedTable, LargeBatchesAreSplit) {
  Profiles p;
  ModelProfile& net = p.profile("test", "net", BatchScaling::kStrong);
  for (const double batch : {8.0, 16.0}) {
    net.runs.push_back({"v100", {1}, batch, 0.1 + batch / 100, -1});
    net.runs.push_back({"v100", {2}, batch, 0.2 + batch / 100, -1});
  }
  SpeedTable table(p, {.types = kTypes, .max_gpus = 4, .node_gpus = 4});
  const int32_t c = table.class_of("net", 256, 2);  // 128 per GPU, in 8 parts of 16
  const SpeedColumns columns = table.columns();
  EXPECT_NEAR(columns.class_reference[c], 1 / (0.36 + 7 * 0.26), 1e-9);
}

TEST(SpeedTable, WeakScalingCountsStepsOfEveryWorker) {
  Profiles p;
  ModelProfile& net = p.profile("test", "net", BatchScaling::kWeak);
  net.runs.push_back({"v100", {1}, 32, 0.1, -1});
  net.runs.push_back({"v100", {4}, 32, 0.16, -1});
  SpeedTable table(p, {.types = kTypes, .max_gpus = 4, .node_gpus = 4});
  const int32_t c = table.class_of("net", 32, 1);
  EXPECT_DOUBLE_EQ(speed_of(table.columns(), c, kV100, 4, Tier::kNode, 1), 2.5);
}

TEST(SpeedTable, GivesBytesOnALink) {
  const Profiles profiles = measured();
  TableFixture f(profiles);
  const int32_t ring = f.table.class_of("net1", 64, 8);
  const int32_t servers = f.table.class_of("net1", 64, 8, Pattern::kParameterServer);
  const SpeedColumns columns = f.table.columns();
  // 2.5 iterations/s over two nodes: in a ring each node sends 2 1/2 of 0.4 GB; with servers, each
  // of its four GPUs does.
  EXPECT_EQ(link_bytes_per_s(columns, ring, kV100, 8, Tier::kRack, 2), 1'000'000'000);
  EXPECT_EQ(link_bytes_per_s(columns, servers, kV100, 8, Tier::kRack, 2), 4'000'000'000);
  EXPECT_EQ(link_bytes_per_s(columns, ring, kV100, 4, Tier::kNode, 1), 0);
  const double share = exchange_share(columns, ring, kV100, 8, Tier::kRack, 2);
  EXPECT_GT(share, 0);
  EXPECT_LT(share, 1);
}

TEST(SpeedTable, PairRatesAreThoseOfTheFirstModel) {
  Profiles p;
  for (const char* model : {"a", "b"}) {
    p.profile("test", model, BatchScaling::kWeak).runs.push_back({"v100", {1}, 1, 0.1, -1});
  }
  p.profile("else", "c", BatchScaling::kWeak).runs.push_back({"v100", {1}, 1, 0.1, -1});
  p.pairs.push_back({"test", "v100", {"a", 1, 0.9}, {"b", 1, 0.4}});
  p.pairs.push_back({"test", "v100", {"b", 1, 0.4}, {"a", 1, 0.9}});
  p.pairs.push_back({"test", "v100", {"a", 1, 0}, {"a", 1, 0}});
  SpeedTable table(p, {.types = kTypes, .max_gpus = 4, .node_gpus = 4});
  const int32_t a = table.class_of("a", 1, 1), a2 = table.class_of("a", 1, 2);
  const int32_t b = table.class_of("b", 1, 1), c = table.class_of("c", 1, 1);
  const SpeedColumns columns = table.columns();
  EXPECT_EQ(pair_rate(columns, a, b, kV100), 0.9);
  EXPECT_EQ(pair_rate(columns, b, a, kV100), 0.4);
  EXPECT_EQ(pair_rate(columns, a2, b, kV100), 0.9) << "by kind, for any requested size";
  EXPECT_EQ(pair_rate(columns, a, a2, kV100), 0) << "they do not fit";
  EXPECT_EQ(pair_rate(columns, a, b, kK80), 0.5) << "not measured there";
  EXPECT_EQ(pair_rate(columns, a, c, kV100), 0.5);
  EXPECT_EQ(pair_rate(columns, a, 0, kV100), 0.5) << "next to a neutral job";
}

TEST(SpeedTable, BatchSelectsAmongProfilesOfOneName) {
  Profiles p;
  p.profile("first", "net", BatchScaling::kWeak).runs.push_back({"v100", {1}, 8, 0.1, -1});
  p.profile("second", "Net", BatchScaling::kWeak).runs.push_back({"v100", {1}, 16, 0.5, -1});
  SpeedTable table(p, {.types = kTypes, .max_gpus = 4, .node_gpus = 4});
  const auto reference = [&](int32_t batch) {
    const int32_t c = table.class_of("net", batch, 1);
    return table.columns().class_reference[c];
  };
  EXPECT_DOUBLE_EQ(reference(16), 2);
  EXPECT_DOUBLE_EQ(reference(8), 10);
  EXPECT_DOUBLE_EQ(reference(0), 10) << "the first, its middle batch";
}

TEST(SpeedTable, BatchMattersOnlyIfGiven) {
  Profiles p;
  ModelProfile& net = p.profile("test", "net", BatchScaling::kStrong);
  net.runs.push_back({"v100", {1}, 1, 0.1, -1});
  net.runs.push_back({"v100", {2}, 0.5, 0.06, -1});
  SpeedTable table(p, {.types = kTypes, .max_gpus = 4, .node_gpus = 4});
  EXPECT_EQ(table.class_of("net", 128, 1), table.class_of("net", 0, 1));
  EXPECT_DOUBLE_EQ(speed_of(table.columns(), 1, kV100, 2, Tier::kNode, 1), 0.1 / 0.06);
}

TEST(SpeedTable, EverySpanHasItsOwnIndex) {
  std::vector<int> seen(kSpans);
  ++seen[static_cast<size_t>(exchange_span_of(Tier::kIsland, 1))];
  ++seen[static_cast<size_t>(exchange_span_of(Tier::kNode, 1))];
  for (const Tier tier : {Tier::kRack, Tier::kPod, Tier::kCore}) {
    for (const int32_t nodes : {2, 3, 4, 5, 9})
      ++seen[static_cast<size_t>(exchange_span_of(tier, nodes))];
    EXPECT_EQ(exchange_span_of(tier, 6), exchange_span_of(tier, 8));
    EXPECT_EQ(exchange_span_of(tier, 1), exchange_span_of(tier, 2));
    EXPECT_EQ(exchange_span_of(tier, 1000), exchange_span_of(tier, 9));
  }
  EXPECT_EQ(seen, std::vector<int>(kSpans, 1));
  EXPECT_EQ(node_spread_class(0), node_spread_class(1)) << "of a job without GPUs";
}

// Rows made by Optimus' form are recovered; other numbers of servers and workers follow the form.
TEST(SpeedTable, JobsWithServersFollowTheOptimusForm) {
  const OptimusSync made = {{0.01, 0.1, 0.05, 0.02, 0.03}, 100};
  Profiles profiles;
  std::string text = "model,gpu_type,mode,batch,servers,workers,steps_per_s\n";
  for (const auto& [p, w] : {std::pair{1, 1}, {1, 4}, {2, 4}, {4, 4}, {2, 8}, {8, 2}, {3, 6}}) {
    text += "Net-1,V100,sync,100," + std::to_string(p) + "," + std::to_string(w) + "," +
            shortest_text(made.steps_per_s(p, w)) + "\n";
  }
  parse_profile(text, "speeds.csv", profiles);
  TableFixture f(profiles);
  EXPECT_EQ(f.table.class_of("net1", 100, 4), 0) << "not measured without servers";
  EXPECT_EQ(f.table.parameter_server_class_of("other", 100, 2, 4), 0);
  const int32_t c = f.table.parameter_server_class_of("net1", 100, 2, 4);
  ASSERT_GT(c, 0);
  EXPECT_EQ(c, f.table.parameter_server_class_of("Net_1", 100, 2, 4));
  for (const int32_t w : {1, 2, 4, 8, 16}) {
    const double wanted = made.steps_per_s(2, w) / made.steps_per_s(2, 4);
    EXPECT_NEAR(f.rate(c, kV100, w, Tier::kNode, 1), wanted, 1e-4);
    EXPECT_NEAR(f.rate(c, kV100, w, Tier::kRack, 3), wanted, 1e-4);
    EXPECT_NEAR(f.rate(c, kK80, w, Tier::kNode, 1), wanted / 4, 1e-4) << "by the types' speeds";
  }
  // Elastic servers: the table depends on their number and is constant beyond the largest.
  f.table.allow_parameter_servers_up_to(c, 4);
  const auto with = [&](int32_t servers, int32_t workers) {
    return speed_of(f.table.columns(), c, kV100, workers, Tier::kNode, 1, servers);
  };
  for (const int32_t p : {1, 2, 3, 4}) {
    const double wanted = made.steps_per_s(p, 4) / made.steps_per_s(2, 4);
    EXPECT_NEAR(with(p, 4), wanted, 1e-4);
  }
  EXPECT_EQ(with(0, 4), 1) << "as requested";
  EXPECT_EQ(with(9, 4), with(4, 4));
  // w / p is 0.05 4 / 2 of a step of 0.01 100 / 4 + 0.1 + 0.05 4 / 2 + 0.02 4 + 0.03 2.
  EXPECT_NEAR(exchange_share(f.table.columns(), c, kV100, 4, Tier::kRack, 2), 0.1 / 0.59, 1e-4);
}

TEST(SpeedTable, AsynchronousWorkersStepIndependently) {
  const OptimusAsync made = {{0.5, 0.1, 0.2, 0.05}};
  Profiles profiles;
  std::string text = "model,gpu_type,mode,batch,servers,workers,steps_per_s\n";
  for (int p = 1; p < 4; ++p) {
    for (int w = 1; w < 4; ++w) {
      text += "net,v100,async,32," + std::to_string(p) + "," + std::to_string(w) + "," +
              shortest_text(made.steps_per_s(p, w)) + "\n";
    }
  }
  parse_profile(text, "speeds.csv", profiles);
  TableFixture f(profiles);
  const int32_t c = f.table.parameter_server_class_of("net", 0, 1, 2);
  EXPECT_NEAR(f.rate(c, kV100, 6, Tier::kRack, 2), made.steps_per_s(1, 6) / made.steps_per_s(1, 2),
              1e-4);
  EXPECT_EQ(f.table.columns().counts_worker_steps[f.table.columns().class_kind[c]], 1);
}

}  // namespace
}  // namespace yard
