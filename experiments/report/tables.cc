// Tables of a report: replays with details, runs, settings, provenance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/report/html.h"
#include "experiments/report/html_table.h"
#include "experiments/report/plain_tables.h"
#include "experiments/report/sections.h"

namespace yard::report {
namespace {

std::string or_absent(const std::string& value) {
  return value.empty() ? std::string(kAbsent) : escape(value);
}

// Decimals of each column, by its largest figure. All columns of seconds have the same.
std::vector<int> decimals_of(const PlainTable& table) {
  struct Extent {
    bool whole = true;
    double most = 0;
  };
  const auto key = [&](size_t c) {
    return table.columns[c].ends_with("_s") ? "_s" : table.columns[c];
  };
  std::map<std::string, Extent> extents;
  for (const std::vector<Json>& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (!row[c].is_number()) continue;
      const double figure = row[c].get<double>();
      Extent& extent = extents[key(c)];
      extent.whole = extent.whole && figure == std::floor(figure);
      extent.most = std::max(extent.most, std::abs(figure));
    }
  }
  std::vector<int> out;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const Extent& extent = extents[key(c)];
    out.push_back(extent.whole || extent.most >= 1000 ? 0 : extent.most >= 100 ? 1 : 3);
  }
  return out;
}

}  // namespace

std::string cell(const Json& row, const char* key, int decimals) {
  return number_text(number(row, key), decimals);
}

std::string replays_section(const RunRecord& run) {
  std::string out;
  for (const JsonFile& document : run.replays) {
    const Json& json = document.json;
    Table table({"<policy", "<placement", "<information", "jobs", "unfinished", "mean JCT s",
                 "p50 JCT s", "p99 JCT s", "mean wait s", "longest wait s", "makespan s",
                 "utilisation", "preemptions"});
    const auto add = [&](const Json& row) {
      const std::string policy = text(row, "policy");
      table.row(
          {escape(PolicyLabels::label(run, policy)), or_absent(text(row, "placement")),
           or_absent(information_text(row)), cell(row, "jobs", 0), cell(row, "unfinished", 0),
           cell(row, "mean_jct_s", 0), cell(row, "p50_jct_s", 0), cell(row, "p99_jct_s", 0),
           cell(row, "mean_wait_s", 0), cell(row, "max_wait_s", 0), cell(row, "makespan_s", 0),
           cell(row, "utilisation", 3), cell(row, "preemptions", 0)},
          policy.starts_with("checkpoint:") ? "ours" : "");
    };
    if (Json logged = member_or_null(json, "logged"); logged.is_object()) {
      logged["policy"] = "log";
      add(logged);
    }
    const std::string no_bound = text(json, "no_bound");
    bool bounds = false;
    for (const Json& row : json["runs"]) {
      bounds = bounds || is_oracle_bound(row);
      if (!is_oracle_bound(row)) add(row);
    }
    if (bounds && no_bound.empty()) {
      table.group_heading("Oracles: bounds, not rivals, since they see true run times");
    } else if (bounds) {
      table.group_heading("Oracles: they see true run times, but are not bounds because of " +
                          escape(no_bound));
    }
    for (const Json& row : json["runs"]) {
      if (is_oracle_bound(row)) add(row);
    }
    const Json& trace = member_or_null(json, "trace");
    out += "<h3>" +
           escape(text(trace, "source") + " on " + text(member_or_null(json, "cluster"), "text")) +
           "</h3>\n";
    std::optional<double> copies = number(trace, "jobs_copied");
    if (copies == 0) copies.reset();
    out += facts({{"scored jobs", cell(trace, "jobs_scored", 0)},
                  {"unscored copies of these after the window", number_text(copies, 0)},
                  {"load", cell(trace, "load", 3)},
                  {"file", document.file}}) +
           table.html();
  }
  return section("Replays", out);
}

std::string replay_tables_section(const RunRecord& run) {
  std::string out;
  for (const JsonFile& document : run.replays) {
    for (const PlainTable& plain : plain_tables(document.json["runs"])) {
      std::vector<std::string> headings;
      for (const std::string& column : plain.columns) {
        const bool words = column == "policy" || column == "reason" || column == "tenant";
        headings.push_back((words ? "<" : "") + key_title(column));
      }
      Table table(headings);
      const std::vector<int> decimals = decimals_of(plain);
      for (const std::vector<Json>& row : plain.rows) {
        std::vector<std::string> cells;
        for (const Json& value : row) {
          if (value.is_string()) {
            const std::string text_value = value.get<std::string>();
            cells.push_back(
                escape(cells.empty() ? PolicyLabels::label(run, text_value) : text_value));
          } else if (!value.is_number()) {
            cells.emplace_back(kAbsent);
          } else {
            cells.push_back(number_text(value.get<double>(), decimals[cells.size()]));
          }
        }
        table.row(cells);
      }
      out += "<h3>" + escape(plain.title);
      if (run.replays.size() > 1) out += ", " + escape(document.file);
      out += "</h3>\n" + table.html();
    }
  }
  return section("Size classes, waits, tenants, GPU time", out);
}

std::string runs_table(const Runs& runs) {
  Table table({"<run", "<agent", "seed", "<state", "<started", "<ended", "<version"});
  for (const RunRecord* run : runs) {
    if (!run->is_from_run_folder()) continue;
    const Json& of = run->run;
    const Json& version = member_or_null(of, "yardmaster");
    table.row({escape(run->name), or_absent(run->agent()), or_absent(text(of, "seed")),
               or_absent(text(of, "state")), or_absent(text(of, "started")),
               or_absent(text(of, "ended")),
               escape(text(version, "release") + " " + text(version, "commit"))});
  }
  return section("Runs", table.html());
}

std::string settings_diff(const Runs& runs) {
  std::vector<std::string> keys, headings = {"<setting"};
  for (const RunRecord* run : runs) {
    headings.push_back("<" + run->name);
    for (const auto& [key, value] : run->config) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  for (std::string& heading : headings) std::ranges::replace(heading, '|', ' ');
  Table table(headings);
  bool any = false;
  for (const std::string& key : keys) {
    std::vector<std::string> cells = {escape(key)};
    std::set<std::string> values;
    for (const RunRecord* run : runs) {
      const auto at =
          std::ranges::find_if(run->config, [&](auto& one) { return one.first == key; });
      cells.push_back(at == run->config.end() ? std::string(kAbsent) : escape(at->second));
      values.insert(cells.back());
    }
    if (values.size() == 1) continue;
    any = true;
    table.row(cells);
  }
  return any ? section("Settings that differ", table.html()) : "";
}

std::string provenance_section(const RunRecord& run) {
  const Json& of = run.run;
  if (!run.is_from_run_folder()) return "";
  std::string out = "<h3>Provenance</h3>\n<dl class='provenance'>";
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", name, value);
  };
  const Json& version = member_or_null(of, "yardmaster");
  for (const char* key : {"agent", "seed", "state"}) line(key, escape(text(of, key)));
  std::string when = text(of, "started");
  if (!text(of, "ended").empty()) when += " to " + text(of, "ended");
  const size_t resumed = member_or_null(of, "resumed").size();
  if (resumed > 0) when += fmt::format(", resumed: {}", resumed);
  line("when", escape(when));
  std::string built;
  for (const auto& [key, value] : version.items()) {
    if (key == "release" || key == "commit") continue;
    built += (built.empty() ? "" : ", ") + key + " " + text(version, key.c_str());
  }
  const std::string commit = text(version, "commit");
  if (!commit.empty()) {
    line("version", escape("yardmaster " + text(version, "release") + ", commit " + commit));
  }
  line("built with", escape(built));
  if (const Json& machine = member_or_null(of, "machine"); !machine.empty()) {
    line("machine", escape(text(machine, "cpu") + ", " + text(machine, "cores") + " cores, " +
                           text(machine, "memory_gib") + " GiB"));
  }
  for (const Json& trace : member_or_null(of, "traces")) {
    const std::string sha = text(trace, "sha256");
    line(("trace, " + escape(text(trace, "used_as"))).c_str(),
         escape(text(trace, "source")) +
             (sha.empty() ? "" : " <code>sha256 " + escape(sha) + "</code>"));
  }
  return out + "</dl>\n";
}

std::string settings(const RunRecord& run) {
  if (run.config.empty()) return "";
  Table table({"<setting", "<value"});
  for (const auto& [key, value] : run.config) table.row({escape(key), or_absent(value)});
  return "<details><summary>All settings</summary>\n" + table.html() + "</details>\n";
}

}  // namespace yard::report
