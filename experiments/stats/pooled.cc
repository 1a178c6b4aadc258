#include "experiments/stats/pooled.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "env/base/core/check.h"
#include "env/base/core/normal.h"

namespace yard {
namespace {

constexpr int kMinBootstrapDegrees = 5;  // too few for bootstrap samples to vary enough

// Merges the blocks of each window's cells down to the fewest of any of them, and numbers windows
// from 0.
void align(std::vector<PooledCell>& cells) {
  std::map<int, int> blocks, number;
  for (const PooledCell& cell : cells) {
    const auto [it, fresh] = blocks.emplace(cell.window, cell.blocks);
    it->second = std::min(it->second, cell.blocks);
    number.emplace(cell.window, static_cast<int>(number.size()));
  }
  for (PooledCell& cell : cells) {
    while (cell.sums.blocks() > blocks.at(cell.window)) {
      if (!cell.bound.empty()) cell.bound = merge_pairs(cell.bound);
      cell.sums = merge_pairs(cell.sums);
    }
    cell.window = number.at(cell.window);
  }
}

class CellPooling {
 public:
  explicit CellPooling(const std::vector<PooledCell>& cells)
      : cells_(cells), seeds_(static_cast<int>(cells.front().sums.ours.size())) {
    sizes_ = {seeds_};
    for (const PooledCell& cell : cells) {
      YARD_CHECK(static_cast<int>(cell.sums.ours.size()) == seeds_,
                 "all cells need equally many seeds");
      const auto group = static_cast<size_t>(cell.window) + 1;
      if (group == sizes_.size()) sizes_.push_back(cell.sums.blocks());
      YARD_CHECK(sizes_[group] == cell.sums.blocks(),
                 "all cells of a window need equally many blocks");
    }
  }

  Estimate ratio() const {
    const auto log_ratio = [&](const SampledIndices& picks) {
      double sum = 0;
      for (const PooledCell& cell : cells_) sum += std::log(ratio(cell, picks));
      return sum / static_cast<double>(cells_.size());
    };
    return exp_of(estimate(log_ratio, nullptr));
  }

  PooledResult pooled(const Rng& rng) const {
    PooledResult out;
    out.ratio = ratio();
    out.oracle_gap_closed = oracle_gap_closed(rng.split(0));
    const Rng iqm = rng.split(1), improvement = rng.split(2);
    // In logarithms, so that the interval stays positive.
    out.iqm = exp_of(estimate(
        [&](const SampledIndices& picks) { return std::log(interquartile_mean(ratios(picks))); },
        &iqm));
    out.improvement = estimate(
        [&](const SampledIndices& picks) { return share_better(ratios(picks)); }, &improvement);
    Interval& share = out.improvement.interval;
    share = {std::max(share.lo, 0.0), std::min(share.hi, 1.0)};
    return out;
  }

 private:
  static Estimate exp_of(const Estimate& log) {
    return {std::exp(log.value), {std::exp(log.interval.lo), std::exp(log.interval.hi)}};
  }

  static double ratio(const PooledCell& cell, const SampledIndices& picks) {
    return cell.sums.ratio_of_sample(picks[0], picks[static_cast<size_t>(cell.window) + 1]);
  }

  std::vector<double> ratios(const SampledIndices& picks) const {  // by cell and seed
    std::vector<double> out;
    for (const PooledCell& cell : cells_) {
      for (const int& seed : picks[0]) {
        out.push_back(
            cell.sums.ratio_of_sample({&seed, 1}, picks[static_cast<size_t>(cell.window) + 1]));
      }
    }
    return out;
  }

  // Interquartile mean; values on its edge count in part.
  static double interquartile_mean(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto n = static_cast<double>(values.size());
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<double>(i);
      const double inside = std::min(at + 1, 0.75 * n) - std::max(at, 0.25 * n);
      sum += std::max(0.0, inside) * values[i];
    }
    return sum / (0.5 * n);
  }

  static double share_better(const std::vector<double>& ratios) {
    double sum = 0;
    for (const double r : ratios) sum += r < 1 ? 1 : r == 1 ? 0.5 : 0;
    return sum / static_cast<double>(ratios.size());
  }

  Estimate oracle_gap_closed(const Rng& rng) const {
    const auto log_headroom = [&](const SampledIndices& picks) {
      double sum = 0;
      for (const PooledCell& cell : cells_) {
        const std::vector<int>& blocks = picks[static_cast<size_t>(cell.window) + 1];
        sum +=
            std::log(sum_of_picked(cell.bound, blocks) / sum_of_picked(cell.sums.theirs, blocks));
      }
      return sum;
    };
    // The least log gain over all cells: kMinHeadroomForGap in each.
    const double least = static_cast<double>(cells_.size()) * std::log1p(-kMinHeadroomForGap);
    const auto unbounded = [](const PooledCell& cell) { return cell.bound.empty(); };
    if (std::ranges::any_of(cells_, unbounded) ||
        !(log_headroom(all_indices_by_group(sizes_)) <= least)) {
      return {NAN, {NAN, NAN}};
    }
    const auto share = [&](const SampledIndices& picks) {
      double won = 0;
      for (const PooledCell& cell : cells_) won += std::log(ratio(cell, picks));
      return won / log_headroom(picks);
    };
    return estimate(share, &rng);
  }

  // By BCa if `rng` is given and there are enough blocks; otherwise by the jackknife.
  Estimate estimate(const Statistic& statistic, const Rng* rng) const {
    const double value = statistic(all_indices_by_group(sizes_));
    const auto fewest = std::min_element(sizes_.begin() + 1, sizes_.end());
    if (*fewest < 2) return {value, {NAN, NAN}};
    const int degrees =
        std::accumulate(sizes_.begin() + 1, sizes_.end(), 0) - static_cast<int>(sizes_.size() - 1);
    if (rng == nullptr || degrees < kMinBootstrapDegrees) {
      return {value, jackknife_interval(sizes_, statistic, kConfidence)};
    }
    return {value, bca_interval(sizes_, statistic, widened(*fewest, degrees), *rng)};
  }

  // Returns the normal level whose interval is as wide as Student's with `members` members
  // (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, section 5.3).
  static double widened(int members, int degrees) {
    const double n = members;
    const double t = student_quantile((1 + kConfidence) / 2, degrees) * std::sqrt(n / (n - 1));
    return 2 * normal_cdf(t) - 1;
  }

  const std::vector<PooledCell>& cells_;
  int seeds_;
  std::vector<int> sizes_;  // sizes of the resampled groups: seeds, then blocks of each window
};

}  // namespace

PooledResult pool(std::vector<PooledCell> cells, const Rng& rng) {
  YARD_CHECK(!cells.empty(), "pooling needs cells");
  align(cells);
  return CellPooling(cells).pooled(rng);
}

Estimate pooled_ratio(std::vector<PooledCell> cells) {
  YARD_CHECK(!cells.empty(), "pooling needs cells");
  align(cells);
  return CellPooling(cells).ratio();
}

}  // namespace yard
