// The model of how placement, co-located jobs and links slow exchanging jobs. Learned from running
// jobs, it approaches the rules, and its variance is high for unseen cases.
#include "env/scheduling/exchange_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "env/trace/generators/rings.h"
#include "policies/memory.h"
#include "policies/policy.h"
#include "tests/support/exchange_scene.h"

namespace yard::testing {
namespace {

using Learned = ExchangeInterferenceTerms::Learned;

// Starts jobs which fit on nodes in order, each with a different exchange, and records the model's
// errors on running jobs.
class Watching final : public Policy {
 public:
  InformationLevel level() const override { return InformationLevel::kBlind; }
  size_t memory_bytes(const View& view) const override { return Learned::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    const Learned learned(view, bump);
    learned.begin(ExchangeInterferenceTerms::initial_weights());
    learned.on_events(view);
    while (view.num_waiting() > 0) {
      const int32_t slot = view.queue_head();
      const int32_t n = place(view, PlacementRule::kFirstFit, slot, draft.scratch());
      if (n == 0) break;
      const auto serial = static_cast<uint32_t>(view.serial(slot));
      AllReduceSettings exchange{static_cast<Pattern>(serial % kAllReduces),
                                 static_cast<uint8_t>(serial / 5 % kLinkPriorities)};
      if (!view.may_choose_all_reduce(slot)) exchange = {};
      ASSERT_TRUE(draft.start(slot, draft.scratch(), n, exchange));
    }
    const ThroughputModel throughput_model(view);
    const ExchangeInterferenceTerms terms(view, throughput_model);
    LeastSquares<ExchangeInterferenceTerms::kTerms> untaught{};
    untaught.begin(ExchangeInterferenceTerms::initial_weights(), 1);
    for (int32_t i = 0; i < view.num_holders(); ++i) {
      const int32_t slot = view.holder_slot(i);
      if (view.phase(slot) != Phase::kRunning) continue;
      const auto x = ExchangeInterferenceTerms::terms(terms.variables(slot));
      const auto error = [&](double time) {
        return std::abs(std::log(std::max(time, 0.1) * throughput_model.current_throughput(slot)));
      };
      errors_.push_back(error(learned.predicted_time_per_work(x)));
      untaught_.push_back(error(untaught.predict(x)));
      doubts_.push_back(learned.variance(x));
      EXPECT_GE(doubts_.back(), 0);
    }
    learned.scan(view, [&](int32_t slot) {
      return ExchangeInterferenceTerms::terms(terms.variables(slot));
    });
  }

  static double mean(const std::vector<double>& of, size_t from, size_t to) {
    return std::accumulate(of.begin() + static_cast<int64_t>(from),
                           of.begin() + static_cast<int64_t>(to), 0.0) /
           static_cast<double>(to - from);
  }

  mutable std::vector<double> errors_, untaught_, doubts_;
};

TEST(ExchangeInterferenceTerms, ApproximateTheSimulatedExchange) {
  const ExchangeScene scene(load_cluster("rings-8"),
                            generate_all_reduce_jobs({}, {.seed = 3, .jobs = 300}));
  const Watching policy;
  SceneRunner runner(scene.scene(), policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  const size_t all = policy.errors_.size();
  ASSERT_GT(all, 1000u);
  const double last = Watching::mean(policy.errors_, all / 2, all);
  EXPECT_LT(last, Watching::mean(policy.untaught_, all / 2, all) / 3) << "of the logarithm";
  EXPECT_LT(last, 0.1) << "interactions between models depend on four kinds only";
  EXPECT_LT(Watching::mean(policy.doubts_, all / 2, all),
            Watching::mean(policy.doubts_, 0, all / 50) / 4);
}

// Two jobs with two GPUs each, spread over the same two nodes; the other job has higher priority.
TEST(ExchangeInterferenceTerms, IncludeLinkPriorities) {
  std::vector<Job> jobs = jobs_of({{0, 2, 1000}, {0, 2, 1000}});
  for (Job& job : jobs) job.model = "large", job.pattern = Pattern::kRing;
  const ExchangeScene scene(two_racks(), jobs);
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  ASSERT_TRUE(world.advance(scene.scene().workload().truth()));
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  const std::vector<Piece> apart = {{0, 1}, {1, 1}};
  Draft draft(scene.fixed(), world.state());
  const int32_t first = view.queue_head(), second = view.queue_next(first);
  ASSERT_TRUE(draft.start(first, apart.data(), 2, {Pattern::kRing, 2}));
  const ThroughputModel throughput_model(view);
  const ExchangeInterferenceTerms terms(view, throughput_model);
  const auto behind = terms.variables(second, apart, {Pattern::kTree, 1});
  EXPECT_TRUE(behind.spread);
  EXPECT_EQ(behind.colocated_share, 0.5);
  EXPECT_GT(behind.higher_load, 0);
  EXPECT_EQ(behind.higher_load, behind.link);
  const auto before = terms.variables(second, apart, {Pattern::kTree, 3});
  EXPECT_EQ(before.higher_load, 0);
  EXPECT_EQ(before.link, behind.link);
  EXPECT_GE(behind.excess_load, before.excess_load);
  EXPECT_EQ(terms.jobs_on_links(second, apart), std::vector{first});
  EXPECT_EQ(terms.variables(first).link, 0) << "no other job is there";
  const auto x = ExchangeInterferenceTerms::terms(behind);
  EXPECT_EQ(x[ExchangeInterferenceTerms::kTree], behind.time);
  EXPECT_EQ(x[ExchangeInterferenceTerms::kTwoLevels], 0);
}

}  // namespace
}  // namespace yard::testing
