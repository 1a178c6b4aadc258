// All schedules of up to four jobs on a tiny cluster, by brute force: what is optimal reaches the
// best of them, and nothing beats it. Times are whole seconds and nothing costs, so a schedule is a
// choice of who runs in each second.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// The least total JCT in seconds. GPUs are counted, not placed: on several nodes a bound, on one
// exact.
class BestSchedule {
 public:
  BestSchedule(const std::vector<JobLine>& jobs, int32_t gpus) : jobs_(jobs), gpus_(gpus) {}

  int total() {
    State start{};
    for (size_t j = 0; j < jobs_.size(); ++j) start.left[j] = static_cast<int8_t>(jobs_[j].run_s);
    return from(start);
  }

 private:
  struct State {
    int8_t at;
    std::array<int8_t, 4> left;
    auto operator<=>(const State&) const = default;
  };

  // Every job in the system pays one for each second.
  int from(const State& state) {
    bool done = true;
    int present = 0;
    for (size_t j = 0; j < jobs_.size(); ++j) {
      done = done && state.left[j] == 0;
      present += jobs_[j].submit_s <= state.at && state.left[j] > 0;
    }
    if (done) return 0;
    const auto known = best_.find(state);
    if (known != best_.end()) return known->second;
    int best = 1 << 20;
    for (unsigned runs = 0; runs < 1u << jobs_.size(); ++runs) {
      State next = state;
      ++next.at;
      int used = 0;
      bool possible = true;
      for (size_t j = 0; j < jobs_.size(); ++j) {
        if ((runs >> j & 1) == 0) continue;
        possible = possible && jobs_[j].submit_s <= state.at && state.left[j] > 0;
        used += jobs_[j].gpus;
        --next.left[j];
      }
      // Nothing is lost by doing something, once somebody is there.
      if (!possible || used > gpus_ || (runs == 0 && present > 0)) continue;
      best = std::min(best, present + from(next));
    }
    return best_[state] = best;
  }

  const std::vector<JobLine> jobs_;
  int32_t gpus_;
  std::map<State, int> best_;
};

std::vector<JobLine> tiny(Rng rng, uint32_t max_gpus, bool together) {
  std::vector<JobLine> jobs(1 + rng.below(4));
  double at = 0;
  for (JobLine& job : jobs) {
    job = {at, static_cast<int32_t>(1 + rng.below(max_gpus)), 1.0 + rng.below(6)};
    if (!together) at += rng.below(4);
  }
  return jobs;
}

int total_s(const std::string& cluster, const std::vector<JobLine>& jobs, const Policy& policy) {
  const Scene scene(cluster, jobs_of(jobs), no_costs());
  Player player(scene, policy);
  player.play();
  const int64_t total_us = total_jct_us(scene, player.jobs());
  EXPECT_EQ(total_us % kSecond, 0) << "the search knows whole seconds only";
  return static_cast<int>(total_us / kSecond);
}

constexpr int kCases = 150;

TEST(BruteForce, KnowsAnOptimumWorkedOutByHand) {
  // 4 s, then 1 s at 1: stop the long one. JCT 5 + 1.
  EXPECT_EQ(BestSchedule({{0, 1, 4}, {1, 1, 1}}, 1).total(), 6);
  // A gang of two and two singles on two GPUs: singles first. JCT 1 + 1 + 3.
  EXPECT_EQ(BestSchedule({{0, 2, 2}, {0, 1, 1}, {0, 1, 1}}, 2).total(), 5);
}

TEST(BruteForce, SrtfIsOptimalOnOneGpu) {
  const auto srtf = make_policy("srtf");
  for (uint64_t i = 0; i < kCases; ++i) {
    const auto jobs = tiny(Rng(31).split(i), 1, false);
    ASSERT_EQ(total_s("1x1", jobs, *srtf), BestSchedule(jobs, 1).total()) << "case " << i;
  }
}

TEST(BruteForce, SjfIsOptimalOnOneGpuForWhoComeTogether) {
  const auto sjf = make_policy("sjf");
  for (uint64_t i = 0; i < kCases; ++i) {
    const auto jobs = tiny(Rng(32).split(i), 1, true);
    ASSERT_EQ(total_s("1x1", jobs, *sjf), BestSchedule(jobs, 1).total()) << "case " << i;
  }
}

TEST(BruteForce, NoPolicyBeatsTheBestSchedule) {
  int worse = 0;
  for (const std::string& name : PolicyRegistry::names()) {
    SCOPED_TRACE(name);
    // Limits that whole seconds reach, whatever the GPUs.
    const auto policy = make_policy(name == "las" ? "las limit_1_gpu_s=12 limit_2_gpu_s=24" : name);
    for (const char* cluster : {"1x1", "1x3", "2x2"}) {
      const int32_t gpus = load_cluster(cluster).total_gpus();
      for (uint64_t i = 0; i < kCases / 5; ++i) {
        const auto jobs = tiny(Rng(33).split(i), static_cast<uint32_t>(gpus), false);
        const int total = total_s(cluster, jobs, *policy), best = BestSchedule(jobs, gpus).total();
        ASSERT_GE(total, best) << cluster << ", case " << i;
        worse += total > best;
      }
    }
  }
  EXPECT_GT(worse, 0) << "a bound that everybody reaches says nothing";
}

}  // namespace
}  // namespace yard::testing
