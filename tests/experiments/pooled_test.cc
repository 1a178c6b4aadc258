// Results pooled over cells, against sums computed by hand and samples with a known truth.
#include "experiments/stats/pooled.h"

#include <gtest/gtest.h>

#include <cmath>

#include "env/base/core/rng.h"

namespace yard {
namespace {

PooledCell flat(int window, double ours, double theirs, double bound, size_t blocks = 6) {
  PooledCell cell;
  cell.window = window;
  cell.blocks = static_cast<int>(blocks);
  cell.sums = {{std::vector<double>(blocks, ours)}, std::vector<double>(blocks, theirs)};
  if (bound > 0) cell.bound = std::vector<double>(blocks, bound);
  return cell;
}

TEST(Pooled, ConstantCellsHaveExactIntervals) {
  const PooledCell half = flat(0, 9, 10, 8.1);
  const PooledResult pooled = pool({half, half}, Rng(1));
  EXPECT_NEAR(pooled.oracle_gap_closed.value, 0.5, 1e-12);
  EXPECT_NEAR(pooled.oracle_gap_closed.interval.lo, 0.5, 1e-12);
  EXPECT_NEAR(pooled.oracle_gap_closed.interval.hi, 0.5, 1e-12);
  EXPECT_NEAR(pooled.ratio.value, 0.9, 1e-12);
  EXPECT_NEAR(pooled.ratio.interval.lo, 0.9, 1e-12);
  EXPECT_NEAR(pooled.iqm.value, 0.9, 1e-12);
  EXPECT_EQ(pooled.improvement.value, 1);
}

TEST(Pooled, LossesCountAsMuchAsGains) {
  // One cell gains ln 0.9 and one loses it; the oracle gains 2 ln 0.81.
  const PooledResult pooled = pool({flat(0, 9, 10, 8.1), flat(1, 10 / 0.9, 10, 8.1)}, Rng(1));
  EXPECT_NEAR(pooled.oracle_gap_closed.value, 0, 1e-12);
  EXPECT_NEAR(pooled.ratio.value, 1, 1e-12);
  EXPECT_EQ(pooled.improvement.value, 0.5);
  EXPECT_EQ(pool({flat(0, 10, 10, 8)}, Rng(1)).improvement.value, 0.5) << "a tie counts half";
}

TEST(Pooled, GapClosedIsUndefinedWithoutHeadroomOrOracle) {
  EXPECT_TRUE(std::isnan(pool({flat(0, 9, 10, 11)}, Rng(1)).oracle_gap_closed.value));
  EXPECT_TRUE(
      std::isnan(pool({flat(0, 9, 10, 8), flat(1, 9, 10, 0)}, Rng(1)).oracle_gap_closed.value));
}

// With a headroom of 0.4 % the oracle gap closed is noise divided by noise.
TEST(Pooled, GapClosedIsUndefinedForTinyHeadroom) {
  EXPECT_TRUE(std::isnan(pool({flat(0, 9.98, 10, 9.96)}, Rng(1)).oracle_gap_closed.value));
  EXPECT_NEAR(pool({flat(0, 9.97, 10, 9.94)}, Rng(1)).oracle_gap_closed.value, 0.5, 0.01);
}

TEST(Pooled, InterquartileMeanOmitsTheExtremes) {
  std::vector<PooledCell> cells;
  for (const double ours : {1.0, 9.0, 10.0, 100.0}) {
    cells.push_back(flat(static_cast<int>(cells.size()), ours, 10, 1));
  }
  EXPECT_NEAR(pool(cells, Rng(1)).iqm.value, 0.95, 1e-12);
  cells.pop_back();
  // Half of three cells is 1.5: the middle one and a quarter of each neighbour.
  EXPECT_NEAR(pool(cells, Rng(1)).iqm.value, (0.25 * 0.1 + 0.9 + 0.25 * 1.0) / 1.5, 1e-12);
}

TEST(Pooled, IntervalsRespectTheirBounds) {
  // One of two blocks is ten times better: Student's t interval of two blocks is wide.
  PooledCell cell = flat(0, 1, 1, 0, 2);
  cell.sums.ours = {{0.1, 1}};
  const PooledResult pooled = pool({cell}, Rng(1));
  EXPECT_GT(pooled.iqm.interval.lo, 0);
  EXPECT_LT(pooled.iqm.interval.lo, pooled.iqm.value);
  EXPECT_GE(pooled.improvement.interval.lo, 0);
  EXPECT_LE(pooled.improvement.interval.hi, 1);
}

TEST(Pooled, OneBlockGivesNoInterval) {
  const PooledResult pooled = pool({flat(0, 9, 10, 8), flat(1, 9, 10, 8, 1)}, Rng(1));
  EXPECT_NEAR(pooled.ratio.value, 0.9, 1e-12);
  EXPECT_TRUE(std::isnan(pooled.ratio.interval.lo));
}

// Cells of one window share its block draws: four of them give no narrower interval than one. Cells
// of four windows do.
TEST(Pooled, CellsOfOneWindowShareItsDraws) {
  const auto cells = [](bool one_window) {
    std::vector<PooledCell> out;
    for (int c = 0; c < 4; ++c) {
      PooledCell cell = flat(one_window ? 0 : c, 0, 10, 5, 12);
      for (size_t b = 0; b < 12; ++b) cell.sums.ours[0][b] = b % 2 == 0 ? 8 : 10;
      out.push_back(cell);
    }
    return out;
  };
  const auto width = [](const PooledResult& pooled) {
    return std::log(pooled.ratio.interval.hi / pooled.ratio.interval.lo);
  };
  const double one = width(pool({cells(true)[0]}, Rng(1)));
  EXPECT_NEAR(width(pool(cells(true), Rng(1))), one, 1e-9);
  EXPECT_LT(width(pool(cells(false), Rng(1))), 0.55 * one);
}

// Blocks of a window which were merged in one cell are merged in all of its cells.
TEST(Pooled, WindowUsesTheCoarsestBlocksOfItsCells) {
  std::vector<PooledCell> cells = {flat(0, 9, 10, 8, 12), flat(0, 8, 10, 7, 12)};
  cells[1].blocks = 6;
  for (size_t b = 0; b < 12; ++b) cells[0].sums.ours[0][b] += b % 2 == 0 ? 1 : -1;
  const PooledResult pooled = pool(cells, Rng(1));
  EXPECT_NEAR(pooled.ratio.interval.lo, pooled.ratio.value, 1e-9) << "pairs are alike";
}

// About 95 % of the intervals contain the known truth.
TEST(Pooled, IntervalsHaveNominalCoverage) {
  constexpr int kSamples = 150, kBlocks = 12, kSeeds = 5;
  int ratio = 0, oracle_gap_closed = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    Rng rng = Rng(77).split(static_cast<uint64_t>(sample));
    std::vector<double> seed_effect;  // of training seeds, in all cells
    for (int s = 0; s < kSeeds; ++s) seed_effect.push_back(0.01 * rng.normal());
    std::vector<PooledCell> cells;
    for (int window = 0; window < 3; ++window) {
      PooledCell cell = flat(window, 0, 0, 1, kBlocks);
      cell.sums.ours.assign(kSeeds, std::vector<double>(kBlocks));
      for (size_t b = 0; b < kBlocks; ++b) {
        const double base = std::exp(0.5 * rng.normal());
        const double block = 0.08 * rng.normal();
        cell.sums.theirs[b] = base;
        cell.bound[b] = 0.8 * base;
        for (size_t s = 0; s < kSeeds; ++s) {
          cell.sums.ours[s][b] = base * (0.9 + seed_effect[s] + block);
        }
      }
      cells.push_back(cell);
    }
    const PooledResult pooled = pool(cells, Rng(5).split(static_cast<uint64_t>(sample)));
    const double truth = std::log(0.9) / std::log(0.8);
    ratio += pooled.ratio.interval.lo <= 0.9 && 0.9 <= pooled.ratio.interval.hi;
    oracle_gap_closed += pooled.oracle_gap_closed.interval.lo <= truth &&
                         truth <= pooled.oracle_gap_closed.interval.hi;
  }
  // The standard error of the share is 1.8 %.
  EXPECT_GE(ratio, kSamples * 90 / 100);
  EXPECT_GE(oracle_gap_closed, kSamples * 88 / 100);
}

}  // namespace
}  // namespace yard
