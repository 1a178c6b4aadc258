#include "experiments/stats/intervals.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "env/base/core/normal.h"
#include "experiments/stats/moments.h"

namespace yard {
namespace {

// Returns the statistic without each member, by group; empty for groups of one.
std::vector<std::vector<double>> leave_one_out(const std::vector<int>& sizes,
                                               const Statistic& statistic) {
  std::vector<std::vector<double>> out(sizes.size());
  SampledIndices picks = all_indices_by_group(sizes);
  for (size_t g = 0; g < sizes.size(); ++g) {
    if (sizes[g] < 2) continue;
    const std::vector<int> all = picks[g];
    for (int i = 0; i < sizes[g]; ++i) {
      picks[g] = all;
      picks[g].erase(picks[g].begin() + i);
      out[g].push_back(statistic(picks));
    }
    picks[g] = all;
  }
  return out;
}

// Efron's acceleration for several samples, from the skewness of the members' influence.
double acceleration(const std::vector<std::vector<double>>& without_one) {
  double cubes = 0, squares = 0;
  for (const std::vector<double>& values : without_one) {
    if (values.empty()) continue;
    const auto n = static_cast<double>(values.size());
    const double centre = mean(values);
    for (const double value : values) {
      const double influence = (n - 1) * (centre - value) / n;
      cubes += influence * influence * influence;
      squares += influence * influence;
    }
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

}  // namespace

double student_quantile(double p, double degrees) {
  if (!(degrees > 0)) return NAN;  // a statistic without a value
  return boost::math::quantile(boost::math::students_t(degrees), p);
}

Interval bca_interval(const std::vector<int>& sizes, const Statistic& statistic, double level,
                      const Rng& rng, int draws) {
  const double whole = statistic(all_indices_by_group(sizes));
  std::vector<double> drawn(static_cast<size_t>(draws));
  SampledIndices picks = all_indices_by_group(sizes);
  for (int d = 0; d < draws; ++d) {
    for (size_t g = 0; g < sizes.size(); ++g) {
      if (sizes[g] < 2) continue;
      Rng stream = rng.split(g).split(static_cast<uint64_t>(d));
      for (int& pick : picks[g]) {
        pick = static_cast<int>(stream.below(static_cast<uint32_t>(sizes[g])));
      }
    }
    drawn[static_cast<size_t>(d)] = statistic(picks);
  }
  std::sort(drawn.begin(), drawn.end());
  // Half of the ties count as below, so that a constant statistic has no bias.
  const auto [from, to] = std::equal_range(drawn.begin(), drawn.end(), whole);
  const double below = static_cast<double>((from - drawn.begin()) + (to - drawn.begin())) / 2;
  const double share = std::clamp(below, 0.5, draws - 0.5) / draws;
  const double bias = normal_quantile(share);
  const double a = acceleration(leave_one_out(sizes, statistic));
  const auto end = [&](double p) {
    const double z = bias + normal_quantile(p);
    const double corrected = normal_cdf(bias + z / (1 - a * z));
    const auto rank = static_cast<int>(corrected * (draws + 1)) - 1;
    return drawn[static_cast<size_t>(std::clamp(rank, 0, draws - 1))];
  };
  return {end((1 - level) / 2), end((1 + level) / 2)};
}

Interval jackknife_interval(const std::vector<int>& sizes, const Statistic& statistic,
                            double level) {
  double variance = 0, degrees_divisor = 0;
  for (const std::vector<double>& values : leave_one_out(sizes, statistic)) {
    if (values.empty()) continue;
    const auto n = static_cast<double>(values.size());
    const double centre = mean(values);
    double squares = 0;
    for (const double value : values) squares += (value - centre) * (value - centre);
    const double of_group = (n - 1) / n * squares;
    variance += of_group;
    degrees_divisor += of_group * of_group / (n - 1);
  }
  const double whole = statistic(all_indices_by_group(sizes));
  if (variance == 0) return {whole, whole};
  const double degrees = variance * variance / degrees_divisor;
  const double half = student_quantile((1 + level) / 2, degrees) * std::sqrt(variance);
  return {whole - half, whole + half};
}

double lag1_correlation(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const std::span<const double> first = values.first(values.size() - 1), next = values.subspan(1);
  const double mean_first = mean(first), mean_next = mean(next);
  double both = 0, squares_first = 0, squares_next = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] - mean_first, b = next[i] - mean_next;
    both += a * b;
    squares_first += a * a;
    squares_next += b * b;
  }
  const double scale = std::sqrt(squares_first * squares_next);
  return scale > 0 ? both / scale : 0;
}

SampledIndices all_indices_by_group(const std::vector<int>& sizes) {
  SampledIndices picks;
  for (const int size : sizes) picks.push_back(indices_up_to(size));
  return picks;
}

std::vector<int> indices_up_to(int size) {
  std::vector<int> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

double sum_of_picked(const std::vector<double>& values, std::span<const int> picks) {
  double sum = 0;
  for (const int i : picks) sum += values[static_cast<size_t>(i)];
  return sum;
}

double BlockSums::ratio_of_sample(std::span<const int> seeds,
                                  std::span<const int> sampled_blocks) const {
  double sum = 0;
  for (const int s : seeds) sum += sum_of_picked(ours[static_cast<size_t>(s)], sampled_blocks);
  return sum / static_cast<double>(seeds.size()) / sum_of_picked(theirs, sampled_blocks);
}

double BlockSums::ratio() const {
  return ratio_of_sample(indices_up_to(static_cast<int>(ours.size())), indices_up_to(blocks()));
}

std::vector<double> BlockSums::log_ratios() const {
  std::vector<double> out;
  const std::vector<int> seeds = indices_up_to(static_cast<int>(ours.size()));
  for (const int b : indices_up_to(blocks()))
    out.push_back(std::log(ratio_of_sample(seeds, {&b, 1})));
  return out;
}

std::vector<double> merge_pairs(const std::vector<double>& blocks) {
  const size_t pairs = blocks.size() / 2;
  if (pairs == 0) return blocks;
  std::vector<double> out(pairs, 0);
  for (size_t i = 0; i < blocks.size(); ++i) out[std::min(i / 2, pairs - 1)] += blocks[i];
  return out;
}

BlockSums merge_pairs(const BlockSums& sums) {
  BlockSums out;
  for (const std::vector<double>& seed : sums.ours) out.ours.push_back(merge_pairs(seed));
  out.theirs = merge_pairs(sums.theirs);
  return out;
}

BlockSums merge_correlated(BlockSums sums) {
  while (sums.blocks() >= 4 && lag1_correlation(sums.log_ratios()) > kMaxCorrelation) {
    sums = merge_pairs(sums);
  }
  return sums;
}

Interval ratio_interval(const BlockSums& sums, double level) {
  if (sums.blocks() < 2) return {NAN, NAN};
  const auto log_ratio = [&](const SampledIndices& picks) {
    return std::log(sums.ratio_of_sample(picks[0], picks[1]));
  };
  const Interval of_log =
      jackknife_interval({static_cast<int>(sums.ours.size()), sums.blocks()}, log_ratio, level);
  return {std::exp(of_log.lo), std::exp(of_log.hi)};
}

}  // namespace yard
