#include "experiments/cell_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/check.h"
#include "experiments/grows.h"
#include "experiments/pooled.h"

namespace yard {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kJudgedJobs = 500;
constexpr int kJudgedBlocks = 6;
constexpr int64_t kEnoughOfAClass = 50;

Versus compare(const std::vector<Score>& ours, const Score& theirs) {
  BlockSums sums;
  for (const Score& score : ours) sums.ours.push_back(score.block_jct_s);
  sums.theirs = theirs.block_jct_s;
  const BlockSums together = merged(std::move(sums));
  return {together.ratio(), ratio_interval(together), together.blocks()};
}

// A policy which leaves jobs unfinished ranks last.
double rank(const Score& score) {
  return score.unfinished > 0 ? std::numeric_limits<double>::infinity() : score.mean_jct_s;
}

template <class Of, class Rank>
size_t least(const std::vector<Of>& all, const Rank& rank_of) {
  const auto less = [&](const Of& a, const Of& b) { return rank_of(a) < rank_of(b); };
  return static_cast<size_t>(std::min_element(all.begin(), all.end(), less) - all.begin());
}

double share(double part, double whole) { return whole > 0 ? part / whole : kNan; }

}  // namespace

int64_t CellResult::unfinished() const {
  int64_t sum = 0;
  for (const Score& score : candidates) sum += score.unfinished;
  return sum;
}

double CellResult::mean(double Score::*figure) const {
  double sum = 0;
  for (const Score& score : candidates) sum += score.*figure;
  return sum / static_cast<double>(candidates.size());
}

double CellResult::over_yardstick(double Score::*figure) const {
  return share(mean(figure), yardstick_score().*figure);
}

double CellResult::decisions_per_s() const {
  return share(mean(&Score::decisions), mean(&Score::core_s));
}

double CellResult::ratio_hindsight() const {
  return rivals[best_hindsight].candidate_over_it.ratio;
}

double CellResult::headroom() const {
  return oracle ? 1 - bounds[*oracle].mean_jct_s / yardstick_score().mean_jct_s : kNan;
}

double CellResult::headroom_hindsight() const {
  if (!oracle) return kNan;
  return 1 - bounds[*oracle].mean_jct_s / rivals[best_hindsight].score.mean_jct_s;
}

double CellResult::captured() const {
  return headroom() >= kNextToNothing ? std::log(versus.ratio) / std::log(1 - headroom()) : kNan;
}

std::optional<int> CellResult::largest_class() const {
  for (int c = kSizeClasses - 1; c >= 0; --c) {
    if (facts.class_jobs[static_cast<size_t>(c)] >= kEnoughOfAClass) return c;
  }
  return std::nullopt;
}

double CellResult::largest_class_jct_ratio() const {
  const auto largest = largest_class();
  if (!largest) return kNan;
  const auto c = static_cast<size_t>(*largest);
  double sum = 0;
  for (const Score& score : candidates) sum += score.class_jct_s[c];
  return share(sum / seeds(), yardstick_score().class_jct_s[c]);
}

std::vector<std::string> CellResult::grown() const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& what, double ratio, double from, double to) {
    if (!grows(from, to)) return;
    out.push_back(what + (std::isfinite(ratio) ? fmt::format(" x {:.2f}", ratio)
                                               : fmt::format(" {:.0f} s in place of 0", to)));
  };
  add("longest wait", over_yardstick(&Score::max_wait_s), yardstick_score().max_wait_s,
      mean(&Score::max_wait_s));
  const double of_class = largest_class_jct_ratio();
  if (const auto largest = largest_class(); largest && std::isfinite(of_class)) {
    add(std::string("JCT of the jobs of ") + size_class_name(*largest) + " GPUs", of_class, 1.0,
        of_class);
  }
  return out;
}

void settle(CellResult& cell) {
  YARD_CHECK(!cell.candidates.empty() && !cell.rivals.empty(), "nobody to compare");
  const auto hindsight = [](const Rival& rival) { return rank(rival.score); };
  cell.best_hindsight = least(cell.rivals, hindsight);
  cell.yardstick = cell.best_hindsight;
  if (cell.validated) {
    cell.yardstick = least(cell.rivals, [](const Rival& rival) { return rival.validation_jct_s; });
  }
  if (!cell.bounds.empty() && cell.facts.no_bound.empty()) cell.oracle = least(cell.bounds, rank);
  for (auto* all : {&cell.rivals, &cell.others}) {
    for (Rival& rival : *all) {
      rival.candidate_over_it = compare(cell.candidates, rival.score);
      rival.judged = cell.facts.jobs >= kJudgedJobs &&
                     rival.candidate_over_it.blocks >= kJudgedBlocks &&
                     cell.unfinished() + rival.score.unfinished == 0;
    }
  }
  cell.versus = cell.rivals[cell.yardstick].candidate_over_it;
  cell.judged = cell.rivals[cell.yardstick].judged;
}

}  // namespace yard
