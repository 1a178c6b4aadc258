// Rates against a slow reference. After each decision in random rated worlds, all rates and link
// loads are recomputed from the placements and the tables (docs/design/speed.md). They must equal
// those which the rules update incrementally.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "env/sim/rules/rules.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

struct Place {
  std::map<int32_t, uint64_t> gpus_on;  // by node, if the job has GPUs there
  int32_t gpus = 0;                     // each share counts as one
  Tier tier = Tier::kIsland;
  int32_t nodes() const { return static_cast<int32_t>(gpus_on.size()); }
};

class Book {
 public:
  Book(const SimModel& f, const SimState& s) : f_(f), s_(s) {
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kRunning) places_[slot] = place_of(slot);
    }
    for (const auto& [slot, place] : places_) load(slot, place);
  }

  const std::map<int32_t, Place>& places() const { return places_; }

  double rate(int32_t slot) const {
    const Place& place = places_.at(slot);
    double rate = std::max(alone(slot, place).first, kMinRate);
    if (const int64_t bytes = traffic(slot, place); bytes > 0) {
      double worst = 1;
      for (const auto& link : links_of(place)) {
        if (capacity(link) > 0) {
          worst = std::max(
              worst, static_cast<double>(load_.at(link)) / static_cast<double>(capacity(link)));
        }
      }
      const double share = f_.speed.exchange_share[cell(slot, place, alone(slot, place).second)];
      rate *= 1 / (1 + share * (worst - 1));
    }
    rate *= neighbour_throughput_factor(slot);
    rate *= on_full_servers(slot);
    rate *= neighbour_factor(slot, place);
    return std::max(rate, kMinRate);
  }

  int64_t traffic(int32_t slot, const Place& place) const {
    const int32_t kind = kind_of(slot);
    if (kind < 0 || place.nodes() < 2 || place.gpus > f_.speed.max_gpus) return 0;
    const double steps = f_.speed.steps_per_s[cell(slot, place, alone(slot, place).second)];
    const int32_t n = place.nodes();
    return static_cast<int64_t>(steps * (2.0 * (n - 1) / n * f_.speed.gradient_bytes[kind]));
  }

  int64_t load_of(char what, int32_t index) const {
    const auto it = load_.find({what, index});
    return it == load_.end() ? 0 : it->second;
  }

 private:
  using Link = std::pair<char, int32_t>;  // 'n'ode, 'r'ack or 'p'od, and its index

  Place place_of(int32_t slot) const {
    Place place;
    for (int32_t p = s_.first_part[slot]; p != kNone; p = s_.part_next[p]) {
      if (s_.part_mask[p] == 0) continue;
      place.gpus += count_bits(s_.part_mask[p]);
      place.gpus_on[s_.part_node[p]] |= s_.part_mask[p];
    }
    std::set<int32_t> racks, pods, islands;
    for (const auto& [node, mask] : place.gpus_on) {
      racks.insert(f_.spec.node_rack[node]);
      pods.insert(f_.spec.node_pod[node]);
      for (int32_t g = 0; g < kMaxNodeGpus; ++g) {
        if ((mask >> g & 1) != 0) islands.insert(g / f_.spec.node_island_gpus[node]);
      }
    }
    if (place.nodes() == 1) place.tier = islands.size() > 1 ? Tier::kNode : Tier::kIsland;
    if (place.nodes() > 1) {
      place.tier = pods.size() > 1 ? Tier::kCore : racks.size() > 1 ? Tier::kPod : Tier::kRack;
    }
    return place;
  }

  int32_t kind_of(int32_t slot) const {
    return f_.speed.num_classes == 0 ? -1 : f_.speed.class_kind[f_.jobs.speed_class[s_.job[slot]]];
  }

  int64_t cell(int32_t slot, const Place& place, int32_t type) const {
    const int64_t gpus = std::min(place.gpus, f_.speed.max_gpus);
    const int64_t row =
        (int64_t{kind_of(slot)} * f_.speed.num_types + type) * (f_.speed.max_gpus + 1) + gpus;
    int64_t span = place.tier == Tier::kNode ? 1 : 0;
    if (place.tier >= Tier::kRack) {
      const int64_t spread =
          std::array{1, 1, 1, 2, 3, 4, 4, 4, 4, 5}[static_cast<size_t>(std::min(place.nodes(), 9))];
      span = 2 + 5 * (static_cast<int64_t>(place.tier) - static_cast<int64_t>(Tier::kRack)) +
             spread - 1;
    }
    return row * kSpans + span;
  }

  // Returns the isolated rate on the slowest of its types, and that type.
  std::pair<double, int32_t> alone(int32_t slot, const Place& place) const {
    double slowest = 1;
    int32_t type = 0;
    bool any = false;
    // Of equally slow types, the first of the cluster counts.
    for (int32_t p = s_.first_part[slot]; p != kNone; p = s_.part_next[p]) {
      if (s_.part_mask[p] == 0) continue;
      const int32_t node = s_.part_node[p], here = f_.spec.node_type[node];
      const double speed = kind_of(slot) < 0 ? f_.speed_on(s_.job[slot], node)
                                             : f_.speed.steps_per_s[cell(slot, place, here)];
      if (any && (speed > slowest || (speed == slowest && here > type))) continue;
      slowest = speed;
      type = here;
      any = true;
    }
    if (kind_of(slot) < 0 && s_.shape[slot] != kNone) {
      int32_t got = 0;
      for (int32_t p = s_.first_part[slot]; p != kNone; p = s_.part_next[p]) {
        got += s_.part_role_group[p] == 0 ? s_.part_tasks[p] : 0;
      }
      slowest *= static_cast<double>(got) / tasks_of(f_.jobs.shapes, s_.shape[slot], 0);
    }
    return {slowest, type};
  }

  std::set<Link> links_of(const Place& place) const {
    std::set<Link> links;
    for (const auto& [node, mask] : place.gpus_on) {
      links.insert({'n', node});
      if (place.tier >= Tier::kPod) links.insert({'r', f_.spec.node_rack[node]});
      if (place.tier >= Tier::kCore) links.insert({'p', f_.spec.node_pod[node]});
    }
    return links;
  }

  int64_t capacity(const Link& link) const {
    if (link.first == 'n') return f_.spec.node_up_bytes[link.second];
    return (link.first == 'r' ? f_.spec.rack_up_bytes : f_.spec.pod_up_bytes)[link.second];
  }

  void load(int32_t slot, const Place& place) {
    const int64_t bytes = traffic(slot, place);
    if (bytes == 0) return;
    for (const Link& link : links_of(place)) load_[link] += bytes;
  }

  // The max_spread_jobs disturbed member of a gang counts.
  double neighbour_throughput_factor(int32_t slot) const {
    double min_factor = 1;
    if (f_.speed.num_classes == 0) return min_factor;
    for (int32_t p = s_.first_part[slot]; p != kNone; p = s_.part_next[p]) {
      const int32_t node = s_.part_node[p];
      if (s_.part_mask[p] == 0 || !is_gpu_share(f_, s_, slot, p)) continue;
      double left = 1;
      for (int32_t i = 0; i < s_.head->held; ++i) {  // factors in the rules' own order
        const int32_t other = s_.holder_slots[i];
        if (other == slot || !places_.contains(other)) continue;
        for (int32_t q = s_.first_part[other]; q != kNone; q = s_.part_next[q]) {
          if (s_.part_node[q] != node || (s_.part_mask[q] & s_.part_mask[p]) == 0) continue;
          const int32_t one = kind_of(slot), two = kind_of(other);
          left *= one < 0 || two < 0
                      ? f_.speed.unmeasured_pair
                      : f_.speed.pair_rate[(f_.spec.node_type[node] * f_.speed.num_kinds + one) *
                                               f_.speed.num_kinds +
                                           two];
        }
      }
      min_factor = std::min(min_factor, left);
    }
    return min_factor;
  }

  double on_full_servers(int32_t slot) const {
    double min_factor = 1;
    for (int32_t p = s_.first_part[slot]; f_.spec.overloads && p != kNone; p = s_.part_next[p]) {
      const int32_t node = s_.part_node[p];
      int64_t asked = 0;
      for (int32_t other = 0; other < s_.head->high_water; ++other) {
        if (s_.phase[other] != Phase::kRunning && s_.phase[other] != Phase::kStarting) continue;
        for (int32_t q = s_.first_part[other]; q != kNone; q = s_.part_next[q]) {
          if (s_.part_node[q] != node || s_.shape[other] == kNone) continue;
          asked += s_.part_tasks[q] *
                   need_of(f_.jobs.shapes, s_.shape[other], s_.part_role_group[q]).cpu_milli;
        }
      }
      const int64_t cores = f_.spec.node_cores_milli[node];
      if (cores > 0 && asked > cores) {
        min_factor = std::min(min_factor, static_cast<double>(cores) / static_cast<double>(asked));
      }
    }
    return min_factor;
  }

  // As in docs/design/speed.md, "Neighbours" and "Shared exchange".
  double neighbour_factor(int32_t slot, const Place& place) const {
    if (kind_of(slot) < 0 || place.gpus == 0 || place.gpus > f_.speed.max_gpus) return 1;
    const int32_t type = alone(slot, place).second;
    double worst = 0, left = 1;
    int32_t max_spread_jobs = 1, island = 0;
    for (const auto& [node, mask] : place.gpus_on) {
      double sum = 0;
      int32_t k = 1;
      for (const auto& [other, there] : places_) {
        if (other == slot || !there.gpus_on.contains(node)) continue;
        k += there.nodes() > 1;
        const int32_t one = kind_of(slot), two = kind_of(other);
        if (two < 0) continue;
        const double p = f_.speed.pair_rate[(f_.spec.node_type[node] * f_.speed.num_kinds + one) *
                                                f_.speed.num_kinds +
                                            two];
        int32_t gpus = 0;
        for (int32_t q = s_.first_part[other]; q != kNone; q = s_.part_next[q]) {
          if (s_.part_node[q] == node) gpus += count_bits(s_.part_mask[q]);
        }
        sum += f_.spec.neighbour_weight * gpus / f_.spec.node_gpus[node] * (1 / p - 1);
      }
      worst = std::max(worst, sum);
      max_spread_jobs = std::max(max_spread_jobs, k);
      if (f_.spec.node_type[node] == type) island = f_.spec.node_island_gpus[node];
    }
    left /= 1 + worst;
    const int32_t needed = (place.gpus + f_.spec.max_node_gpus - 1) / f_.spec.max_node_gpus;
    if (!f_.spec.shared_exchange || place.nodes() <= needed) return left;
    Place consolidated = place;
    const bool one_island = place.gpus <= island;
    consolidated.tier = needed > 1 ? Tier::kRack : one_island ? Tier::kIsland : Tier::kNode;
    consolidated.gpus_on.clear();
    for (int32_t m = 0; m < needed; ++m) consolidated.gpus_on[m] = 1;
    const double u = std::max(alone(slot, place).first, kMinRate) /
                     f_.speed.steps_per_s[cell(slot, consolidated, type)];
    return u >= 1 ? left : left * (1 / u) / (1 + (1 / u - 1) * max_spread_jobs);
  }

  const SimModel& f_;
  const SimState& s_;
  std::map<int32_t, Place> places_;  // of running jobs, by slot
  std::map<Link, int64_t> load_;
};

struct RateChecks {
  int64_t rates = 0, congested = 0, slowed = 0, core = 0, islands = 0;
};

void expect_by_the_book(const SimModel& f, const SimState& s, RateChecks& counts) {
  const Book book(f, s);
  for (const auto& [slot, place] : book.places()) {
    const double rate = book.rate(slot);
    // Neighbours' factors are summed in whole billionths, the rest is exact.
    const double near = f.spec.neighbour_weight > 0 ? 1e-7 * rate : 4e-16 * rate;
    ASSERT_NEAR(s.rate[slot], rate, near) << "slot " << slot << " at " << s.head->now_us;
    ASSERT_EQ(s.traffic[slot], book.traffic(slot, place));
    ++counts.rates;
    counts.congested += rate < s.isolated_rate[slot] && s.traffic[slot] > 0;
    counts.slowed += rate < s.isolated_rate[slot] && s.traffic[slot] == 0;
    counts.core += place.tier == Tier::kCore;
    counts.islands += place.tier == Tier::kIsland && place.gpus > 1;
  }
  const int64_t* load = s.link_load;
  for (int32_t m = 0; m < f.spec.num_nodes; ++m) ASSERT_EQ(*load++, book.load_of('n', m));
  for (int32_t r = 0; r < f.spec.num_racks; ++r) ASSERT_EQ(*load++, book.load_of('r', r));
  for (int32_t p = 0; p < f.spec.num_pods; ++p) ASSERT_EQ(*load++, book.load_of('p', p));
}

void play_by_the_book(const ForkableScene& scene, const Policy& policy, RateChecks& counts) {
  SceneRunner runner(scene.scene(), policy);
  while (runner.step()) {
    SimState& s = runner.world().state();
    refresh_rates(scene.scene().fixed(), s);
    expect_by_the_book(scene.scene().fixed(), s, counts);
    if (::testing::Test::HasFatalFailure()) return;
  }
  ASSERT_FALSE(runner.failed());
}

class RatesReference : public ::testing::TestWithParam<std::string> {};

TEST_P(RatesReference, MatchTheRules) {
  const auto policy = make_policy(GetParam());
  RateChecks counts;
  for (uint64_t trial = 0; trial < 40; ++trial) {
    const bool models = trial % 4 != 3;
    const ForkableWorld told =
        forkable_world(Rng(81).split(trial), {.overload = trial % 2 == 1 || !models,
                                              .models = models,
                                              .slowdowns = trial % 8 >= 4,
                                              .world = {}});
    play_by_the_book(ForkableScene(told), *policy, counts);
    ASSERT_FALSE(HasFatalFailure()) << "trial " << trial;
  }
  EXPECT_GT(counts.rates, 5000);
  EXPECT_GT(counts.congested, 200);
  EXPECT_GT(counts.slowed, 200);
  EXPECT_GT(counts.core, 100);
  EXPECT_GT(counts.islands, 100);
}

INSTANTIATE_TEST_SUITE_P(Policies, RatesReference,
                         ::testing::Values("greedy", "las placement=consolidate"),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find(' '));
                         });

// Gives jobs fewer or more tasks of their first group than requested, if they can run so.
struct ResizingPolicy final : Policy {
  mutable int resized = 0;

  InformationLevel level() const override { return InformationLevel::kBlind; }
  void decide(const View& view, Memory&, Draft& draft) const override {
    Piece* pieces = draft.scratch();
    for (int32_t slot = view.queue_head(); slot != kNone;) {
      const int32_t next = view.queue_next(slot);
      if (const int32_t n = place(view, PlacementRule::kFirstFit, slot, pieces); n > 0) {
        Piece& first = pieces[0];
        const Piece asked = first;
        if (view.shaped(slot) && first.group == 0) {
          first.tasks += view.serial(slot) % 2 == 0 ? 1 : -1;
          first.gpus = asked.gpus / asked.tasks * first.tasks;
        }
        const bool started = draft.start(slot, pieces, n);
        resized += started && first != asked;
        first = asked;
        if (!started) draft.start(slot, pieces, n);
      }
      slot = next;
    }
  }
};

TEST(ResizedJobs, MatchTheReference) {
  RateChecks counts;
  int resized = 0;
  for (uint64_t trial = 0; trial < 24; ++trial) {
    const bool models = trial % 2 == 0;
    const ForkableScene scene(
        forkable_world(Rng(82).split(trial), {.overload = !models, .models = models, .world = {}}));
    const ResizingPolicy policy;
    play_by_the_book(scene, policy, counts);
    ASSERT_FALSE(HasFatalFailure()) << "trial " << trial;
    resized += policy.resized;
  }
  EXPECT_GT(resized, 10);
}

}  // namespace
}  // namespace yard::testing
