#include "experiments/report/evaluate_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "env/base/text/text.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/report/text_table.h"
#include "experiments/stats/number_text.h"

namespace yard::sim {
namespace {

const char* verdict(const CellResult& cell) {
  if (cell.unfinished() > 0) return "FAILED: jobs did not finish";
  if (!std::isfinite(cell.vs_baseline.ratio)) return "no ratio: every JCT of one policy is 0";
  const Interval& interval = cell.vs_baseline.interval;
  if (!std::isfinite(interval.lo)) return "no interval: fewer than 2 blocks";
  if (interval.hi < 1) return "better";
  if (interval.lo > 1) return "WORSE";
  return "no significant difference";
}

const char* training_verdict(const CellResult& cell) {
  const ComparedPolicy& untrained_rival = *cell.untrained_result();
  const Interval& interval = untrained_rival.candidate_ratio.interval;
  if (cell.unfinished() + untrained_rival.score.unfinished > 0)
    return "no verdict: jobs did not finish";
  if (!std::isfinite(interval.lo)) return "no interval: fewer than 2 blocks";
  if (interval.hi < 1) return "better than untrained";
  if (interval.lo > 1) return "WORSE than untrained";
  return "no significant difference: a lead over rivals, if any, is not due to training";
}

std::vector<std::string> score_cells(const char* mark, const PolicyScore& score) {
  return {std::string(mark) + " " + score.name, information_level_name(score.level),
          speed_information_name(score.speeds), number_text(score.mean_jct_s, 1),
          number_text(score.p99_jct_s, 1),      number_text(score.max_wait_s, 1),
          number_text(score.preemptions, 1),    std::to_string(score.unfinished)};
}

std::string ratio_text(const RatioEstimate& vs_baseline) {
  if (!std::isfinite(vs_baseline.ratio)) return "no ratio";
  return number_text(vs_baseline.ratio, 3) + " " +
         interval_text(vs_baseline.interval.lo, vs_baseline.interval.hi);
}

// Figures which get worse are part of the verdict even if the mean improves.
std::string regressions_suffix(const CellResult& cell) {
  const std::vector<std::string> regressions = cell.regressions();
  if (cell.unfinished() > 0 || regressions.empty()) return "";
  return (cell.vs_baseline.ratio < 1 ? ", but " : "; also ") + join(regressions);
}

std::string result_text(const CellResult& cell) {
  const bool has_ratio = std::isfinite(cell.vs_baseline.ratio);
  return (has_ratio ? ratio_text(cell.vs_baseline) + ", " : "") + verdict(cell) +
         regressions_suffix(cell);
}

std::string mean_and_worst(const MeanAndWorst& of) {
  return number_text(of.mean, 3) + " (" + number_text(of.worst, 3) + ")";
}

void print_policies(const CellResult& cell) {
  TextTable table({"  policy", "information", "speeds", "mean JCT s", "p99 s", "max wait s",
                   "preempt", "unfinished", "candidate / policy [95 %]"},
                  3);
  const std::string& name = cell.candidate_name;
  // Without a name, that of several seeds begins with the first one's.
  const bool is_given =
      cell.candidates.size() > 1 && !name.starts_with(cell.candidates.front().name);
  for (PolicyScore score : cell.candidates) {
    if (cell.candidates.size() == 1) score.name = name;
    if (is_given) score.name = name + ": " + score.name;
    table.row(score_cells(">", score));
  }
  const auto add = [&](const char* mark, const ComparedPolicy& rival) {
    std::vector<std::string> cells = score_cells(mark, rival.score);
    cells.push_back(ratio_text(rival.candidate_ratio));
    table.row(cells);
  };
  if (const ComparedPolicy* untrained = cell.untrained_result()) add("u", *untrained);
  for (size_t i = 0; i < cell.rivals.size(); ++i) {
    const bool best = i == cell.best_hindsight;
    add(i == cell.baseline ? best ? "*+" : "*" : best ? "+" : " ", cell.rivals[i]);
  }
  if (cell.oracle) {
    table.line("bound, best of " + pluralised_count_text(std::ssize(cell.bounds), "oracle") + ":");
    table.row(score_cells(" ", cell.bounds[*cell.oracle]));
  }
  if (!cell.facts.no_bound.empty()) {
    table.line("oracles, no bound because of " + cell.facts.no_bound + ":");
    for (const PolicyScore& score : cell.bounds) table.row(score_cells(" ", score));
  }
  std::fputs(table.text().c_str(), stdout);
}

}  // namespace

void print_cell(const CellResult& cell) {
  const std::string variation = text_of(cell.variation);
  std::printf("\n%s on %s, rules %s, %lld jobs scored from %.0f to %.0f s\n",
              cell.facts.trace.c_str(), cell.facts.cluster.c_str(), cell.rules.c_str(),
              static_cast<long long>(cell.facts.jobs), cell.facts.from_s, cell.facts.to_s);
  std::printf("congestion %s (arrivals x %s), load %s, costs x %g, %d replicas, %d seed%s\n\n",
              number_text(cell.facts.congestion, 3).c_str(),
              fmt::format("{:.4g}", cell.facts.factor).c_str(),
              offered_load_text(cell.facts.load).c_str(), cell.cost_scale, cell.replicas,
              cell.num_training_seeds(), cell.num_training_seeds() == 1 ? "" : "s");
  if (!variation.empty()) std::printf("varied: %s\n\n", variation.c_str());
  print_policies(cell);
  std::printf("\n%s / %s (* baseline, chosen %s): %s; %s (%d blocks)\n",
              cell.candidate_name.c_str(), cell.baseline_score().name.c_str(),
              cell.validated ? "on validation" : "in hindsight", result_text(cell).c_str(),
              cell.conclusive ? "conclusive" : "inconclusive", cell.vs_baseline.blocks);
  if (const ComparedPolicy* untrained_rival = cell.untrained_result()) {
    std::printf("ratio to the untrained network (u) with the same action sampling: %s, %s\n",
                ratio_text(untrained_rival->candidate_ratio).c_str(), training_verdict(cell));
  }
  std::printf(
      "ratio to the best of %s in hindsight (+): %s; headroom %s (hindsight %s), oracle gap "
      "closed %s\n",
      pluralised_count_text(std::ssize(cell.rivals), "rival").c_str(),
      number_text(cell.ratio_to_best_in_hindsight(), 3).c_str(),
      percent_text(cell.oracle_headroom(), 1).c_str(),
      percent_text(cell.oracle_headroom_vs_best_in_hindsight(), 1).c_str(),
      number_text(cell.oracle_gap_closed(), 2).c_str());
  std::string largest;
  if (const std::optional<int> of = cell.largest_size_class()) {
    largest = fmt::format("mean JCT of jobs of {} GPUs x {}, ", size_class_name(*of),
                          number_text(cell.largest_class_jct_ratio(), 3));
  }
  std::printf("p99 x %s, %slongest wait x %s, preemptions x %s\n",
              number_text(cell.ratio_to_baseline(&PolicyScore::p99_jct_s), 3).c_str(),
              largest.c_str(),
              number_text(cell.ratio_to_baseline(&PolicyScore::max_wait_s), 3).c_str(),
              number_text(cell.ratio_to_baseline(&PolicyScore::preemptions), 3).c_str());
  std::printf(
      "%s preemptions per job, %s of them migrations; %s in all within 10 minutes of the job's "
      "previous one\n",
      number_text(cell.candidate_mean_per_job(&PolicyScore::preemptions), 2).c_str(),
      number_text(cell.candidate_mean_per_job(&PolicyScore::migrations), 2).c_str(),
      number_text(cell.mean(&PolicyScore::rapid_repreemptions), 0).c_str());
  if (const double early = cell.mean(&PolicyScore::ended_early); early > 0) {
    std::printf("%.1f jobs ended early by the policy; the ratio includes them\n", early);
  }
}

void print_cells(const std::vector<CellResult>& cells) {
  TextTable table({"cell", "policy", "information", "speeds", "jobs", "load", "baseline",
                   "ratio [95 %]", "hindsight", "untrained", "headroom", "gap closed", "verdict"},
                  4);
  for (const CellResult& cell : cells) {
    const PolicyScore& first_score = cell.candidates.front();
    const ComparedPolicy* untrained_rival = cell.untrained_result();
    table.row(
        {cell.cell, cell.candidate_name, information_level_name(first_score.level),
         speed_information_name(first_score.speeds), std::to_string(cell.facts.jobs),
         offered_load_text(cell.facts.load), cell.baseline_score().name,
         ratio_text(cell.vs_baseline), number_text(cell.ratio_to_best_in_hindsight(), 3),
         untrained_rival == nullptr ? "-" : number_text(untrained_rival->candidate_ratio.ratio, 3),
         percent_text(cell.oracle_headroom_vs_best_in_hindsight(), 1),
         number_text(cell.oracle_gap_closed(), 2),
         verdict(cell) + std::string(cell.conclusive ? "" : " (inconclusive)") +
             regressions_suffix(cell)});
  }
  std::fputs(table.text().c_str(), stdout);
  std::string last;  // print the reason once per cell
  for (const CellResult& cell : cells) {
    if (cell.facts.no_bound.empty() || cell.cell == last) continue;
    last = cell.cell;
    std::printf("%s: no headroom (oracles are not bounds because of %s)\n", cell.cell.c_str(),
                cell.facts.no_bound.c_str());
  }
}

void print_summary(const std::vector<SummaryRow>& rows) {
  const auto line = [](const char* what, const Estimate& estimate) {
    std::printf("  %-28s %7s %s\n", what, number_text(estimate.value, 3).c_str(),
                interval_text(estimate.interval.lo, estimate.interval.hi).c_str());
  };
  for (const SummaryRow& row : rows) {
    std::printf("\n%s, group %s, %d %s:\n", row.policy.c_str(), row.group.c_str(), row.cells,
                row.over.c_str());
    if (!row.finished) {
      std::printf("  FAILED: jobs did not finish\n");
      continue;
    }
    line("ratio, geometric mean", row.pooled.ratio);
    line("ratio, interquartile mean", row.pooled.iqm);
    line("oracle gap closed", row.pooled.oracle_gap_closed);
    line("probability of improvement", row.pooled.improvement);
    for (const PooledComparison& one : row.against) {
      if (one.policy == "untrained") line("ratio to untrained", one.ratio);
    }
    std::printf("  %d better, %d worse, worst ratio %s; ratio to the best in hindsight %s\n",
                row.better, row.worse, number_text(row.ratio.worst, 3).c_str(),
                number_text(row.hindsight.ratio.value, 3).c_str());
    std::printf(
        "  ratios, mean (worst): p99 %s, largest class %s, longest wait %s, preemptions %s\n",
        mean_and_worst(row.p99).c_str(), mean_and_worst(row.largest_class).c_str(),
        mean_and_worst(row.max_wait).c_str(), mean_and_worst(row.preemptions).c_str());
    std::printf("  %s preemptions per job; %s in all within 10 minutes of the job's previous one\n",
                number_text(row.preemptions_per_job, 2).c_str(),
                number_text(row.rapid_repreemptions, 0).c_str());
    if (std::isfinite(row.decisions_per_s)) {
      std::printf("  %.0f decisions per second on one core", row.decisions_per_s);
      if (row.training_core_s > 0)
        std::printf("; training took %.0f core-seconds", row.training_core_s);
      std::printf("\n");
    }
  }
}

}  // namespace yard::sim
