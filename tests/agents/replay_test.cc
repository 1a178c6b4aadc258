// Checks which samples a replay keeps, and the n-step returns of drawn samples by a plain loop.
#include "agents/learners/replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "env/base/core/error.h"
#include "tests/agents/problems.h"

namespace yard::testing {
namespace {

// Samples of two worlds in turn. Every other step takes no time, rewards are numbered, and episodes
// end in both ways.
Rollout two_world_rollout(int each) {
  const Table table = {.transitions = {{{0, 0, 1}, {0, 0, 1}}}};
  TableWorlds worlds(table, {.worlds = 2});
  worlds.reset();
  Rollout r(worlds.shape());
  for (int k = 0; k < each; ++k) {
    r.add_observations(worlds, std::vector<int32_t>{0, 1});
    for (int n = 0; n < 2; ++n) {
      r.action.push_back(k % 2);
      r.log_prob.push_back(-0.5F);
      r.behaviour_log_prob.push_back(-0.25F);
      r.value.push_back(static_cast<float>(k));
      r.reward.push_back(static_cast<float>(100 * n + k));
      r.dt_s.push_back(k % 2 == 0 ? 0.0F : 2.0F + static_cast<float>(n));
      const Ending ending = n == 1 || k % 10 < 9 ? Ending::kNone
                            : k % 20 < 10        ? Ending::kTerminated
                                                 : Ending::kTruncated;
      r.ending.push_back(ending);
      r.final_value.push_back(ending == Ending::kTruncated ? 7.0F : 0.0F);
    }
  }
  return r;
}

// Checks that the samples [from, to) of `a` equal all samples of `b`.
void expect_same(const Rollout& a, int64_t from, int64_t to, const Rollout& b) {
  ASSERT_EQ(to - from, b.size());
  std::vector<int64_t> of_a, of_b;
  for (int64_t i = from; i < to; ++i) {
    of_a.push_back(i);
    of_b.push_back(i - from);
    const auto x = static_cast<size_t>(i), y = static_cast<size_t>(i - from);
    EXPECT_EQ(a.reward[x], b.reward[y]);
    EXPECT_EQ(a.world[x], b.world[y]);
    EXPECT_EQ(a.ending[x], b.ending[y]);
    EXPECT_EQ(a.final_value[x], b.final_value[y]);
    EXPECT_EQ(a.at_s[x], b.at_s[y]);
  }
  if (of_b.empty()) return;
  const RaggedBatch seen = a.batch(of_a), kept = b.batch(of_b);
  EXPECT_TRUE(torch::equal(seen.jobs, kept.jobs));
  EXPECT_TRUE(torch::equal(seen.cluster, kept.cluster));
  EXPECT_TRUE(torch::equal(seen.prior, kept.prior));
  EXPECT_TRUE(torch::equal(seen.offset, kept.offset));
}

TEST(Rollout, KeepsTheFirstOrLastSamples) {
  const Rollout whole = two_world_rollout(20);
  for (const int64_t n : {0, 1, 13, 39, 40, 50}) {
    Rollout last = whole, first = whole;
    last.keep_last(n);
    expect_same(whole, std::max<int64_t>(0, 40 - n), 40, last);
    first.keep_first(n);
    expect_same(whole, 0, std::min<int64_t>(n, 40), first);
  }
}

TEST(Rollout, RoundTripsThroughBytes) {
  for (const int64_t n : {0, 1, 40}) {
    Rollout whole = two_world_rollout(20);
    whole.keep_last(n);
    Rollout read = two_world_rollout(3);
    read.restore(whole.save(), "replay");
    expect_same(whole, 0, n, read);
    EXPECT_EQ(read.save(), whole.save());
  }
}

TEST(Rollout, RejectsCorruptBytes) {
  const std::string saved = two_world_rollout(4).save();
  for (const std::string& wrong :
       {std::string(), saved.substr(0, saved.size() - 1), saved + "x", saved.substr(8),
        std::string(saved.size(), '\xff'), std::string(saved.size(), '\1')}) {
    Rollout r = two_world_rollout(2);
    EXPECT_THROW(r.restore(wrong, "replay"), InputError);
    expect_same(two_world_rollout(2), 0, 4, r);
  }
  Rollout other({2, 3, 1});
  EXPECT_THROW(other.restore(saved, "replay"), InputError);
}

// The n-step return by its definition, for step `k` of `each` in one world.
NStepReturn reference_return(const Rollout& r, int world, int k, int each, int n_step,
                             double horizon_s) {
  NStepReturn out{.discount = 1};
  for (int passed = 0; passed < n_step; ++k) {
    const auto i = static_cast<size_t>(2 * k + world);
    if (r.ending[i] == Ending::kTruncated) break;
    if (k + 1 == each && r.ending[i] == Ending::kNone) break;
    out.reward += out.discount * 0.5 * r.reward[i];
    out.discount *= std::exp(-static_cast<double>(r.dt_s[i]) / horizon_s);
    if (r.ending[i] == Ending::kTerminated) return {out.reward, 0, -1};
    passed += r.dt_s[i] > 0;
  }
  out.next = 2 * k + world;
  return out;
}

TEST(Replay, DrawsSamplesWithTheirNStepReturns) {
  constexpr int kEach = 31;
  constexpr double kHorizon_s = 10;
  Rollout rollout = two_world_rollout(kEach);
  const auto ranks = single_process_communicator();
  const Table table = {.transitions = {{{0, 0, 1}, {0, 0, 1}}}};
  const auto network = make_network("job-scorer", settings_of({"hidden=4"}),
                                    TableWorlds(table, {.worlds = 1}).shape(), 1);
  ThreadPool threads{1};
  for (const int n_step : {1, 3, 50}) {
    ReplayConfig config;
    config.batch_size = 2000;
    config.n_step = n_step;
    const ReplayBatch drawn = sample_replay(
        {rollout, {}, 2, 1, kHorizon_s, 0.5, *ranks, *network, *network, threads, Rng{5}}, config);
    ASSERT_EQ(drawn.sample.size(), 2000u);
    std::map<int64_t, int> times;
    std::vector<float> values;
    for (const int64_t next : value_bootstrap_samples(drawn))
      values.push_back(static_cast<float>(next));
    const Returns returns = n_step_targets(drawn, values, rollout.size());
    for (size_t d = 0; d < drawn.sample.size(); ++d) {
      const int64_t sample = drawn.sample[d];
      ++times[sample];
      const NStepReturn& got = drawn.n_step_return[d];
      const NStepReturn expected =
          reference_return(rollout, static_cast<int>(sample % 2), static_cast<int>(sample / 2),
                           kEach, n_step, kHorizon_s);
      EXPECT_NEAR(got.reward, expected.reward, 1e-9 * std::abs(expected.reward));
      EXPECT_NEAR(got.discount, expected.discount, 1e-12);
      EXPECT_EQ(got.next, expected.next);
      const double bootstrap = got.next >= 0 ? static_cast<double>(got.next) : 0;
      EXPECT_NEAR(returns.target[static_cast<size_t>(sample)],
                  got.reward + got.discount * bootstrap, 1e-3);
    }
    // 59 samples can be drawn: all but the newest of each world and the last of the truncated
    // episode. Each is drawn 2,000 / 59 = 33.9 times, within five standard deviations.
    EXPECT_EQ(times.size(), 59u);
    EXPECT_EQ(times.count(60) + times.count(61) + times.count(38), 0u);
    for (const auto& [sample, n] : times) EXPECT_NEAR(n, 33.9, 29) << sample;
  }
}

TEST(Replay, DrawsNothingFromTooFewSteps) {
  Rollout rollout = two_world_rollout(1);
  const auto ranks = single_process_communicator();
  const auto network = make_network("job-scorer", settings_of({"hidden=4"}), {2, 2, 1}, 1);
  ThreadPool threads{1};
  const Experience e{rollout, {}, 2, 1, 10, 1, *ranks, *network, *network, threads, Rng{5}};
  EXPECT_TRUE(sample_replay(e, {}).sample.empty());
}

}  // namespace
}  // namespace yard::testing
