// Results of evaluate: the candidate against the baseline in every cell, and each cell in full.
#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/report/chart.h"
#include "experiments/report/html.h"
#include "experiments/report/html_table.h"
#include "experiments/report/sections.h"
#include "experiments/stats/number_text.h"

namespace yard::report {
namespace {

std::string percent(const Json& row, const char* key) {
  const auto value = number(row, key);
  return value ? number_text(100 * *value, 1) + " %" : std::string(kAbsent);
}

// All intervals of a table share an axis from 1/axis_reach to axis_reach; values beyond it are
// clamped.
double axis_reach(const std::vector<const Json*>& rows) {
  double most = std::log(1.1);
  for (const Json* row : rows) {
    for (const char* key : {"ratio", "candidate_ratio", "lo", "hi"}) {
      const auto value = number(*row, key);
      if (value && *value > 0) most = std::max(most, std::abs(std::log(*value)));
    }
  }
  return std::exp(std::min(most, std::log(2)) * 1.05);
}

// Adds two cells: "0.962 [0.933, 0.991]" and its drawing.
void add_ratio(std::vector<std::string>& cells, const Json& row, const char* key,
               double axis_reach) {
  const auto ratio = number(row, key), lo = number(row, "lo"), hi = number(row, "hi");
  std::string shown = number_text(ratio, 3);
  std::string drawn(kAbsent);
  if (ratio && lo && hi) {
    shown += " [" + number_text(lo, 3) + ", " + number_text(hi, 3) + "]";
    if (*ratio > 0)
      drawn = render_interval(std::max(*lo, 1e-9), *ratio, *hi, 1 / axis_reach, axis_reach);
  }
  cells.push_back(shown);
  cells.push_back(drawn);
}

std::string verdict(const Json& row) {
  const auto lo = number(row, "lo"), hi = number(row, "hi");
  if (number(row, "unfinished").value_or(0) > 0) return "failed: jobs did not finish";
  if (!lo || !hi) return "no interval";
  const bool conclusive = row.value("conclusive", Json(false)) == Json(true);
  const std::string word = *hi < 1 ? "better" : *lo > 1 ? "worse" : "no significant difference";
  return conclusive ? word : word + " (inconclusive)";
}

// The figures which grow by over 10 %, as listed by evaluate; empty if none does.
std::string regressions(const Json& row) {
  std::string out;
  for (const Json& what : list_or_empty(row, "regressions")) {
    if (what.is_string()) out += (out.empty() ? "" : ", ") + what.get<std::string>();
  }
  return out;
}

std::string verdict_with_regressions(const Json& row) {
  const std::string also = regressions(row);
  if (also.empty()) return verdict(row);
  return verdict(row) + (number(row, "ratio").value_or(1) < 1 ? ", but " : "; also ") + also;
}

std::string baseline(const Json& row) {
  const std::string chosen = text(row, "baseline_chosen");
  return PolicyLabels::short_label(text(row, "baseline")) +
         (chosen.empty() ? "" : " (" + chosen + ")");
}

const Json* best_bound(const Json& row) {
  for (const Json& bound : list_or_empty(row, "bounds")) {
    if (bound.is_object() && text(bound, "policy") == text(row, "oracle")) return &bound;
  }
  return nullptr;
}

std::string cell_facts(const Json& row) {
  const auto figure = [&](const char* key, int decimals) { return cell(row, key, decimals); };
  const double opened = number(row, "test_openings").value_or(0);
  return facts({{"load", figure("load", 3)},
                {"congestion", figure("congestion", 2)},
                {"arrivals", "× " + figure("arrival_factor", 3)},
                {"costs", "× " + figure("cost_scale", 2)},
                {"rules", text(row, "rules")},
                {"scored jobs", figure("jobs", 0)},
                {"replicas", figure("replicas", 0)},
                {"blocks", figure("blocks", 0)},
                {"training seeds", figure("seeds", 0)},
                {"headroom", percent(row, "headroom")},
                {"headroom in hindsight", percent(row, "headroom_hindsight")},
                {"no headroom: oracles are not bounds because of", text(row, "no_bound")},
                {"test window openings", opened > 0 ? figure("test_openings", 0) : ""}});
}

double number_or(const Json& row, const char* key, double fallback) {
  return number(row, key).value_or(fallback);
}

// Adds the candidate's longest wait and preemptions, which some documents have only as ratios.
Json with_candidate_figures(const Json& row) {
  Json out = row;
  const double none = std::numeric_limits<double>::quiet_NaN();
  double baseline_wait_s = none;
  for (const Json& rival : list_or_empty(row, "policies")) {
    if (text(rival, "policy") == text(row, "baseline")) {
      baseline_wait_s = number_or(rival, "max_wait_s", none);
    }
  }
  out["max_wait_s"] =
      number_or(row, "max_wait_s", number_or(row, "max_wait_ratio", none) * baseline_wait_s);
  out["preemptions"] =
      number_or(row, "preemptions",
                number_or(row, "preemptions_per_job", none) * number_or(row, "jobs", none));
  return out;
}

std::string cell_table(const RunRecord& run, const Json& row) {
  Table table({"<policy", "<information|level of information on run times and speeds", "mean JCT s",
               "p99 JCT s", "longest wait s", "preemptions", "unfinished",
               "candidate / policy|ratio of mean JCTs with 95 % interval; below 1 is better", "",
               "<"});
  const Json &rivals = list_or_empty(row, "policies"),
             &untrained = member_or_null(row, "untrained");
  std::vector<const Json*> all;
  for (const Json& rival : rivals) all.push_back(&rival);
  if (untrained.is_object()) all.push_back(&untrained);
  const double half_width = axis_reach(all);
  const auto add = [&](const Json& of, const std::string& role, const char* css_class) {
    std::vector<std::string> cells = {escape(PolicyLabels::label(run, text(of, "policy"))),
                                      escape(information_text(of)),
                                      cell(of, "mean_jct_s", 0),
                                      cell(of, "p99_jct_s", 0),
                                      cell(of, "max_wait_s", 0),
                                      cell(of, "preemptions", 0),
                                      cell(of, "unfinished", 0)};
    if (of.contains("candidate_ratio")) {
      add_ratio(cells, of, "candidate_ratio", half_width);
    } else {
      cells.insert(cells.end(), {std::string(kAbsent), std::string(kAbsent)});
    }
    cells.push_back(role);
    table.row(cells, css_class);
  };
  add(with_candidate_figures(row), "candidate", "ours");
  if (untrained.is_object()) add(untrained, "untrained network, same action sampling", "");
  for (const Json& rival : rivals) {
    const std::string name = text(rival, "policy");
    std::string role = name == text(row, "baseline") ? "baseline" : "";
    if (name == text(row, "best_hindsight"))
      role += role.empty() ? "best in hindsight" : ", best in hindsight";
    add(rival, role, "");
  }
  if (const Json* bound = best_bound(row)) {
    table.group_heading("Oracle: a bound, not a rival, since it sees true run times");
    add(*bound, "best of " + std::to_string(row["bounds"].size()) + " oracles", "");
  }
  return table.html();
}

std::string scene_text(const Json& row) {
  const std::string cell = text(row, "cell");
  const bool more = !cell.empty() && cell != "as it is";
  return text(row, "trace") + " on " + text(row, "cluster") + (more ? ", " + cell : "");
}

struct ComparedRow {
  const RunRecord* run;
  const JsonFile* document;
  const Json* row;
};

std::vector<ComparedRow> comparison_rows(const Runs& runs) {
  std::vector<ComparedRow> out;
  for (const RunRecord* run : runs) {
    for (const JsonFile& document : run->comparisons) {
      for (const Json& row : document.json["cells"]) out.push_back({run, &document, &row});
    }
  }
  return out;
}

std::string candidate_name(const ComparedRow& one, bool several) {
  return (several ? one.run->name + ": " : "") +
         PolicyLabels::label(*one.run, text(*one.row, "policy"));
}

// Labels of the candidates, with the file if several rows about one cell have the same label.
std::vector<std::string> candidate_names(const std::vector<ComparedRow>& all, bool several) {
  std::vector<std::string> names;
  std::map<std::string, int> count;
  for (const ComparedRow& one : all) {
    names.push_back(candidate_name(one, several));
    ++count[names.back() + "\n" + scene_text(*one.row)];
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (count[names[i] + "\n" + scene_text(*all[i].row)] > 1) {
      names[i] += ", " + all[i].document->file;
    }
  }
  return names;
}

}  // namespace

std::string headline_of_comparison(const Runs& runs) {
  const std::vector<ComparedRow> all = comparison_rows(runs);
  if (all.empty()) return "";
  const std::vector<std::string> names = candidate_names(all, runs.size() > 1);
  if (all.size() == 1) {
    const Json& row = *all[0].row;
    const auto ratio = number(row, "ratio");
    if (!ratio) return names[0] + ": " + verdict(row) + ".";
    const auto lo = number(row, "lo"), hi = number(row, "hi");
    const std::string interval =
        lo && hi ? ", 95 % interval " + number_text(lo, 3) + " to " + number_text(hi, 3) : "";
    return names[0] + ": mean job completion time " + number_text(ratio, 3) + " times that of " +
           baseline(row) + interval + ", on " + scene_text(row) +
           ". Verdict: " + verdict_with_regressions(row) + ".";
  }
  // By candidate, in file order.
  std::vector<std::string> order;
  std::map<std::string, std::map<std::string, int>> verdicts;
  std::map<std::string, std::pair<double, int>> logs;
  for (const ComparedRow& one : all) {
    const std::string name = candidate_name(one, runs.size() > 1);
    if (std::ranges::find(order, name) == order.end()) order.push_back(name);
    ++verdicts[name][verdict(*one.row)];
    const auto ratio = number(*one.row, "ratio");
    if (!ratio || *ratio <= 0) continue;
    logs[name].first += std::log(*ratio);
    ++logs[name].second;
  }
  std::string out;
  constexpr size_t kMaxCandidates = 4;  // candidates in the headline
  for (size_t k = 0; k < std::min(order.size(), kMaxCandidates); ++k) {
    const auto [sum, ratios] = logs[order[k]];
    if (k > 0) out += " ";
    out += order[k];
    if (ratios > 0) {
      out += ": mean job completion time " + number_text(std::exp(sum / ratios), 3) +
             " times the baseline's (geometric mean of " + pluralised_count_text(ratios, "result") +
             ")";
    }
    std::string found;
    for (const auto& [what, count] : verdicts[order[k]]) {
      found += (found.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    }
    out += (ratios > 0 ? ". Verdicts: " : ": ") + found + ".";
  }
  if (order.size() <= kMaxCandidates) return out;
  return out + " " + std::to_string(order.size() - kMaxCandidates) +
         " more candidates are in the table.";
}

std::string comparison_section(const Runs& runs) {
  const std::vector<ComparedRow> all = comparison_rows(runs);
  if (all.empty()) return "";
  std::vector<const Json*> rows;
  for (const ComparedRow& one : all) rows.push_back(one.row);
  const double half_width = axis_reach(rows);
  const std::vector<std::string> names = candidate_names(all, runs.size() > 1);
  Table table({"<candidate",
               "ratio|mean JCT divided by the baseline's with 95 % interval; below 1 is better", "",
               "verdict", "<where",
               "<baseline|the rival chosen on validation windows or in hindsight", "mean JCT s"});
  Table more({"<candidate", "<where", "to best in hindsight|ratio to the best rival on this window",
              "headroom|1 minus the oracle's ratio to the baseline",
              "oracle gap closed|ln(ratio) / ln(oracle's ratio); 1 is as good as the oracle",
              "p99|ratio", "largest jobs|mean JCT ratio of the largest size class",
              "longest wait|ratio", "preemptions|ratio", "<information", "<file"});
  for (size_t i = 0; i < all.size(); ++i) {
    const Json& row = *all[i].row;
    std::vector<std::string> cells = {escape(names[i])};
    add_ratio(cells, row, "ratio", half_width);
    cells.insert(cells.end(), {escape(verdict_with_regressions(row)), escape(scene_text(row)),
                               escape(baseline(row)), cell(row, "mean_jct_s", 0)});
    table.row(cells);
    more.row({escape(names[i]), escape(scene_text(row)), cell(row, "ratio_hindsight", 3),
              percent(row, "headroom"), cell(row, "oracle_gap_closed", 3),
              cell(row, "p99_ratio", 3), cell(row, "largest_class_jct_ratio", 3),
              cell(row, "max_wait_ratio", 3), cell(row, "preemptions_ratio", 2),
              escape(information_text(row)), escape(all[i].document->file)});
  }
  return section(
      "Comparison",
      "<p>Mean job completion time (JCT) of the same jobs under the same arrivals. A ratio below 1 "
      "is better than the baseline, above 1 worse. If the interval contains 1, the difference is "
      "not significant.</p>\n" +
          table.html() + "<h3>Details of each comparison</h3>\n" + more.html());
}

std::string cells_section(const RunRecord& run) {
  std::string out;
  for (const JsonFile& document : run.comparisons) {
    for (const Json& row : document.json["cells"]) {
      out += "<h3>" +
             escape(PolicyLabels::label(run, text(row, "policy")) + ": " + scene_text(row) + ", " +
                    document.file) +
             "</h3>\n" + cell_facts(row) + cell_table(run, row);
    }
  }
  return section("Policies by cell", out);
}

}  // namespace yard::report
