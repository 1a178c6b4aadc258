// Closed forms against values computed by hand and their limits. Fits must recover the parameters
// which generated the data.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "env/base/core/rng.h"
#include "env/sim/speed/all_reduce.h"
#include "env/sim/speed/contention.h"
#include "env/sim/speed/optimus.h"
#include "env/sim/speed/pollux.h"

namespace yard {
namespace {

constexpr Link kSlow = {10e-6, 1e9};
constexpr Link kFast = {1e-6, 100e9};

TEST(AllReduce, MatchesHandComputation) {
  // 4 members, 8 MB: 6 steps of 10 us, and 12 MB at 1 GB/s.
  EXPECT_DOUBLE_EQ(ring_all_reduce_s(4, 8e6, kSlow), 60e-6 + 12e-3);
  // 5 members: 3 levels up and 3 down, each with the whole message.
  EXPECT_DOUBLE_EQ(tree_all_reduce_s(5, 8e6, kSlow), 6 * (10e-6 + 8e-3));
  EXPECT_DOUBLE_EQ(tree_all_reduce_s(4, 8e6, kSlow), 4 * (10e-6 + 8e-3));
  // 2 nodes of 4: 6 us and 12 MB at 100 GB/s inside; 20 us and 8 MB at 1 GB/s between.
  EXPECT_DOUBLE_EQ(two_level_all_reduce_s(2, 4, 8e6, kFast, kSlow), 6e-6 + 0.12e-3 + 20e-6 + 8e-3);
  EXPECT_DOUBLE_EQ(ring_bytes_per_link(4, 8e6), 12e6);
}

TEST(AllReduce, Limits) {
  EXPECT_EQ(ring_all_reduce_s(1, 8e6, kSlow), 0);
  EXPECT_EQ(tree_all_reduce_s(1, 8e6, kSlow), 0);
  EXPECT_EQ(two_level_all_reduce_s(1, 1, 8e6, kFast, kSlow), 0);
  EXPECT_EQ(two_level_all_reduce_s(1, 8, 8e6, kFast, kSlow), ring_all_reduce_s(8, 8e6, kFast));
  EXPECT_EQ(two_level_all_reduce_s(8, 1, 8e6, kFast, kSlow), ring_all_reduce_s(8, 8e6, kSlow));
  for (const Pattern pattern : {Pattern::kNone, Pattern::kRing, Pattern::kTree,
                                Pattern::kHierarchical, Pattern::kParameterServer}) {
    double before = INFINITY;
    for (double bytes_per_s = 1e8; bytes_per_s < 1e12; bytes_per_s *= 2) {
      const double s = gradient_exchange_s(pattern, 4, 8, 1e8, kFast, {10e-6, bytes_per_s});
      EXPECT_LT(s, before) << "more bandwidth, less time";
      before = s;
    }
    EXPECT_LT(gradient_exchange_s(pattern, 4, 8, 1e8, kFast, {10e-6, 1e9}),
              gradient_exchange_s(pattern, 4, 8, 1e8, kFast, {20e-6, 1e9}));
  }
}

TEST(AllReduce, PatternsDiffer) {
  // Four workers per node, two nodes: each worker sends half of its gradients across, and back.
  EXPECT_DOUBLE_EQ(gradient_exchange_s(Pattern::kParameterServer, 2, 4, 8e6, kFast, kSlow),
                   20e-6 + 4 * 8e-3);
  EXPECT_DOUBLE_EQ(gradient_exchange_s(Pattern::kRing, 2, 4, 8e6, kFast, kSlow),
                   ring_all_reduce_s(8, 8e6, kSlow));
  EXPECT_DOUBLE_EQ(gradient_exchange_s(Pattern::kHierarchical, 2, 4, 8e6, kFast, kSlow),
                   two_level_all_reduce_s(2, 4, 8e6, kFast, kSlow));
}

TEST(AllReduce, FitRecoversTheLinks) {
  std::vector<MeasuredAllReduce> measured;
  for (const double bytes : {2e3, 1e5, 1e6, 6e7}) {
    for (const int32_t gpus : {2, 4, 8}) {
      measured.push_back({"node", gpus, gpus, bytes, ring_all_reduce_s(gpus, bytes, kFast)});
      measured.push_back(
          {"node", 2 * gpus, gpus, bytes, two_level_all_reduce_s(2, gpus, bytes, kFast, kSlow)});
    }
  }
  const Link inside = fit_link_inside_node(measured);
  EXPECT_NEAR(inside.latency_s, kFast.latency_s, 1e-9 * kFast.latency_s);
  EXPECT_NEAR(inside.bytes_per_s, kFast.bytes_per_s, 1e-9 * kFast.bytes_per_s);
  const Link across = fit_link_between_nodes(measured, inside);
  EXPECT_NEAR(across.latency_s, kSlow.latency_s, 1e-6 * kSlow.latency_s);
  EXPECT_NEAR(across.bytes_per_s, kSlow.bytes_per_s, 1e-6 * kSlow.bytes_per_s);
}

constexpr PolluxForm kForm = {0.1, 0.01, 0.05, 0.002, 0.2, 0.005, 2};

TEST(Pollux, MatchesHandComputation) {
  EXPECT_DOUBLE_EQ(kForm.compute_s(20), 0.3);
  EXPECT_EQ(kForm.sync_s(1, 1), 0) << "a single GPU exchanges nothing";
  EXPECT_DOUBLE_EQ(kForm.sync_s(4, 1), 0.054);
  EXPECT_DOUBLE_EQ(kForm.sync_s(42, 8), 0.4);
  EXPECT_DOUBLE_EQ(kForm.iteration_s(1, 1, 20), 0.3);
  EXPECT_DOUBLE_EQ(kForm.iteration_s(42, 8, 20), 0.5);  // 3, 4, 5
  PolluxForm alone = kForm;
  alone.gamma = 1;
  EXPECT_DOUBLE_EQ(alone.iteration_s(42, 8, 20), 0.7) << "nothing overlaps";
  alone.gamma = 10;
  EXPECT_NEAR(alone.iteration_s(42, 8, 20), 0.4, 0.003) << "nearly all of it overlaps";
}

TEST(Pollux, FitRecoversTheForm) {
  std::vector<MeasuredRun> runs;
  for (const double batch : {8, 16, 32, 64}) {
    for (const std::vector<int32_t>& placement :
         std::vector<std::vector<int32_t>>{{1}, {2}, {4}, {1, 1}, {4, 4}, {4, 4, 4, 4}}) {
      MeasuredRun run{"t4", placement, batch, 0, -1};
      run.iteration_s = kForm.iteration_s(run.gpus(), run.nodes(), batch);
      runs.push_back(run);
    }
  }
  const PolluxForm fit = fit_pollux(runs);
  EXPECT_NEAR(fit.gamma, kForm.gamma, 0.02);
  for (const MeasuredRun& run : runs) {
    EXPECT_NEAR(fit.iteration_s(run.gpus(), run.nodes(), run.local_batch) / run.iteration_s, 1,
                2e-4);
  }
  EXPECT_NEAR(fit.iteration_s(32, 8, 24) / kForm.iteration_s(32, 8, 24), 1, 2e-3);
}

TEST(Pollux, OneRunIsEnoughForAFit) {
  const std::vector<MeasuredRun> runs = {{"t4", {1}, 1, 0.5, -1}};
  EXPECT_NEAR(fit_pollux(runs).iteration_s(1, 1, 1), 0.5, 1e-3);
}

TEST(Optimus, MatchesHandComputation) {
  const OptimusSync sync = {{0.01, 0.1, 0.05, 0.02, 0.03}, 100};
  // 0.01 100 / 4 + 0.1 + 0.05 4 / 2 + 0.02 4 + 0.03 2
  EXPECT_DOUBLE_EQ(sync.steps_per_s(2, 4), 1 / 0.59);
  const OptimusAsync async = {{0.5, 0.1, 0.2, 0.05}};
  // 4 / (0.5 + 0.1 4 / 2 + 0.2 4 + 0.05 2)
  EXPECT_DOUBLE_EQ(async.steps_per_s(2, 4), 4 / 1.6);
}

TEST(Optimus, FitRecoversTheCoefficients) {
  const OptimusSync sync = {{0.01, 0.1, 0.05, 0, 0.03}, 100};
  const OptimusAsync async = {{0.5, 0, 0.2, 0.05}};
  std::vector<MeasuredOptimusSpeed> sync_runs, async_runs;
  for (int32_t p = 1; p <= 6; ++p) {
    for (int32_t w = 1; w <= 6; ++w) {
      sync_runs.push_back({p, w, sync.steps_per_s(p, w)});
      async_runs.push_back({p, w, async.steps_per_s(p, w)});
    }
  }
  const OptimusSync found = fit_optimus_sync(sync_runs, 100);
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(found.coefficient[i], sync.coefficient[i], 1e-9);
  const OptimusAsync async_found = fit_optimus_async(async_runs);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(async_found.coefficient[i], async.coefficient[i], 1e-9);
  }
}

// No other choice within the bounds is better. Checked at random points around the fit.
TEST(Optimus, FitIsTheBestWithoutNegativeCoefficients) {
  Rng rng(7);
  std::vector<MeasuredOptimusSpeed> runs;
  for (int32_t w = 1; w <= 8; ++w) {
    runs.push_back({1 + w % 3, w, 0.5 * w * (0.7 + 0.6 * rng.uniform())});
  }
  const auto error = [&](const OptimusSync& form) {
    double sum = 0;
    for (const MeasuredOptimusSpeed& run : runs) {
      sum += std::pow(run.steps_per_s / form.steps_per_s(run.servers, run.workers) - 1, 2);
    }
    return sum;
  };
  const OptimusSync best = fit_optimus_sync(runs, 64);
  for (const double c : best.coefficient) EXPECT_GE(c, 0);
  for (int trial = 0; trial < 2000; ++trial) {
    OptimusSync other = best;
    for (double& c : other.coefficient) {
      c = std::max(0.0, c + 0.02 * (rng.uniform() - 0.5) * (trial % 2 == 0 ? 1 : 0.01));
    }
    EXPECT_GE(error(other), error(best) * (1 - 1e-9));
  }
}

// --- contention ---------------------------------------------------------------------------------

TEST(Contention, MatchesHandComputation) {
  EXPECT_EQ(exchange_slowdown(50, 100), 1);
  EXPECT_EQ(exchange_slowdown(100, 100), 1);
  EXPECT_EQ(exchange_slowdown(300, 100), 3);
  EXPECT_EQ(exchange_slowdown(300, 0), 1) << "no limit is known";
  EXPECT_EQ(contention_throughput_factor(0.5, 1), 1);
  EXPECT_EQ(contention_throughput_factor(0.5, 3), 0.5);
  EXPECT_EQ(contention_throughput_factor(0, 100), 1) << "a job without exchange is not slowed";
  EXPECT_EQ(overload_throughput_factor(4, 8), 1);
  EXPECT_EQ(overload_throughput_factor(16, 8), 0.5);
  EXPECT_EQ(overload_throughput_factor(16, 0), 1);
}

TEST(Contention, LineIsTangentAndStaysClose) {
  for (const double gamma : {1.0, 1.5, 3.0, 10.0}) {
    PolluxForm form = kForm;
    form.gamma = gamma;
    for (const double sync_s : {0.02, 0.1, 0.5}) {
      const auto form_s = [&](double c) { return form.combined_s(0.3, c * sync_s); };
      const double share = form_s(2) / form_s(1) - 1;
      for (double c = 1; c <= 8; c += 0.25) {
        const double truth = form_s(1) / form_s(c), line = contention_throughput_factor(share, c);
        if (gamma == 1 || c == 1 || c == 2) {
          EXPECT_NEAR(line, truth, 1e-12);
        } else if (c < 2) {
          EXPECT_LE(line, truth + 1e-12);
          EXPECT_GE(line, 0.8 * truth);
        } else {
          EXPECT_GE(line, truth - 1e-12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace yard
