// Jobs with assigned exchanges: priorities on shared links by hand; neither the order of starts nor
// an undone draft changes the state; predicted throughput equals the actual one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/throughput_model.h"
#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"
#include "env/sim/view/plan.h"
#include "tests/support/exchange_scene.h"

namespace yard::testing {
namespace {

constexpr Pattern kChoices[] = {Pattern::kNone, Pattern::kRing, Pattern::kTree,
                                Pattern::kHierarchical};

std::vector<Job> rings(int32_t count, const std::vector<int32_t>& gpus, Rng rng,
                       double run_s = 500) {
  std::vector<Job> jobs;
  for (int32_t j = 0; j < count; ++j) {
    const int32_t size = gpus[rng.below(static_cast<uint32_t>(gpus.size()))];
    jobs.push_back(jobs_of({{30.0 * j, size, run_s}}).front());
    jobs.back().id = std::to_string(j);
    jobs.back().model = rng.below(2) == 0 ? "small" : "large";
    jobs.back().pattern = rng.below(4) == 0 ? Pattern::kNone : Pattern::kRing;
  }
  return jobs;
}

// Two nodes without latency. Half of an iteration over two uncongested nodes is exchange, so a job
// needs half of its nodes' links.
ClusterSpec half_and_half() {
  ClusterSpec spec = load_cluster("2x4");
  for (NetworkTierSpec& tier : spec.tiers) tier = {8, 0, 1};
  const double mib_per_s = 1e9 / (1024 * 1024);
  spec.models["even"] = {.gradient_mib = mib_per_s, .step_ms = 1000};
  return spec;
}

struct ExchangeRates {
  std::vector<double> factor;  // by job: rate relative to isolation
};

ExchangeRates with_priorities(const std::vector<uint8_t>& priorities,
                              const std::vector<int>& order) {
  std::vector<Job> jobs;
  for (size_t j = 0; j < priorities.size(); ++j) {
    jobs.push_back(jobs_of({{0, 2, 100}}).front());
    jobs.back().id = std::to_string(j);
    jobs.back().model = "even";
  }
  const ExchangeScene scene(half_and_half(), jobs);
  World world(scene.fixed(), static_cast<int32_t>(jobs.size()));
  world.reset(0, static_cast<int32_t>(jobs.size()));
  EXPECT_TRUE(world.advance(scene.scene().truth()));
  SimState& s = world.state();
  const Piece spread[] = {{0, 1}, {1, 1}};
  for (const int j : order) {
    start(scene.fixed(), s, j, spread, 2, {Pattern::kRing, priorities[static_cast<size_t>(j)]});
  }
  refresh_rates(scene.fixed(), s);
  EXPECT_EQ(broken_invariant(scene.fixed(), s), "");
  ExchangeRates out;
  for (size_t j = 0; j < jobs.size(); ++j) {
    out.factor.push_back(s.rate[static_cast<int64_t>(j)] /
                         s.isolated_rate[static_cast<int64_t>(j)]);
  }
  return out;
}

void expect_factors(const std::vector<uint8_t>& priorities, const std::vector<double>& factors) {
  std::vector<int> order;
  for (size_t j = 0; j < priorities.size(); ++j) order.push_back(static_cast<int>(j));
  std::vector<double> first;
  do {
    const ExchangeRates rates = with_priorities(priorities, order);
    if (first.empty()) first = rates.factor;
    EXPECT_EQ(rates.factor, first) << "bit-identical for any order of starts";
    for (size_t j = 0; j < factors.size(); ++j) {
      EXPECT_NEAR(rates.factor[j], factors[j], 1e-6) << "job " << j;
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(AllReduceSettings, HigherPriorityIsServedFirst) {
  // Each needs half of the links: two fill them, three need 1.5 times the bandwidth.
  expect_factors({0, 0}, {1, 1});
  expect_factors({0, 1}, {1, 1});
  const double shared = 1 / (1 + 0.5 * 0.5);
  expect_factors({0, 0, 0}, {shared, shared, shared});
  expect_factors({2, 2, 2}, {shared, shared, shared});
  // The first leaves half of the bandwidth; the others need twice that.
  const double halved = 1 / (1 + 0.5);
  expect_factors({3, 0, 0}, {1, halved, halved});
  expect_factors({1, 0, 0}, {1, halved, halved});
  // Two leave nothing; the third still gets a sixteenth: eight times the duration.
  expect_factors({3, 2, 1}, {1, 1, 1 / (1 + 0.5 * 7)});
  expect_factors({1, 1, 0, 0}, {1, 1, 1 / (1 + 0.5 * 15), 1 / (1 + 0.5 * 15)});
}

TEST(AllReduceSettings, OnlyJobsWithAChoiceCanBeAssigned) {
  const ClusterSpec cluster = two_racks();
  std::vector<Job> jobs = rings(3, {2}, Rng(1));
  for (Job& job : jobs) job.submit_us = 0;
  jobs[1].pattern = Pattern::kParameterServer;
  jobs[2].model = "nobody";
  const auto legal = [&](const ExchangeScene& scene, int32_t slot,
                         const AllReduceSettings& exchange) {
    World world(scene.fixed(), 3);
    world.reset(0, 3);
    EXPECT_TRUE(world.advance(scene.scene().truth()));
    const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
    Plan plan;
    plan.edits = {{Verb::kStart, view.ref(slot), 0, 1, exchange}};
    plan.pieces = {{0, 2}};
    const std::string why = flaw_of_decision(scene.fixed(), world.state(), plan);
    Draft draft(scene.fixed(), world.state());
    EXPECT_EQ(draft.start(slot, plan.pieces.data(), 1, exchange), why.empty()) << why;
    if (why.empty()) {
      EXPECT_EQ(view.all_reduce_settings(slot),
                view.may_choose_all_reduce(slot) ? exchange : AllReduceSettings{});
    }
    return why;
  };
  const ExchangeScene scene(cluster, jobs), without(cluster, jobs, false);
  const std::string no = "start of slot 0: its all-reduce or link priority may not be chosen";
  for (const Pattern by : kChoices) {
    EXPECT_EQ(legal(scene, 0, {by, 3}), "");
    EXPECT_EQ(legal(without, 0, {by, 0}), by == Pattern::kNone ? "" : no);
  }
  EXPECT_EQ(legal(without, 0, {Pattern::kNone, 1}), no);
  EXPECT_EQ(legal(scene, 0, {Pattern::kTree, kLinkPriorities}), no);
  EXPECT_EQ(legal(scene, 0, {Pattern::kParameterServer, 0}), no);
  for (const int32_t slot : {1, 2}) {
    EXPECT_EQ(legal(scene, slot, {}), "");
    EXPECT_NE(legal(scene, slot, {Pattern::kTree, 0}), "");
    EXPECT_NE(legal(scene, slot, {Pattern::kNone, 1}), "");
  }
}

// A world in which waiting jobs start anywhere with any exchange.
class RandomPlay {
 public:
  RandomPlay(const ExchangeScene& scene, Rng rng)
      : scene_(scene), world_(scene.fixed(), scene.scene().size()), rng_(rng) {
    world_.reset(0, scene.scene().size());
  }

  bool advance() {
    if (!world_.advance(scene_.scene().truth())) return false;
    refresh_rates(scene_.fixed(), world_.state());
    return true;
  }
  AllReduceSettings any_exchange() {
    return {kChoices[rng_.below(4)], static_cast<uint8_t>(rng_.below(kLinkPriorities))};
  }
  // GPUs one by one, on random nodes.
  std::vector<Piece> any_place(const SimState& s, int32_t slot) {
    std::vector<Piece> out;
    int32_t left = s.gpus[slot];
    const int32_t nodes = scene_.fixed().spec.num_nodes;
    const auto first = static_cast<int32_t>(rng_.below(static_cast<uint32_t>(nodes)));
    for (int32_t i = 0; i < nodes && left > 0; ++i) {
      const int32_t node = (first + i) % nodes;
      const int32_t max_here = std::min(left, s.free_count[node]);
      if (max_here == 0) continue;
      const int32_t gpus = 1 + static_cast<int32_t>(rng_.below(static_cast<uint32_t>(max_here)));
      out.push_back({node, gpus});
      left -= gpus;
    }
    if (left > 0) out.clear();
    return out;
  }
  void edit(Draft& draft) {
    SimState& s = world_.state();
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kRunning && rng_.below(8) == 0) draft.preempt(slot);
      if (s.phase[slot] != Phase::kWaiting) continue;
      const std::vector<Piece> pieces = any_place(s, slot);
      if (pieces.empty()) continue;
      draft.start(slot, pieces.data(), static_cast<int32_t>(pieces.size()), any_exchange());
    }
  }

  World& world() { return world_; }
  SimState& state() { return world_.state(); }

 private:
  const ExchangeScene& scene_;
  World world_;
  Rng rng_;
};

TEST(AllReduceSettings, UndoLeavesNoTraceAndPlansReplay) {
  int64_t edits = 0;
  for (uint64_t trial = 0; trial < 12; ++trial) {
    const ExchangeScene scene(two_racks(), rings(20, {1, 2, 3, 4}, Rng(31).split(trial)));
    const SimModel& f = scene.fixed();
    RandomPlay play(scene, Rng(32).split(trial));
    World copy(f, scene.scene().size());
    while (play.advance()) {
      SimState& s = play.state();
      const uint64_t before = digest(f, s);
      const auto loads = [&] {
        return std::vector<int64_t>(s.priority_load,
                                    s.priority_load + kLinkPriorities * num_links(f.spec));
      };
      const std::vector<int64_t> loads_before = loads();
      std::vector<AllReduceSettings> told;
      const auto all = [&] {
        std::vector<AllReduceSettings> out;
        for (int32_t i = 0; i < s.head->high_water; ++i) {
          const bool holds = s.phase[i] == Phase::kRunning || s.phase[i] == Phase::kStarting;
          out.push_back(holds ? all_reduce_settings_of(f, s, i) : AllReduceSettings{});
        }
        return out;
      };
      told = all();
      Draft draft(f, s);
      play.edit(draft);
      draft.undo_to(0);
      ASSERT_EQ(digest(f, s), before);
      ASSERT_EQ(loads(), loads_before);
      ASSERT_EQ(all(), told);
      ASSERT_EQ(broken_invariant(f, s), "");
      play.edit(draft);
      draft.put_stops_first();
      edits += static_cast<int64_t>(draft.plan().edits.size());
      const Plan plan = draft.plan();
      const uint64_t drafted = digest(f, s);
      draft.undo_to(0);
      ASSERT_EQ(flaw_of_decision(f, s, plan), "");
      copy.copy_from(play.world());
      execute(f, copy.state(), plan);
      ASSERT_EQ(digest(f, copy.state()), drafted);
      execute(f, s, plan);
      refresh_rates(f, s);
      ASSERT_EQ(broken_invariant(f, s), "");
    }
    EXPECT_TRUE(all_done(play.state()));
    for (int32_t i = 0; i < kLinkPriorities * num_links(f.spec); ++i) {
      EXPECT_EQ(play.state().priority_load[i], 0);
    }
  }
  EXPECT_GT(edits, 300);
}

// How often predictions for a starting job were compared: its rate, and the loss of other jobs.
struct CheckCounts {
  int64_t rates = 0, congested = 0, interfering = 0;
};

void expect_predicted(const SimModel& f, const World& now, World& then,
                      const ThroughputModel& throughput_model, int32_t slot,
                      const std::vector<Piece>& pieces, const AllReduceSettings& exchange,
                      CheckCounts& counts) {
  then.copy_from(now);
  SimState& s = then.state();
  std::vector<double> before(static_cast<size_t>(s.head->high_water), 0);
  for (int32_t i = 0; i < s.head->high_water; ++i) {
    if (s.phase[i] == Phase::kRunning) before[static_cast<size_t>(i)] = s.rate[i];
  }
  const auto n = static_cast<int32_t>(pieces.size());
  ASSERT_TRUE(legal_start(f, s, slot, pieces.data(), n, exchange));
  start(f, s, slot, pieces.data(), n, exchange);
  refresh_rates(f, s);
  const double told = throughput_model.throughput(slot, pieces, {}, exchange);
  ASSERT_NEAR(s.rate[slot], told, 1e-9 * told)
      << "slot " << slot << ", pattern " << static_cast<int>(exchange.all_reduce) << ", priority "
      << int{exchange.priority};
  double lost = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] > 0) {
      const auto other = static_cast<int32_t>(i);
      lost += s.gpus[other] * (1 - s.rate[other] / before[i]);
    }
  }
  // Neighbours' terms are added one by one and shared exchange is left out: only links are exact.
  if (f.spec.neighbour_weight == 0 && !f.spec.shared_exchange) {
    ASSERT_NEAR(throughput_model.interference_cost(slot, pieces, {}, exchange), lost,
                1e-9 * (1 + lost));
  }
  ++counts.rates;
  counts.congested += s.rate[slot] < 0.999 * s.isolated_rate[slot];
  counts.interfering += lost > 1e-3;
}

TEST(AllReduceSettings, PredictionOfEveryChoiceIsExact) {
  CheckCounts counts;
  for (uint64_t trial = 0; trial < 12; ++trial) {
    ClusterSpec cluster = two_racks();
    if (trial % 3 == 1) cluster.slowdowns.neighbours = 0.5;
    if (trial % 4 == 1) cluster.slowdowns.shared_exchange = true;
    const ExchangeScene scene(cluster, rings(16, {1, 2, 2, 3}, Rng(41).split(trial)));
    const SimModel& f = scene.fixed();
    RandomPlay play(scene, Rng(42).split(trial));
    World then(f, scene.scene().size());
    while (play.advance()) {
      SimState& s = play.state();
      const View view(f, s, InformationLevel::kBlind);
      ThroughputModel throughput_model(view);
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        const std::vector<Piece> pieces = play.any_place(s, slot);
        if (pieces.empty()) continue;
        for (const Pattern by : kChoices) {
          for (uint8_t priority = 0; priority < kLinkPriorities; ++priority) {
            expect_predicted(f, play.world(), then, throughput_model, slot, pieces, {by, priority},
                             counts);
            if (HasFatalFailure()) return;
          }
        }
      }
      for (int32_t i = 0; i < view.num_holders(); ++i) {
        const int32_t slot = view.holder_slot(i);
        ASSERT_NEAR(throughput_model.current_throughput(slot), s.rate[slot], 1e-9)
            << "as it runs now";
      }
      Draft draft(f, s);
      play.edit(draft);
    }
    EXPECT_TRUE(all_done(play.state()));
  }
  EXPECT_GT(counts.rates, 2000);
  EXPECT_GT(counts.congested, 200);
  EXPECT_GT(counts.interfering, 200);
}

// If all jobs have the default exchange, or all the same, the choice makes no difference.
TEST(AllReduceSettings, DefaultChoicesChangeNothing) {
  for (uint64_t trial = 0; trial < 6; ++trial) {
    const std::vector<Job> jobs = rings(20, {1, 2, 3, 4}, Rng(51).split(trial));
    const ExchangeScene with(two_racks(), jobs), without(two_racks(), jobs, false);
    const auto policy = make_policy("fifo");
    SceneRunner a(with.scene(), *policy), b(without.scene(), *policy);
    a.play();
    b.play();
    ASSERT_FALSE(a.failed() || b.failed());
    for (size_t j = 0; j < jobs.size(); ++j) EXPECT_EQ(a.jobs()[j].end_us, b.jobs()[j].end_us);
  }
}

TEST(AllReduceSettings, ViewShowsLinkLoads) {
  std::vector<Job> jobs = jobs_of({{0, 2, 100}, {0, 2, 100}, {0, 2, 100}});
  for (Job& job : jobs) job.model = "even";
  const ExchangeScene scene(half_and_half(), jobs);
  World world(scene.fixed(), 3);
  world.reset(0, 3);
  ASSERT_TRUE(world.advance(scene.scene().truth()));
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  const Piece spread[] = {{0, 1}, {1, 1}};
  for (const double carried : {0.5e9, 1e9, 1e9}) {
    const int32_t slot = view.queue_head();
    start(scene.fixed(), world.state(), slot, spread, 2, {Pattern::kHierarchical, 2});
    EXPECT_NEAR(static_cast<double>(view.link_bytes_per_s(0)), carried, 10);
    EXPECT_EQ(view.all_reduce_settings(slot).priority, 2);
    EXPECT_EQ(view.all_reduce_settings(slot).all_reduce, Pattern::kHierarchical);
  }
}

}  // namespace
}  // namespace yard::testing
