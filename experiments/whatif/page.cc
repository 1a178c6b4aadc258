#include "experiments/whatif/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments/report/chart.h"
#include "experiments/report/html.h"
#include "experiments/report/html_table.h"
#include "experiments/report/style.h"
#include "experiments/whatif/groups.h"

namespace yard::whatif {
namespace {

using report::escape;
using report::number_text;

constexpr size_t kVisibleRows = 12;  // users or partitions shown; more are folded
constexpr size_t kMaxRows = 1000;    // per table, so that browsers open the page quickly
constexpr size_t kMaxPoints = 200;   // per line

// Additional styles, also for print, where nothing can scroll.
constexpr const char* kMoreStyle = R"css(
h1 { max-width: 56rem; }
.verdicts { padding-left: 1.25rem; max-width: 60rem; }
.verdicts > li { margin: .75rem 0; }
.verdicts ul { padding-left: 1.25rem; }
.lacks { max-width: 60rem; }
.longer { color: var(--c1); font-weight: 600; }
.few { color: var(--soft); }
thead th { white-space: normal; max-width: 8rem; }
td .interval { display: inline-block; vertical-align: middle; }
@media print {
  body { max-width: none; font-size: 9px; }
  .scroll { overflow: visible; }
  th, td { padding: .15rem .3rem; }
  .interval { width: 80px; }
  th:first-child { position: static; }
  .charts { grid-template-columns: 1fr 1fr; }
  section, figure, tr { break-inside: avoid-page; }
  section { break-inside: auto; }
}
)css";

// A policy's short name: "best" for "checkpoint:some/folder/best".
std::string short_label(const std::string& name) {
  const bool checkpoint = name.starts_with("checkpoint:");
  if (!checkpoint && !name.ends_with(".yaml") && !name.ends_with(".yml")) return name;
  const std::filesystem::path path = checkpoint ? name.substr(name.find(':') + 1) : name;
  return (path.filename().empty() ? path.parent_path() : path).stem().string();
}

std::string ratio_cell(const Row& row, size_t c) {
  if (c == 0) return std::string(report::kAbsent);
  const Change& change = row.changes[c];
  if (change.same) return "the same";
  if (change.unfinished > 0) return fmt::format("{} unfinished", change.unfinished);
  std::string out = std::isfinite(change.ratio) ? ratio_text(change.ratio)
                    : change.mean_s > 0         ? "from 0"
                                                : std::string(report::kAbsent);
  if (!change.mean_grows) return out;
  const bool few = !row.has_enough_jobs_for_verdict(c) && row.name != "all";
  return fmt::format("<span class='{}'>{} ▲</span>", few ? "longer few" : "longer", out);
}

std::string interval_cell(const Row& row, size_t c) {
  const Change& change = row.changes[c];
  if (c == 0 || change.same || !std::isfinite(change.ratio)) return std::string(report::kAbsent);
  if (!change.conclusive) return "<span class='few'>inconclusive</span>";
  return fmt::format(
      "{} {}", interval_text(change.interval, " to "),
      report::render_interval(change.interval.lo, change.ratio, change.interval.hi, 0.2, 5));
}

std::string longest_cell(const Row& row, size_t c) {
  const std::string text = number_text(row.by[c].max_wait_s, 0);
  const bool longer = c > 0 && row.changes[c].longest_wait_grows;
  return longer ? "<span class='longer'>" + text + " ▲</span>" : text;
}

std::vector<std::string> wait_cells(const std::string& name, const WaitFigures& f) {
  return {name, number_text(f.mean_wait_s, 0), number_text(f.p50_wait_s, 0),
          number_text(f.p90_wait_s, 0), number_text(f.p99_wait_s, 0)};
}

class Page {
 public:
  Page(const Comparison& comparison, const std::vector<Verdict>& verdicts,
       const std::vector<ComparedJob>& jobs, const PageFacts& facts)
      : comparison_(comparison), verdicts_(verdicts), jobs_(jobs), facts_(facts) {}

  std::string html() const {
    const std::string title = escape(headline());
    return "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/>\n"
           "<meta name='viewport' content='width=device-width, initial-scale=1'/>\n"
           // The page loads nothing from elsewhere, and browsers enforce it.
           "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src "
           "'unsafe-inline'\"/>\n<title>" +
           escape("What if: " + facts_.source) + "</title>\n<style>" + report::kStyle + kMoreStyle +
           "</style></head>\n<body>\n<header><h1>" + title + "</h1>\n" + intro() +
           "</header>\n<main>\n" + verdict_list() + limitations() + overall() + distribution() +
           by_size() + by_name(comparison_.by_partition, "By partition", "partition") +
           by_name(comparison_.by_user, "By user", "user") + how_to_read() + provenance() +
           "</main>\n</body></html>\n";
  }

 private:
  std::string headline() const {
    const Verdict* first = headline_verdict(comparison_, verdicts_);
    if (first == nullptr && !verdicts_.empty()) first = &verdicts_.front();
    return first != nullptr ? first->headline : baseline_fit_text(comparison_);
  }

  std::string intro() const {
    return fmt::format("<p>{} of {} simulated on {}. {}</p>\n", jobs_text(comparison_.all.jobs),
                       escape(facts_.source), escape(facts_.cluster),
                       escape(baseline_fit_text(comparison_)));
  }

  std::string verdict_list() const {
    if (verdicts_.empty()) return "";
    std::string out = "<section><h2>Verdict</h2>\n";
    for (const RequirementGroup& group : group_candidates_by_requirement(comparison_)) {
      std::string items;
      for (const size_t c : group.candidates) {
        if (c > 0) items += verdict_item(verdicts_[c - 1]);
      }
      if (items.empty()) continue;
      if (!group.heading.empty()) out += "<h3>Candidates: " + escape(group.heading) + "</h3>\n";
      out += "<ul class='verdicts'>" + items + "</ul>\n";
    }
    return out + "</section>\n";
  }

  static std::string verdict_item(const Verdict& verdict) {
    std::string out = "<li>" + escape(verdict.mean);
    if (!verdict.longer_groups.empty()) {
      out += " Mean wait over 10 % longer:<ul>";
      for (const std::string& longer_group : verdict.longer_groups)
        out += "<li>" + escape(longer_group) + "</li>";
      out += "</ul>";
    }
    return out + " " + escape(verdict.conditions_text) + "</li>\n";
  }

  std::string limitations() const {
    if (facts_.limitations.empty()) return "";
    std::string out =
        "<section><h2>Limitations of the log, and assumptions</h2>\n<ul class='lacks'>";
    for (const std::string& lack : facts_.limitations) out += "<li>" + escape(lack) + "</li>\n";
    return out + "</ul></section>\n";
  }

  std::string overall() const {
    report::Table table({"policy", "mean wait s", "median s", "p90 s", "p99 s", "longest s",
                         "ratio to first policy", "95 % interval", "mean JCT s", "utilisation",
                         "preemptions"});
    const WaitFigures& logged = comparison_.all.logged;
    std::vector<std::string> cells = wait_cells("the log", logged);
    const std::string none(report::kAbsent);
    cells.insert(cells.end(), {number_text(logged.max_wait_s, 0), none, none,
                               number_text(logged.mean_jct_s, 0), none, none});
    table.row(cells);
    for (const RequirementGroup& group : group_candidates_by_requirement(comparison_)) {
      if (!group.heading.empty()) table.group_heading(group.heading);
      for (const size_t c : group.candidates) {
        const Candidate& policy = comparison_.candidates[c];
        cells = policy_cells(comparison_.all, c);
        cells.insert(cells.end(), {number_text(comparison_.all.by[c].mean_jct_s, 0),
                                   number_text(policy.utilisation, 3),
                                   number_text(static_cast<double>(policy.preemptions), 0)});
        table.row(cells, c == 0 ? "ours" : "");
      }
    }
    return report::section("All jobs", table.html());
  }

  std::vector<std::string> policy_cells(const Row& row, size_t c) const {
    std::vector<std::string> cells =
        wait_cells(escape(short_label(comparison_.candidates[c].name)), row.by[c]);
    cells.insert(cells.end(), {longest_cell(row, c), ratio_cell(row, c), interval_cell(row, c)});
    return cells;
  }

  std::string by_size() const {
    report::Table table({"policy", "mean wait s", "median s", "p90 s", "p99 s", "longest s",
                         "ratio to first policy", "95 % interval"});
    for (const Row& row : comparison_.by_size.rows) {
      table.group_heading(fmt::format("{}{} GPU{}, {}", row.single_size ? "of these, exactly " : "",
                                      row.name, row.name == "1" ? "" : "s", jobs_text(row.jobs)));
      for (size_t c = 0; c < comparison_.candidates.size(); ++c) {
        table.row(policy_cells(row, c), c == 0 ? "ours" : "");
      }
    }
    return report::section("By job size", table.html());
  }

  // A compact table, since there may be many names: a row per name, a column per policy.
  std::string by_name(const Table& of, const char* title, const char* what) const {
    if (of.rows.empty()) return "";
    const size_t rows = std::min(of.rows.size(), kMaxRows);
    std::string out = fmt::format(
        "<section><h2>{}</h2>\n<p>Mean wait in seconds, its ratio to the first policy's, and "
        "after the slash the longest wait in seconds. Sorted by number of jobs.</p>\n",
        title);
    out += named_table(of, what, 0, std::min(rows, kVisibleRows));
    if (rows > kVisibleRows) {
      out += fmt::format("<details><summary>{} more</summary>\n", rows - kVisibleRows) +
             named_table(of, what, kVisibleRows, rows) + "</details>\n";
    }
    if (of.rows.size() > rows) out += "<p>The others are in the JSON document.</p>\n";
    return out + "</section>\n";
  }

  std::string named_table(const Table& of, const char* what, size_t from, size_t to) const {
    std::vector<std::string> headings = {what, "jobs"};
    for (const Candidate& policy : comparison_.candidates) {
      headings.push_back(short_label(policy.name));
      std::ranges::replace(headings.back(), '|', ' ');
    }
    report::Table table(headings);
    for (size_t r = from; r < to; ++r) {
      const Row& row = of.rows[r];
      std::vector<std::string> cells = {row.name.empty() ? "(none)" : escape(row.name),
                                        number_text(static_cast<double>(row.jobs), 0)};
      for (size_t c = 0; c < comparison_.candidates.size(); ++c) {
        const Change& change = row.changes[c];
        std::string cell = number_text(row.by[c].mean_wait_s, 0);
        if (c > 0 && !change.same) {
          cell += (std::isfinite(change.ratio) && change.unfinished == 0 ? " × " : ", ") +
                  ratio_cell(row, c);
        }
        cells.push_back(cell + " / " + longest_cell(row, c));
      }
      table.row(cells);
    }
    return table.html();
  }

  std::string distribution() const {
    report::Chart within{.title = "How long jobs wait",
                         .note = "Waits under 1 s are drawn as 1 s.",
                         .x = {.label = "wait", .unit = report::Unit::kSeconds, .log = true},
                         .y = {.label = "share of jobs that wait no longer than this",
                               .unit = report::Unit::kPercent,
                               .to = 1},
                         .lines = {}};
    report::Chart longer = within;
    longer.title = "The longest waits";
    longer.note = "The further a line reaches to the right, the longer the last jobs wait.";
    longer.y = {.label = "share of jobs that wait longer than this",
                .unit = report::Unit::kPercent,
                .log = true};
    const auto add = [&](const std::string& name, std::vector<double> waits, bool dashed) {
      if (waits.empty() || within.lines.size() >= report::kColours) return;
      std::ranges::sort(waits);
      const int colour = static_cast<int>(within.lines.size());
      within.lines.push_back({name, shares(waits, false), colour, dashed});
      longer.lines.push_back({name, shares(waits, true), colour, dashed});
    };
    for (size_t c = 0; c < comparison_.candidates.size(); ++c) {
      add(short_label(comparison_.candidates[c].name),
          waits_of([c](const ComparedJob& job) { return job.by[c]; }),
          comparison_.candidates[c].knows_run_times);
    }
    add("the log", waits_of([](const ComparedJob& job) { return job.logged; }), true);
    const std::string charts = report::render(within) + report::render(longer);
    if (charts.empty()) return "";
    return report::section("Waits", "<div class='charts'>" + charts + "</div>");
  }

  template <class Of>
  std::vector<double> waits_of(const Of& times_of) const {
    std::vector<double> out;
    for (const ComparedJob& job : jobs_) {
      const JobTimes times = times_of(job);
      if (times.known()) out.push_back(std::max(1.0, static_cast<double>(times.wait_us) / 1e6));
    }
    return out;
  }

  // Cumulative shares, or the shares above each value if `tail`, with single jobs at the end.
  static std::vector<report::Point> shares(const std::vector<double>& sorted, bool tail) {
    std::vector<report::Point> out;
    const size_t n = sorted.size();
    for (size_t i = 0; i < n;) {
      const double up_to = static_cast<double>(i + 1) / static_cast<double>(n);
      out.push_back({sorted[i], tail ? 1 - up_to : up_to});
      if (i + 1 == n) break;
      const size_t step = tail ? (n - i) / 60 : n / kMaxPoints;
      i = std::min(n - 1, i + std::max<size_t>(1, step));
    }
    return out;
  }

  static std::string how_to_read() {
    return "<section><h2>How to read this</h2>\n<p>" + escape(kHowToRead) +
           " ▲ marks an increase of over 10 %, in a lighter shade for fewer than " +
           std::to_string(kMinJobsPerGroup) + " jobs. Inconclusive means fewer than " +
           std::to_string(kMinBlocks) +
           " independent blocks of time, or blocks that differ too much.</p></section>\n";
  }

  std::string provenance() const {
    std::string out = "<section><h2>Provenance</h2>\n<dl class='provenance'>";
    for (const auto& [name, value] : facts_.provenance) {
      if (!value.empty()) out += "<dt>" + escape(name) + "</dt><dd>" + escape(value) + "</dd>\n";
    }
    return out + "</dl></section>\n";
  }

  const Comparison& comparison_;
  const std::vector<Verdict>& verdicts_;
  const std::vector<ComparedJob>& jobs_;
  const PageFacts& facts_;
};

}  // namespace

std::string page_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<ComparedJob>& jobs, const PageFacts& facts) {
  return Page(comparison, verdicts, jobs, facts).html();
}

}  // namespace yard::whatif
