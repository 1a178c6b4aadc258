// The generator of options against the rules in random worlds: each option is as described, can be
// executed, and its job then runs at the predicted rate.
#include "env/sim/placement/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "env/sim/rules/rules.h"
#include "env/sim/view/plan.h"
#include "env/trace/generators/servers.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

struct OptionChecks {
  int64_t ways[kOptionKinds] = {};
  int64_t anywhere = 0, rates = 0, slowed = 0, interfering = 0;
};

// Jobs of higher serial may be preempted for those of lower, and all may migrate.
PlacementOptions::JobPredicates by_serial(const View& view) {
  return {[&view](int32_t a, int32_t b) {
            return view.holds_gpus(a) && view.preemptible(a) && view.serial(a) > view.serial(b);
          },
          [&view](int32_t a, int32_t b) { return view.serial(a) > view.serial(b); },
          [&view](int32_t a) { return view.phase(a) == Phase::kRunning && view.preemptible(a); }};
}

int32_t min_nodes_with_free_gpus(const SpecColumns& spec, int32_t gpus) {
  return (gpus + spec.max_node_gpus - 1) / spec.max_node_gpus;
}

void expect_sound(const View& view, int32_t slot, const PlacementOption& o, OptionChecks& counts) {
  const SpecColumns& spec = view.spec();
  if (o.type == kNone) {
    ++counts.anywhere;
    return;
  }
  ++counts.ways[static_cast<int>(o.kind)];
  int32_t gpus = 0;
  std::set<int32_t> nodes;
  for (const Piece& p : o.pieces) {
    gpus += p.gpus;
    EXPECT_EQ(spec.node_type[p.node], o.type);
    EXPECT_TRUE(nodes.insert(p.node).second);
  }
  EXPECT_EQ(gpus, view.gpus(slot));
  EXPECT_EQ(o.victims.empty(), o.kind != OptionKind::kPreempt);
  EXPECT_EQ(o.moves.empty(), o.kind != OptionKind::kMoveOthers);
  const auto on = static_cast<int32_t>(o.pieces.size());
  if (o.kind == OptionKind::kConsolidated || o.kind == OptionKind::kMoveOthers) {
    EXPECT_EQ(on, min_nodes_with_free_gpus(spec, gpus));
  }
  for (const int32_t other : o.victims) EXPECT_GT(view.serial(other), view.serial(slot));
}

// Executes the option on a copy of the world and lets all jobs run.
void expect_carried_out(const SimModel& fixed, const SimState& before, int32_t slot,
                        const PlacementOption& o, OptionChecks& counts) {
  World world(fixed, before.head->slots);
  SimState& s = world.state();
  copy_state(world.sizes(), before, s);
  Draft draft(fixed, s);
  const View view(fixed, s, InformationLevel::kBlind);
  std::vector<std::pair<int32_t, double>> colocated;  // jobs still next to it, and their rates
  for (const int32_t other : o.victims) ASSERT_TRUE(draft.preempt(other));
  for (const JobMove& move : o.moves) ASSERT_TRUE(draft.preempt(move.slot));
  ASSERT_TRUE(draft.start(slot, o.pieces.data(), static_cast<int32_t>(o.pieces.size())));
  for (const JobMove& move : o.moves) {
    const int32_t gpus = view.gpus(move.slot);
    const Piece piece{move.node, gpus, 0, view.shaped(move.slot) ? gpus : 0};
    ASSERT_TRUE(draft.start(move.slot, &piece, 1));
  }
  if (o.type == kNone || !o.moves.empty() || s.phase[slot] != Phase::kRunning) return;
  refresh_rates(fixed, s);
  // Jobs which start at the same time are co-located only later.
  for (int32_t i = 0; i < s.head->held; ++i) {
    if (s.phase[s.holder_slots[i]] == Phase::kStarting) return;
  }
  if (view.gpus(slot) > fixed.speed.max_gpus) return;  // beyond the tables
  // The rules choose the GPUs within a node, and so the number of islands.
  if (s.tier[slot] == static_cast<uint8_t>(Tier::kNode)) return;
  EXPECT_NEAR(s.rate[slot], std::max(o.rate, kMinRate), 1e-7 * o.rate);
  ++counts.rates;
  counts.slowed += s.rate[slot] < s.isolated_rate[slot];
  counts.interfering += o.interference_cost > 0;
}

TEST(PlacementOptions, AreLegalAndRunAsPredicted) {
  OptionChecks counts;
  const auto policy = make_policy("fifo placement=consolidate");
  for (uint64_t trial = 0; trial < 90; ++trial) {
    ForkableWorld told = forkable_world(Rng(91).split(trial),
                                        {.models = true, .slowdowns = trial % 3 != 0, .world = {}});
    told.world.cluster.tiers = {};  // no link is ever full
    for (Node& node : told.world.cluster.nodes) node.nic_gbps = 0;
    told.world.cluster.one_type = trial % 2 == 1;
    told.world.faults.clear();
    const ForkableScene scene(told);
    const SimModel& fixed = scene.scene().fixed();
    SceneRunner runner(scene.scene(), *policy);
    while (runner.step()) {
      const SimState& s = runner.world().state();
      const View view(fixed, s, InformationLevel::kBlind);
      const ThroughputModel throughput_model(view);
      PlacementOptions options(view, throughput_model, by_serial(view));
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        const std::vector<PlacementOption> all = options.of(slot, {});
        for (const PlacementOption& o : all) {
          expect_sound(view, slot, o, counts);
          expect_carried_out(fixed, s, slot, o, counts);
          if (HasFatalFailure()) return;
        }
      }
    }
    ASSERT_FALSE(runner.failed());
  }
  for (const int64_t n : counts.ways) EXPECT_GT(n, 50);
  EXPECT_GT(counts.rates, 500);
  EXPECT_GT(counts.slowed, 50);
  EXPECT_GT(counts.interfering, 50);
}

TEST(PlacementOptions, InterferenceCostIsTheNeighboursLoss) {
  ClusterSpec cluster = load_cluster("1x4");
  cluster.slowdowns.neighbours = 0.5;
  std::vector<Job> jobs = jobs_of({{0, 2, 1000}, {0, 2, 1000}});
  jobs[0].model = "m0";
  jobs[1].model = "m1";
  ForkableWorld told;
  told.world.cluster = cluster;
  told.world.jobs = jobs;
  told.models = true;
  const ForkableScene scene(told);
  World world(scene.scene().fixed(), 2);
  world.reset(0, 2);
  world.advance(scene.scene().truth());
  SimState& s = world.state();
  const View view(scene.scene().fixed(), s, InformationLevel::kBlind);
  const int32_t first = view.queue_head(), second = view.queue_next(first);
  const Piece there{0, 2};
  start(scene.scene().fixed(), s, first, &there, 1);
  refresh_rates(scene.scene().fixed(), s);
  const double alone = s.rate[first];
  const ThroughputModel throughput_model(view);
  PlacementOptions options(view, throughput_model, by_serial(view));
  const std::vector<PlacementOption> all = options.of(second, {});
  ASSERT_EQ(all.size(), 1);
  start(scene.scene().fixed(), s, second, &there, 1);
  refresh_rates(scene.scene().fixed(), s);
  EXPECT_LT(s.rate[first], alone);
  EXPECT_NEAR(all[0].interference_cost, 2 * (1 - s.rate[first] / alone), 1e-6);
}

// The predicted rate of a job with parameter servers is correct wherever the servers are placed.
TEST(ThroughputModel, OnlyTheNumberOfParameterServersMatters) {
  ParameterServerJobsParams p;
  p.jobs = 8;
  p.most = 0;
  p.workers = 2;
  p.servers = 1;
  ForkableWorld told;
  told.world.cluster = load_cluster("servers-6");
  told.world.jobs = generate_parameter_server_jobs(p, {.seed = 5, .cluster_gpus = 12});
  for (Job& job : told.world.jobs) job.model = "m0";
  told.models = true;
  const ForkableScene forkable_scene(told);
  const Scene& scene = forkable_scene.scene();
  // Of both workers, and of the server.
  const std::vector<std::vector<int32_t>> places = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 2}};
  std::vector<double> rates;
  for (const std::vector<int32_t>& at : places) {
    World world(scene.fixed(), 8);
    world.reset(0, 8);
    world.advance(scene.truth());
    SimState& s = world.state();
    const View view(scene.fixed(), s, InformationLevel::kEstimate);
    const int32_t slot = view.queue_head();
    std::vector<Piece> pieces = {{at[2], 0, 0, 1}, {at[0], 1, 1, 1}, {at[1], 1, 1, 1}};
    if (at[0] == at[1]) {
      pieces.pop_back();
      pieces[1] = {at[0], 2, 1, 2};
    }
    const ThroughputModel throughput_model(view);
    const double told = throughput_model.throughput(slot, pieces, {});
    EXPECT_GT(told, 0);
    EXPECT_LE(told, throughput_model.best_throughput(slot));
    EXPECT_EQ(throughput_model.throughput(slot, std::span(pieces).first(1), {}), 0);
    start(scene.fixed(), s, slot, pieces.data(), static_cast<int32_t>(pieces.size()));
    refresh_rates(scene.fixed(), s);
    EXPECT_NEAR(s.rate[slot], told, 1e-9 * told);
    rates.push_back(told);
  }
  EXPECT_EQ(rates[0], rates[1]);
  EXPECT_EQ(rates[2], rates[3]);
  EXPECT_LT(rates[2], rates[0]);
}

}  // namespace
}  // namespace yard::testing
