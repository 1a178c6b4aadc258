// The index of victims against a plain walk over running jobs. Its memory is moved between
// decisions.
#include "policies/victim_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "env/sim/rules/rules.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

struct Stops {
  bool found = false;
  std::vector<int32_t> slots = {};
  bool operator==(const Stops&) const = default;
};

// Equal nodes, and jobs of a few sizes up to several nodes. Some also ask for CPUs, and some
// running jobs must not be preempted. Costs are zero, so that a preempted job waits at once.
class VictimIndexHarness {
 public:
  explicit VictimIndexHarness(Rng rng)
      : rng_(rng),
        most_(static_cast<int32_t>(1 + rng_.below(8))),
        nodes_(static_cast<int32_t>(2 + rng_.below(5))),
        scene_(std::to_string(nodes_) + "x" + std::to_string(most_), make_jobs(), no_costs()),
        world_(scene_.fixed(), scene_.size()),
        view_(scene_.fixed(), world_.state(), InformationLevel::kBlind) {
    world_.reset(0, scene_.size());
    EXPECT_TRUE(world_.advance(scene_.truth()));
    memory_.reset(LinearKeyTreap::bytes(view_.num_slots()) +
                  VictimIndex::bytes(view_, PlacementRule::kConsolidate));
  }

  // Jobs start and stop; queries come in between and after.
  void decide() {
    memory_ = Memory(memory_);
    BumpAllocator bump(memory_.data());
    LinearKeyTreap held(view_.num_slots(), bump);
    VictimIndex index_under_test(view_, PlacementRule::kConsolidate, held, bump);
    ASSERT_EQ(bump.allocate<std::byte>(0), memory_.data() + memory_.bytes());
    world_.state().head->now_us += rng_.below(4);
    std::vector<int32_t> edited;
    for (uint32_t n = rng_.below(4); n > 0; --n) {
      const int32_t slot = any_slot();
      if (std::count(edited.begin(), edited.end(), slot) > 0) continue;
      if (view_.holds_gpus(slot)) {
        preempt(scene_.fixed(), world_.state(), slot);
      } else if (!start_somewhere(slot)) {
        continue;
      }
      edited.push_back(slot);
      index_under_test.update(slot);
      ask(held, index_under_test);
    }
    for (const int32_t slot : edited) {
      if (view_.holds_gpus(slot) && slot % 7 != 0) {
        const double slope = 0.5 * rng_.below(3), now = static_cast<double>(view_.now_us());
        held.put(slot, {slope * now + rng_.below(20), slope}, view_.serial(slot));
      } else {
        held.remove(slot);
      }
      index_under_test.update(slot);
    }
    ask(held, index_under_test);
    index_under_test.refresh();
  }

  int found = 0, refused = 0;

 private:
  std::vector<Job> make_jobs() {
    const int32_t largest = std::min(3 * most_, most_ * nodes_);
    std::vector<int32_t> sizes(1 + rng_.below(4));
    for (int32_t& size : sizes) {
      size = static_cast<int32_t>(1 + rng_.below(static_cast<uint32_t>(largest)));
    }
    const bool shapes = rng_.below(2) == 0;
    std::vector<Job> jobs;
    for (int j = 0; j < 40; ++j) {
      jobs.push_back(jobs_of({{0, sizes[rng_.below(static_cast<uint32_t>(sizes.size()))], 9}})[0]);
      if (shapes && rng_.below(4) == 0) {
        jobs.back().groups = {group_of(jobs.back().gpus, 1, 0, 1000, 0)};
      }
    }
    return jobs;
  }

  int32_t any_slot() {
    return static_cast<int32_t>(rng_.below(static_cast<uint32_t>(scene_.size())));
  }

  bool start_somewhere(int32_t slot) {
    std::vector<Piece> pieces;
    int32_t left = view_.gpus(slot);
    const auto first = static_cast<int32_t>(rng_.below(static_cast<uint32_t>(nodes_)));
    for (int32_t i = 0; i < nodes_; ++i) {
      const int32_t node = (first + i) % nodes_, gpus = std::min(view_.node_free_gpus(node), left);
      if (gpus > 0) pieces.push_back({node, gpus, 0, view_.shaped(slot) ? gpus : 0});
      left -= gpus;
    }
    const auto n = static_cast<int32_t>(pieces.size());
    if (!legal_start(scene_.fixed(), world_.state(), slot, pieces.data(), n)) return false;
    start(scene_.fixed(), world_.state(), slot, pieces.data(), n);
    return true;
  }

  Stops walk(const LinearKeyTreap& held, const RankedJob& claim, int32_t gpus,
             double margin) const {
    std::vector<RankedJob> holders;
    for (int32_t slot = 0; slot < view_.slot_high_water(); ++slot) {
      if (view_.holds_gpus(slot) && held.has(slot)) {
        holders.push_back({held.key(slot, view_.now_us()), slot});
      }
    }
    std::sort(holders.begin(), holders.end(),
              [](const RankedJob& a, const RankedJob& b) { return b.key < a.key; });
    std::vector<int32_t> free;
    for (int32_t m = 0; m < nodes_; ++m) free.push_back(view_.node_free_gpus(m));
    const int32_t least = std::min(gpus, most_), nodes = gpus / least;
    const auto enough = [&] {
      return std::count_if(free.begin(), free.end(), [=](int32_t f) { return f >= least; }) >=
             nodes;
    };
    size_t n = 0;
    for (; !enough(); ++n) {
      if (n == holders.size()) return {};
      Key key = holders[n].key;
      key.value /= 1 + margin;
      if (!(claim.key < key)) return {};
      for_parts(holders[n].slot, [&](int32_t node, int32_t held_gpus) {
        free[static_cast<size_t>(node)] += held_gpus;
      });
    }
    Stops stops{true};
    for (size_t i = 0; i < n; ++i) {
      bool matters = false;
      for_parts(holders[i].slot, [&](int32_t node, int32_t) {
        matters = matters || free[static_cast<size_t>(node)] >= least;
      });
      if (matters) stops.slots.push_back(holders[i].slot);
    }
    std::sort(stops.slots.begin(), stops.slots.end());
    return stops;
  }

  template <class Does>  // does(node, GPUs)
  void for_parts(int32_t slot, Does does) const {
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (view_.part_mask(p) != 0) does(view_.part_node(p), std::popcount(view_.part_mask(p)));
    }
  }

  void ask(const LinearKeyTreap& held, VictimIndex& index_under_test) {
    const int32_t slot = any_slot(), gpus = view_.gpus(slot);
    if (view_.shaped(slot) || can_place_gpus(view_, PlacementRule::kConsolidate, gpus)) return;
    ASSERT_EQ(index_under_test.supports_job_gpus(gpus), gpus <= most_ || gpus % most_ == 0);
    if (!index_under_test.supports_job_gpus(gpus)) return;
    const RankedJob claim{{static_cast<double>(rng_.below(16)), view_.serial(slot)}, slot};
    const double margin = 0.5 * rng_.below(2);
    std::vector<RankedJob> claims;
    Stops stops{index_under_test.find_victims(claim, gpus, margin, claims)};
    for (const RankedJob& stop : claims) {
      stops.slots.push_back(stop.slot);
      const Key key = held.key(stop.slot, view_.now_us());
      ASSERT_TRUE(!(stop.key < key) && !(key < stop.key));
    }
    std::sort(stops.slots.begin(), stops.slots.end());
    ASSERT_EQ(stops, walk(held, claim, gpus, margin)) << gpus << " GPUs on nodes of " << most_;
    ++(stops.found ? found : refused);
  }

  Rng rng_;
  int32_t most_, nodes_;
  const Scene scene_;
  World world_;
  const View view_;
  Memory memory_;
};

TEST(VictimIndex, MatchesALinearScan) {
  int found = 0, refused = 0;
  for (uint64_t trial = 0; trial < 100; ++trial) {
    VictimIndexHarness index_under_test(Rng(17).split(trial));
    for (int i = 0; i < 200; ++i) {
      index_under_test.decide();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "trial " << trial << ", decision " << i;
    }
    found += index_under_test.found;
    refused += index_under_test.refused;
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(VictimIndex, CountsNodesThatWereNeverUsed) {
  const Scene scene("2x2", jobs_of({{0, 2, 9}, {0, 4, 9}}), no_costs());
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  ASSERT_TRUE(world.advance(scene.truth()));
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  for (const int32_t node : {0, 1}) {
    Memory memory;
    memory.reset(LinearKeyTreap::bytes(2) + VictimIndex::bytes(view, PlacementRule::kConsolidate));
    BumpAllocator bump(memory.data());
    LinearKeyTreap held(2, bump);
    VictimIndex index_under_test(view, PlacementRule::kConsolidate, held, bump);
    const Piece piece{node, 2};
    start(scene.fixed(), world.state(), 0, &piece, 1);
    held.put(0, {5, 0}, 0);
    index_under_test.update(0);
    std::vector<RankedJob> stops;
    EXPECT_TRUE(index_under_test.find_victims({{1, 1}, 1}, 4, 0, stops));
    ASSERT_EQ(stops.size(), 1u);
    EXPECT_EQ(stops[0].slot, 0);
    preempt(scene.fixed(), world.state(), 0);
  }
}

TEST(VictimIndex, RequiresEqualNodesWholeGpusAndNoFaults) {
  std::vector<Job> jobs = jobs_of({{0, 1, 10}});
  const auto is_index_available = [&](const std::string& cluster, bool faults,
                                      PlacementRule placement) {
    Scene scene(cluster, jobs);
    if (faults) scene.set_faults({});
    const World world(scene.fixed(), 1);
    const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
    Memory memory;
    memory.reset(LinearKeyTreap::bytes(1) + VictimIndex::bytes(view, placement));
    BumpAllocator bump(memory.data());
    const LinearKeyTreap held(1, bump);
    VictimIndex index_under_test(view, placement, held, bump);
    index_under_test.update(0);
    EXPECT_EQ(bump.allocate<std::byte>(0), memory.data() + memory.bytes());
    EXPECT_EQ(VictimIndex::bytes(view, placement) > 0, index_under_test.is_index_available());
    return index_under_test.is_index_available();
  };
  EXPECT_TRUE(is_index_available("3x4", false, PlacementRule::kConsolidate));
  EXPECT_FALSE(is_index_available("3x4", true, PlacementRule::kConsolidate));
  EXPECT_FALSE(is_index_available("3x4", false, PlacementRule::kBestFit));
  EXPECT_FALSE(is_index_available("3x4+1x2", false, PlacementRule::kConsolidate));
  jobs[0].groups = {group_of(1, 0, 500, 0, 0)};
  EXPECT_FALSE(is_index_available("3x4", false, PlacementRule::kConsolidate));
}

}  // namespace
}  // namespace yard::testing
