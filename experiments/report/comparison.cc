// What evaluate found: the candidate against the yardstick in every cell, and each cell in full.
#include <algorithm>
#include <cmath>

#include "experiments/report/chart.h"
#include "experiments/report/html.h"
#include "experiments/report/sections.h"
#include "experiments/report/table.h"

namespace yard::report {
namespace {

std::string cell(const Json& row, const char* key, int decimals) {
  return number_text(number(row, key), decimals);
}

std::string percent(const Json& row, const char* key) {
  const auto value = number(row, key);
  return value ? number_text(100 * *value, 1) + " %" : std::string(kAbsent);
}

// The axis that all intervals of a table share goes from 1/reach to reach; what is further off lies
// at its end.
double reach(const std::vector<const Json*>& rows) {
  double most = std::log(1.1);
  for (const Json* row : rows) {
    for (const char* key : {"ratio", "candidate_ratio", "lo", "hi"}) {
      const auto value = number(*row, key);
      if (value && *value > 0) most = std::max(most, std::abs(std::log(*value)));
    }
  }
  return std::exp(std::min(most, std::log(2)) * 1.05);
}

// "0.962 [0.933, 0.991]" and its drawing, two cells.
void add_ratio(std::vector<std::string>& cells, const Json& row, const char* key, double reach) {
  const auto ratio = number(row, key), lo = number(row, "lo"), hi = number(row, "hi");
  std::string shown = number_text(ratio, 3);
  std::string drawn(kAbsent);
  if (ratio && lo && hi) {
    shown += " [" + number_text(lo, 3) + ", " + number_text(hi, 3) + "]";
    if (*ratio > 0) drawn = render_interval(std::max(*lo, 1e-9), *ratio, *hi, 1 / reach, reach);
  }
  cells.push_back(shown);
  cells.push_back(drawn);
}

std::string verdict(const Json& row) {
  const auto lo = number(row, "lo"), hi = number(row, "hi");
  if (number(row, "unfinished").value_or(0) > 0) return "failed: jobs did not finish";
  if (!lo || !hi) return "no interval";
  const bool judged = row.value("judged", Json(false)) == Json(true);
  const std::string word = *hi < 1 ? "better" : *lo > 1 ? "worse" : "not told apart";
  return judged ? word : word + ", not judged";
}

std::string yardstick(const Json& row) {
  const std::string chosen = text(row, "yardstick_chosen");
  return Names::short_of(text(row, "yardstick")) + (chosen.empty() ? "" : " (" + chosen + ")");
}

// The bounds' best and the family it is of; nothing where there is none.
const Json* best_bound(const Json& row) {
  if (!row.contains("bounds") || !row["bounds"].is_array()) return nullptr;
  for (const Json& bound : row["bounds"]) {
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
                {"openings of the test part", opened > 0 ? figure("test_openings", 0) : ""}});
}

std::string cell_table(const RunRecord& run, const Json& row) {
  Table table({"policy", "information|the most that it was told about run times", "mean JCT s",
               "p99 JCT s", "longest wait s", "preemptions", "unfinished",
               "candidate / it|mean JCT, with its 95 % interval; below 1 is better", "", ""});
  std::vector<const Json*> rivals;
  if (row.contains("policies") && row["policies"].is_array()) {
    for (const Json& rival : row["policies"]) rivals.push_back(&rival);
  }
  const bool learned = row.contains("untrained") && row["untrained"].is_object();
  std::vector<const Json*> all = rivals;
  if (learned) all.push_back(&row["untrained"]);
  const double wide = reach(all);
  const auto add = [&](const Json& of, const std::string& role, const char* css_class) {
    std::vector<std::string> cells = {escape(Names::label(run, text(of, "policy"))),
                                      escape(text(of, "information")),
                                      cell(of, "mean_jct_s", 0),
                                      cell(of, "p99_jct_s", 0),
                                      cell(of, "max_wait_s", 0),
                                      cell(of, "preemptions", 0),
                                      cell(of, "unfinished", 0)};
    if (of.contains("candidate_ratio")) {
      add_ratio(cells, of, "candidate_ratio", wide);
    } else {
      cells.insert(cells.end(), {std::string(kAbsent), std::string(kAbsent)});
    }
    cells.push_back(role);
    table.row(cells, css_class);
  };
  add(row, "the candidate", "ours");
  if (learned) add(row["untrained"], "before its training, drawn in the same way", "");
  for (const Json* rival : rivals) {
    const std::string name = text(*rival, "policy");
    std::string role = name == text(row, "yardstick") ? "yardstick" : "";
    if (name == text(row, "best_hindsight")) role += role.empty() ? "best here" : ", best here";
    add(*rival, role, "");
  }
  if (const Json* bound = best_bound(row)) {
    table.heading("A bound, no competitor: it is told run times in advance");
    add(*bound, "best of " + std::to_string(row["bounds"].size()), "");
  }
  return table.html();
}

std::string scene(const Json& row) { return text(row, "trace") + " on " + text(row, "cluster"); }

}  // namespace

std::string comparison(const Runs& runs) {
  std::vector<const Json*> all;
  for (const RunRecord* run : runs) {
    for (const Document& document : run->comparisons) {
      for (const Json& row : document.json["cells"]) all.push_back(&row);
    }
  }
  if (all.empty()) return "";
  const double wide = reach(all);
  Table table({"candidate",
               "ratio|mean JCT over the yardstick's, with its 95 % interval; below 1 is better", "",
               "verdict", "where", "yardstick|the heuristic chosen on validation, or in hindsight",
               "in hindsight|ratio to the best heuristic of this very window",
               "headroom|what could be won at all: 1 - oracle / yardstick",
               "captured|share of the headroom that was won, as logarithms", "p99",
               "largest jobs|mean JCT ratio of the largest class of jobs", "longest wait|ratio",
               "preemptions|ratio", "mean JCT s", "information", "file"});
  for (const RunRecord* run : runs) {
    for (const Document& document : run->comparisons) {
      for (const Json& row : document.json["cells"]) {
        std::string name = runs.size() > 1 ? run->name + ": " : "";
        name += Names::label(*run, text(row, "policy"));
        std::vector<std::string> cells = {escape(name)};
        add_ratio(cells, row, "ratio", wide);
        cells.insert(
            cells.end(),
            {verdict(row), escape(scene(row)), escape(yardstick(row)),
             cell(row, "ratio_hindsight", 3), percent(row, "headroom"), cell(row, "captured", 3),
             cell(row, "p99_ratio", 3), cell(row, "largest_class_jct_ratio", 3),
             cell(row, "max_wait_ratio", 3), cell(row, "preemptions_ratio", 2),
             cell(row, "mean_jct_s", 0), escape(text(row, "information")), escape(document.file)});
        table.row(cells);
      }
    }
  }
  return "<section><h2>Comparison</h2>\n<p>Mean job completion time (JCT) of the same jobs under "
         "the same arrivals. A ratio below 1 is better than the yardstick, above 1 worse; an "
         "interval that holds 1 does not tell them apart.</p>\n" +
         table.html() + "</section>\n";
}

std::string cells(const RunRecord& run) {
  std::string out;
  for (const Document& document : run.comparisons) {
    for (const Json& row : document.json["cells"]) {
      out += "<h3>" + escape(scene(row) + ", " + document.file) + "</h3>\n" + cell_facts(row) +
             cell_table(run, row);
    }
  }
  return out.empty() ? "" : "<section><h2>Policies, cell by cell</h2>\n" + out + "</section>\n";
}

}  // namespace yard::report
