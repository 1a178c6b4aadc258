#include "experiments/evaluate/cell_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/core/check.h"
#include "experiments/stats/pooled.h"
#include "experiments/stats/regression.h"

namespace yard {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMinJobs = 500;
constexpr int kMinBlocks = 6;
constexpr int64_t kMinClassJobs = 50;

RatioEstimate compare(const std::vector<PolicyScore>& ours, const PolicyScore& theirs) {
  BlockSums sums;
  for (const PolicyScore& score : ours) sums.ours.push_back(score.block_jct_s);
  sums.theirs = theirs.block_jct_s;
  const BlockSums together = merge_correlated(std::move(sums));
  return {together.ratio(), ratio_interval(together), together.blocks()};
}

// A policy which leaves jobs unfinished ranks last.
double rank(const PolicyScore& score) {
  return score.unfinished > 0 ? std::numeric_limits<double>::infinity() : score.mean_jct_s;
}

template <class Of, class Rank>
size_t argmin(const std::vector<Of>& all, const Rank& rank_of) {
  return static_cast<size_t>(std::ranges::min_element(all, {}, rank_of) - all.begin());
}

double share(double part, double whole) { return whole > 0 ? part / whole : kNan; }

}  // namespace

int64_t CellResult::unfinished() const {
  int64_t sum = 0;
  for (const PolicyScore& score : candidates) sum += score.unfinished;
  return sum;
}

double CellResult::mean(double PolicyScore::*figure) const {
  double sum = 0;
  for (const PolicyScore& score : candidates) sum += score.*figure;
  return sum / static_cast<double>(candidates.size());
}

double CellResult::ratio_to_baseline(double PolicyScore::*figure) const {
  return share(mean(figure), baseline_score().*figure);
}

double CellResult::decisions_per_core_s() const {
  return share(mean(&PolicyScore::decisions), mean(&PolicyScore::core_s));
}

double CellResult::ratio_to_best_in_hindsight() const {
  return rivals[best_hindsight].candidate_ratio.ratio;
}

double CellResult::oracle_headroom() const {
  return oracle ? 1 - bounds[*oracle].mean_jct_s / baseline_score().mean_jct_s : kNan;
}

double CellResult::oracle_headroom_vs_best_in_hindsight() const {
  if (!oracle) return kNan;
  return 1 - bounds[*oracle].mean_jct_s / rivals[best_hindsight].score.mean_jct_s;
}

double CellResult::oracle_gap_closed() const {
  return oracle_headroom() >= kMinHeadroomForGap
             ? std::log(vs_baseline.ratio) / std::log(1 - oracle_headroom())
             : kNan;
}

std::optional<int> CellResult::largest_size_class() const {
  for (int c = kSizeClasses - 1; c >= 0; --c) {
    if (facts.class_jobs[static_cast<size_t>(c)] >= kMinClassJobs) return c;
  }
  return std::nullopt;
}

double CellResult::largest_class_jct_ratio() const {
  const auto largest = largest_size_class();
  if (!largest) return kNan;
  const auto c = static_cast<size_t>(*largest);
  double sum = 0;
  for (const PolicyScore& score : candidates) sum += score.class_jct_s[c];
  return share(sum / num_training_seeds(), baseline_score().class_jct_s[c]);
}

std::vector<std::string> CellResult::regressions() const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& what, double ratio, double from, double to) {
    if (!is_regression(from, to)) return;
    out.push_back(what + (std::isfinite(ratio) ? fmt::format(" x {:.2f}", ratio)
                                               : fmt::format(" {:.0f} s instead of 0", to)));
  };
  add("longest wait", ratio_to_baseline(&PolicyScore::max_wait_s), baseline_score().max_wait_s,
      mean(&PolicyScore::max_wait_s));
  const double of_class = largest_class_jct_ratio();
  if (const auto largest = largest_size_class(); largest && std::isfinite(of_class)) {
    add(std::string("mean JCT of jobs of ") + size_class_name(*largest) + " GPUs", of_class, 1.0,
        of_class);
  }
  return out;
}

void compute_derived_fields(CellResult& cell) {
  YARD_CHECK(!cell.candidates.empty() && !cell.rivals.empty(),
             "a cell needs candidates and rivals");
  const auto hindsight = [](const ComparedPolicy& rival) { return rank(rival.score); };
  cell.best_hindsight = argmin(cell.rivals, hindsight);
  cell.baseline =
      cell.validated ? argmin(cell.rivals, &ComparedPolicy::validation_jct_s) : cell.best_hindsight;
  if (!cell.bounds.empty() && cell.facts.no_bound.empty()) cell.oracle = argmin(cell.bounds, rank);
  for (auto* all : {&cell.rivals, &cell.others}) {
    for (ComparedPolicy& rival : *all) {
      rival.candidate_ratio = compare(cell.candidates, rival.score);
      rival.conclusive = cell.facts.jobs >= kMinJobs &&
                         rival.candidate_ratio.blocks >= kMinBlocks &&
                         cell.unfinished() + rival.score.unfinished == 0;
    }
  }
  cell.vs_baseline = cell.rivals[cell.baseline].candidate_ratio;
  cell.conclusive = cell.rivals[cell.baseline].conclusive;
}

}  // namespace yard
