#include "experiments/evaluate/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

namespace yard {
namespace {

constexpr uint64_t kIntervalStream = 0x696E74657276616C;

using Cells = std::vector<const CellResult*>;

std::string group_of(const CellResult& cell) {
  const size_t end = cell.cell.find('/');
  return end == std::string::npos ? "" : cell.cell.substr(0, end);
}

template <class Keep>
Cells only(const Cells& cells, const Keep& keep) {
  Cells out;
  std::copy_if(cells.begin(), cells.end(), std::back_inserter(out), keep);
  return out;
}

MeanAndWorst spread(const Cells& cells, const std::function<double(const CellResult&)>& ratio_of) {
  MeanAndWorst out{std::numeric_limits<double>::quiet_NaN(),
                   std::numeric_limits<double>::quiet_NaN()};
  double sum = 0;
  int count = 0;
  for (const CellResult* cell : cells) {
    const double ratio = ratio_of(*cell);
    if (!(ratio > 0) || !std::isfinite(ratio)) continue;
    sum += std::log(ratio);
    out.worst = count == 0 ? ratio : std::max(out.worst, ratio);
    ++count;
  }
  if (count > 0) out.mean = std::exp(sum / count);
  return out;
}

using RivalOf = std::function<const ComparedPolicy&(const CellResult&)>;

// Cells with the same jobs at other congestions or costs are one window.
std::vector<PooledCell> pooled_cells(const Cells& cells, const RivalOf& rival_of) {
  using Key = std::tuple<std::string, double, std::vector<int64_t>>;
  std::map<Key, int> windows;
  std::vector<PooledCell> out;
  for (const CellResult* cell : cells) {
    const ComparedPolicy& rival = rival_of(*cell);
    const Key key{cell->facts.sha256,
                  cell->facts.from_s,
                  {cell->facts.jobs, static_cast<int64_t>(rival.score.block_jct_s.size())}};
    PooledCell one;
    one.window = windows.emplace(key, static_cast<int>(windows.size())).first->second;
    one.blocks = rival.candidate_ratio.blocks;
    for (const PolicyScore& score : cell->candidates) one.sums.ours.push_back(score.block_jct_s);
    one.sums.theirs = rival.score.block_jct_s;
    if (cell->oracle) one.bound = cell->bounds[*cell->oracle].block_jct_s;
    out.push_back(std::move(one));
  }
  return out;
}

PooledComparison against(const Cells& cells, const std::string& policy, const RivalOf& rival_of) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  PooledComparison out{policy, 0, {kNan, {kNan, kNan}}};
  bool finished = true;
  for (const CellResult* cell : cells) {
    out.conclusive += rival_of(*cell).conclusive;
    finished = finished && cell->unfinished() + rival_of(*cell).score.unfinished == 0;
  }
  if (finished) out.ratio = pooled_ratio(pooled_cells(cells, rival_of));
  return out;
}

// Rivals, then other candidates, which are the same in every cell.
std::vector<PooledComparison> compare_with_each(const Cells& cells) {
  std::vector<PooledComparison> out;
  for (const auto among : {&CellResult::rivals, &CellResult::others}) {
    for (size_t i = 0; i < (cells.front()->*among).size(); ++i) {
      const RivalOf one = [&](const CellResult& cell) -> const ComparedPolicy& {
        return (cell.*among)[i];
      };
      out.push_back(against(cells, one(*cells.front()).score.name, one));
    }
  }
  return out;
}

SummaryRow row(const Cells& cells, const std::string& group, const std::string& over,
               uint64_t seed) {
  SummaryRow out;
  out.policy = cells.front()->candidate_name;
  out.group = group;
  out.over = over;
  out.cells = static_cast<int>(cells.size());
  for (const CellResult* cell : cells) {
    out.conclusive += cell->conclusive;
    out.better += cell->vs_baseline.interval.hi < 1;
    out.worse += cell->vs_baseline.interval.lo > 1;
    out.finished = out.finished && cell->unfinished() == 0;
  }
  const RivalOf baseline = [](const CellResult& cell) -> const ComparedPolicy& {
    return cell.rivals[cell.baseline];
  };
  const RivalOf best = [](const CellResult& cell) -> const ComparedPolicy& {
    return cell.rivals[cell.best_hindsight];
  };
  out.pooled = pool(pooled_cells(cells, baseline), Rng(seed).split(kIntervalStream));
  out.hindsight = against(cells, "", best);
  out.against = compare_with_each(cells);
  out.ratio = spread(cells, [](const CellResult& cell) { return cell.vs_baseline.ratio; });
  const auto ratio_to_baseline = [&](double PolicyScore::*figure) {
    return spread(cells, [&](const CellResult& cell) { return cell.ratio_to_baseline(figure); });
  };
  out.p99 = ratio_to_baseline(&PolicyScore::p99_jct_s);
  out.max_wait = ratio_to_baseline(&PolicyScore::max_wait_s);
  out.preemptions = ratio_to_baseline(&PolicyScore::preemptions);
  double seconds_per_decision = 0;
  for (const CellResult* cell : cells) {
    out.preemptions_per_job += cell->candidate_mean_per_job(&PolicyScore::preemptions) / out.cells;
    out.rapid_repreemptions += cell->mean(&PolicyScore::rapid_repreemptions);
    seconds_per_decision += 1 / cell->decisions_per_core_s() / out.cells;
  }
  out.decisions_per_s = 1 / seconds_per_decision;
  out.training_core_s = cells.front()->training_core_s;
  out.largest_class =
      spread(cells, [](const CellResult& cell) { return cell.largest_class_jct_ratio(); });
  return out;
}

void add_rows(const Cells& cells, const std::string& group, uint64_t seed,
              std::vector<SummaryRow>& out) {
  const Cells conclusive = only(cells, [](const CellResult* cell) { return cell->conclusive; });
  if (conclusive.empty()) {
    out.push_back(row(cells, group, "all cells", seed));
    return;
  }
  out.push_back(row(conclusive, group, "conclusive cells", seed));
  if (conclusive.size() < cells.size()) out.push_back(row(cells, group, "all cells", seed));
  const Cells open = only(conclusive, [](const CellResult* cell) {
    return cell->oracle_headroom_vs_best_in_hindsight() >= kMinHeadroom;
  });
  if (open.empty()) return;
  out.push_back(
      row(open, group, "conclusive cells with a hindsight headroom of at least 3 %", seed));
}

}  // namespace

std::vector<SummaryRow> summarise(const std::vector<CellResult>& cells, uint64_t seed) {
  std::vector<std::string> candidates, groups;
  const auto note = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const CellResult& cell : cells) {
    note(candidates, cell.candidate_name);
    note(groups, group_of(cell));
  }
  Cells all;
  for (const CellResult& cell : cells) all.push_back(&cell);
  std::vector<SummaryRow> out;
  for (const std::string& candidate : candidates) {
    const Cells own =
        only(all, [&](const CellResult* cell) { return cell->candidate_name == candidate; });
    add_rows(own, "all", seed, out);
    if (groups.size() == 1) continue;
    for (const std::string& group : groups) {
      add_rows(only(own, [&](const CellResult* cell) { return group_of(*cell) == group; }), group,
               seed, out);
    }
  }
  return out;
}

}  // namespace yard
