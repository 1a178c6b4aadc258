#include "experiments/whatif/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/stats/number_text.h"
#include "experiments/whatif/groups.h"
#include "policies/policy.h"

namespace yard::whatif {
namespace {

constexpr size_t kMaxGroups = 8;  // users or partitions
constexpr size_t kLineLength = 110;

// Wraps text at kLineLength. Lines after the first are indented by `indent` spaces.
std::string wrapped(const std::string& text, size_t indent) {
  std::string out, line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > kLineLength) {
      out += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (at == 0 ? "" : " ") + word;
    }
    at = end + 1;
  }
  return out + line + "\n";
}

std::string without_trailing_blanks(const std::string& text) {
  std::string out;
  for (const char c : text) {
    while (c == '\n' && out.ends_with(' ')) out.pop_back();
    out += c;
  }
  return out;
}

std::string change_text(const Change& change) {
  if (change.same) return "1 (the same)";
  if (change.unfinished > 0) return fmt::format("n/a ({} unfinished)", change.unfinished);
  std::string out = std::isfinite(change.ratio) ? ratio_text(change.ratio) : "n/a";
  if (change.conclusive) {
    out += " [" + interval_text(change.interval, ", ") + "]";
  } else if (std::isfinite(change.ratio)) {
    out += " inconclusive";
  }
  return out;
}

class Printer {
 public:
  explicit Printer(const Comparison& comparison) : comparison_(comparison) {
    for (const Candidate& policy : comparison.candidates) {
      name_width_ = std::max(name_width_, policy.name.size());
    }
  }

  std::string overall() const {
    std::string out = fmt::format(
        "{:{}} {:>12} {:>10} {:>12} {:>12} {:>12} {:>14} {:>6} {:>8}  {:13} {:7}  {}\n", "",
        name_width_, "mean wait s", "median s", "p90 s", "p99 s", "longest s", "mean JCT s", "util",
        "preempt", "information", "speeds", "ratio to first policy");
    out += figures("logged", comparison_.all.logged) + fmt::format(" {:>6} {:>8}\n", "-", "-");
    for (const RequirementGroup& group : group_candidates_by_requirement(comparison_)) {
      if (!group.heading.empty()) out += group.heading + ":\n";
      for (const size_t c : group.candidates) {
        const Candidate& policy = comparison_.candidates[c];
        out +=
            figures(policy.name, comparison_.all.by[c]) +
            fmt::format(" {:6.3f} {:8}  {:13} {:7}  {}{}\n", policy.utilisation, policy.preemptions,
                        information_level_name(policy.level), speed_information_name(policy.speeds),
                        c == 0 ? "" : change_text(comparison_.all.changes[c]),
                        policy.needs_checkpointing ? "  needs checkpointing" : "");
      }
    }
    return out;
  }

  // A table with a line per row and policy; `most` limits the rows.
  std::string table(const Table& of, const std::string& title, size_t most) const {
    if (of.rows.empty()) return "";
    std::string out = fmt::format("\n{:{}} {:>7} {:>12} {:>10} {:>12} {:>12} {:>12}  {}\n", title,
                                  name_width_ + 2, "jobs", "mean wait s", "median s", "p90 s",
                                  "p99 s", "longest s", "ratio to first policy");
    for (size_t r = 0; r < std::min(most, of.rows.size()); ++r) {
      const Row& row = of.rows[r];
      const std::string name = row.name.empty() ? "(none)" : row.name;
      out += fmt::format("{:{}} {:>7}\n", row.single_size ? "  of these, " + name : name,
                         name_width_ + 2, row.jobs);
      for (size_t c = 0; c < comparison_.candidates.size(); ++c) {
        const Change& change = row.changes[c];
        const WaitFigures& f = row.by[c];
        out += fmt::format(
            "  {:{}} {:>7} {:>12.0f} {:>10.0f} {:>12.0f} {:>12.0f} {:>12.0f}  {}{}\n",
            comparison_.candidates[c].name, name_width_, "", f.mean_wait_s, f.p50_wait_s,
            f.p90_wait_s, f.p99_wait_s, f.max_wait_s, c == 0 ? "" : change_text(change),
            c > 0 && change.mean_grows
                ? (row.has_enough_jobs_for_verdict(c) ? "  LONGER" : "  longer, few jobs")
                : "");
      }
    }
    return out + more(of, most);
  }

  // A table with a line per row, which has the mean wait under every policy.
  std::string short_table(const Table& of, const std::string& title, size_t most) const {
    if (of.rows.empty()) return "";
    const size_t width = std::max<size_t>(name_width_, 18);
    std::string out = fmt::format("\n{:{}} {:>7}", title, name_width_ + 2, "jobs");
    for (const Candidate& policy : comparison_.candidates)
      out += fmt::format("  {:>{}}", policy.name, width);
    out += "  mean wait s (ratio to first policy)\n";
    for (size_t r = 0; r < std::min(most, of.rows.size()); ++r) {
      const Row& row = of.rows[r];
      out += fmt::format("{:{}} {:>7}", row.name.empty() ? "(none)" : row.name, name_width_ + 2,
                         row.jobs);
      for (size_t c = 0; c < comparison_.candidates.size(); ++c) {
        const Change& change = row.changes[c];
        std::string cell = fmt::format("{:.0f}", row.by[c].mean_wait_s);
        if (c > 0) {
          cell += std::isfinite(change.ratio) ? " (" + ratio_text(change.ratio) + ")" : "";
          cell += change.mean_grows ? " !" : "  ";
        }
        out += fmt::format("  {:>{}}", cell, width);
      }
      out += "\n";
    }
    return out + more(of, most);
  }

 private:
  static std::string more(const Table& of, size_t most) {
    if (of.rows.size() <= most) return "";
    return fmt::format("and {} more, listed by --report and --json\n", of.rows.size() - most);
  }

  std::string figures(const std::string& name, const WaitFigures& f) const {
    return fmt::format("{:{}} {:>12.0f} {:>10.0f} {:>12.0f} {:>12.0f} {:>12.0f} {:>14.0f}", name,
                       name_width_, f.mean_wait_s, f.p50_wait_s, f.p90_wait_s, f.p99_wait_s,
                       f.max_wait_s, f.mean_jct_s);
  }

  const Comparison& comparison_;
  size_t name_width_ = 20;
};

}  // namespace

std::string text_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const ReportHeader& headings) {
  std::string out =
      fmt::format("{}: {} with a logged start, on {}\n\n", headings.source,
                  pluralised_count_text(comparison.all.jobs, "job"), headings.cluster);
  if (!headings.limitations.empty()) {
    out += "Limitations of the log, and assumptions:\n";
    for (const std::string& lack : headings.limitations) out += wrapped("- " + lack, 2);
    out += "\n";
  }
  const Printer printer(comparison);
  out += printer.overall();
  if (comparison.candidates.size() > 1) {
    out += printer.table(comparison.by_size, "by GPUs per job", comparison.by_size.rows.size());
    out += printer.table(comparison.by_partition, "by partition", kMaxGroups);
    out += printer.short_table(comparison.by_user, "by user, most jobs first", kMaxGroups);
  }
  out += "\n" + wrapped(baseline_fit_text(comparison), 0);
  for (const Verdict& verdict : verdicts) out += "\n" + wrapped(verdict.text(), 2);
  if (verdicts.empty()) {
    out += wrapped("To compare other policies with it: --policy " + comparison.candidates[0].name +
                       ",greedy,...",
                   0);
  }
  out += "\n" + wrapped(kHowToRead, 0);
  return without_trailing_blanks(out);
}

}  // namespace yard::whatif
