#include "experiments/programs/sim/evaluate_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "env/sim/speed_estimator.h"
#include "experiments/programs/sim/options.h"

namespace yard::sim {
namespace {

const char* verdict(const CellResult& cell) {
  if (cell.unfinished() > 0) return "FAILED: jobs did not finish";
  const Interval& interval = cell.versus.interval;
  if (!std::isfinite(interval.lo)) return "no interval: fewer than 2 blocks";
  if (interval.hi < 1) return "better";
  if (interval.lo > 1) return "WORSE";
  return "not told apart";
}

void print_score(const char* mark, const Score& score) {
  std::printf("%s %-28s %-13s %-7s %12.1f %12.1f %12.1f %9.1f %10lld", mark, score.name.c_str(),
              level_name(score.level), speed_level_name(score.speeds), score.mean_jct_s,
              score.p99_jct_s, score.max_wait_s, score.preemptions,
              static_cast<long long>(score.unfinished));
}

void print_versus(const Versus& versus) {
  std::printf("  %.3f [%.3f, %.3f]\n", versus.ratio, versus.interval.lo, versus.interval.hi);
}

// What of a candidate's lead its training brought.
const char* learning_verdict(const CellResult& cell) {
  const Rival& self = *cell.untrained_self();
  const Interval& interval = self.candidate_over_it.interval;
  if (cell.unfinished() + self.score.unfinished > 0) return "no verdict: jobs did not finish";
  if (!std::isfinite(interval.lo)) return "no interval: fewer than 2 blocks";
  if (interval.hi < 1) return "training made it better";
  if (interval.lo > 1) return "training made it WORSE";
  return "not told apart: its lead over others, if any, is that of its untrained self";
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

constexpr const char* kAbsent = "–";  // what there is no figure of

std::string figure(int decimals, double value) {
  if (!std::isfinite(value)) return kAbsent;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string percent(double share) {
  return std::isfinite(share) ? figure(1, 100 * share) + " %" : kAbsent;
}

// To the right of so many columns.
std::string padded(const std::string& text, size_t width) {
  const size_t columns = text == kAbsent ? 1 : text.size();
  return std::string(width - std::min(width, columns), ' ') + text;
}

std::string mean_and_worst(const Spread& of) {
  return number_text(of.mean) + " (" + number_text(of.worst) + ")";
}

}  // namespace

void print_cell(const CellResult& cell) {
  const std::string variation = text_of(cell.variation);
  std::printf("\n%s on %s, rules %s, %lld jobs scored from %.0f to %.0f s\n",
              cell.facts.trace.c_str(), cell.facts.cluster.c_str(), cell.rules.c_str(),
              static_cast<long long>(cell.facts.jobs), cell.facts.from_s, cell.facts.to_s);
  std::printf("congestion %.3f (arrivals x %.4g), load %s, costs x %g, %d replicas, %d seed%s\n\n",
              cell.facts.congestion, cell.facts.factor, load_text(cell.facts.load).c_str(),
              cell.cost_scale, cell.replicas, cell.seeds(), cell.seeds() == 1 ? "" : "s");
  if (!variation.empty()) std::printf("varied: %s\n\n", variation.c_str());
  std::printf("  %-28s %-13s %-7s %12s %12s %12s %9s %10s  %s\n", "policy", "information", "speeds",
              "mean JCT s", "p99 s", "max wait s", "preempt", "unfinished",
              "candidate / it [95 %]");
  for (const Score& score : cell.candidates) {
    print_score(">", score);
    std::putchar('\n');
  }
  if (const Rival* self = cell.untrained_self()) {
    print_score("u", self->score);
    print_versus(self->candidate_over_it);
  }
  for (size_t i = 0; i < cell.rivals.size(); ++i) {
    const Rival& rival = cell.rivals[i];
    print_score(i == cell.yardstick ? "*" : i == cell.best_hindsight ? "+" : " ", rival.score);
    print_versus(rival.candidate_over_it);
  }
  if (cell.oracle) {
    std::printf("bound, best of %zu that know run times:\n", cell.bounds.size());
    print_score(" ", cell.bounds[*cell.oracle]);
    std::putchar('\n');
  }
  if (!cell.facts.no_bound.empty()) {
    std::printf("no bound, for knowing run times bounds nothing here: %s\n",
                cell.facts.no_bound.c_str());
    for (const Score& score : cell.bounds) {
      print_score(" ", score);
      std::putchar('\n');
    }
  }
  std::printf("\n%s / %s (* yardstick, chosen %s): %.3f [%.3f, %.3f], %s; %s (%d blocks)\n",
              cell.candidate_name.c_str(), cell.yardstick_score().name.c_str(),
              cell.validated ? "on validation" : "in hindsight", cell.versus.ratio,
              cell.versus.interval.lo, cell.versus.interval.hi, verdict(cell),
              cell.judged ? "judged" : "not judged", cell.versus.blocks);
  if (const Rival* self = cell.untrained_self()) {
    const Versus& versus = self->candidate_over_it;
    std::printf("to its untrained self (u), drawn in the same way: %.3f [%.3f, %.3f], %s\n",
                versus.ratio, versus.interval.lo, versus.interval.hi, learning_verdict(cell));
  }
  std::printf(
      "to the best in hindsight of %zu (+): %.3f; headroom %s (hindsight %s), captured %s\n",
      cell.rivals.size(), cell.ratio_hindsight(), percent(cell.headroom()).c_str(),
      percent(cell.headroom_hindsight()).c_str(), figure(2, cell.captured()).c_str());
  const std::optional<int> largest = cell.largest_class();
  std::printf("p99 x %s, JCT of the jobs of %s GPUs x %s, longest wait x %s, preemptions x %s\n",
              number_text(cell.over_yardstick(&Score::p99_jct_s)).c_str(),
              largest ? size_class_name(*largest) : "(no class)",
              number_text(cell.largest_class_jct_ratio()).c_str(),
              number_text(cell.over_yardstick(&Score::max_wait_s)).c_str(),
              number_text(cell.over_yardstick(&Score::preemptions)).c_str());
  std::printf("%.2f preemptions a job, of them %.2f moves; %.0f within 10 minutes of another\n",
              cell.per_job(&Score::preemptions), cell.per_job(&Score::moves),
              cell.mean(&Score::soon_again));
  if (const double early = cell.mean(&Score::ended_early); early > 0) {
    std::printf("%.1f jobs were ended early: the ratio counts them with the others\n", early);
  }
}

void print_cells(const std::vector<CellResult>& cells) {
  std::printf("%-24s %-24s %-13s %-7s %6s %6s %-16s %6s %-16s %6s %6s %7s %8s  %s\n", "cell", "policy",
              "information", "speeds", "jobs", "load", "yardstick", "ratio", "95 %", "hinds.",
              "untr.", "headr.", "captured", "");
  for (const CellResult& cell : cells) {
    char interval[32];
    std::snprintf(interval, sizeof interval, "[%.3f, %.3f]", cell.versus.interval.lo,
                  cell.versus.interval.hi);
    const Score& first = cell.candidates.front();
    std::printf("%-24s %-24s %-13s %-7s %6lld %6s %-16s %6.3f %-16s %6.3f %6s %s %s  %s%s\n",
                cell.cell.c_str(), cell.candidate_name.c_str(), level_name(first.level),
                speed_level_name(first.speeds), static_cast<long long>(cell.facts.jobs),
                load_text(cell.facts.load).c_str(), cell.yardstick_score().name.c_str(),
                cell.versus.ratio, interval, cell.ratio_hindsight(),
                cell.untrained ? number_text(cell.untrained_self()->candidate_over_it.ratio).c_str()
                               : "-",
                padded(percent(cell.headroom_hindsight()), 7).c_str(),
                padded(figure(2, cell.captured()), 8).c_str(), verdict(cell),
                cell.judged ? "" : " (not judged)");
  }
  std::string said;
  for (const CellResult& cell : cells) {
    if (cell.facts.no_bound.empty() || cell.cell == said) continue;
    said = cell.cell;
    std::printf("%s: no headroom, for knowing run times bounds nothing here: %s\n",
                cell.cell.c_str(), cell.facts.no_bound.c_str());
  }
}

void print_summary(const std::vector<SummaryRow>& rows) {
  const auto line = [](const char* what, const Estimate& estimate) {
    std::printf("  %-28s %s [%s, %s]\n", what, padded(figure(3, estimate.value), 7).c_str(),
                figure(3, estimate.interval.lo).c_str(), figure(3, estimate.interval.hi).c_str());
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
    line("captured", row.pooled.captured);
    line("probability of improvement", row.pooled.improvement);
    for (const Against& one : row.against) {
      if (one.policy == "untrained") line("ratio to its untrained self", one.ratio);
    }
    std::printf("  %d better, %d worse, the worst cell %.3f; to the best in hindsight %.3f\n",
                row.better, row.worse, row.ratio.worst, row.hindsight.ratio.value);
    std::printf("  mean (worst): p99 %s, largest class %s, longest wait %s, preemptions %s\n",
                mean_and_worst(row.p99).c_str(), mean_and_worst(row.largest_class).c_str(),
                mean_and_worst(row.max_wait).c_str(), mean_and_worst(row.preemptions).c_str());
    std::printf("  %.2f preemptions a job, %.0f in all within 10 minutes of another of the job\n",
                row.preemptions_per_job, row.soon_again);
    if (std::isfinite(row.decisions_per_s)) {
      std::printf("  %.0f decisions a second on one core", row.decisions_per_s);
      if (row.training_core_s > 0)
        std::printf("; training took %.0f core-seconds", row.training_core_s);
      std::printf("\n");
    }
  }
}

}  // namespace yard::sim
