// The headline of a page: its main result in a few sentences.
#include <algorithm>

#include "experiments/report/html.h"
#include "experiments/report/sections.h"

namespace yard::report {
namespace {

// The last and the lowest value of the first validation metric.
std::string headline_of_training(const RunRecord& run) {
  if (!run.metrics) return "";
  const MetricsCsv& metrics = *run.metrics;
  for (size_t c = 1; c < metrics.columns().size(); ++c) {
    if (!metrics.columns()[c].starts_with("validation/")) continue;
    std::optional<double> last, best;
    int64_t last_step = 0, best_step = 0;
    for (size_t r = 0; r < metrics.rows(); ++r) {
      const auto value = metrics.value(r, c);
      if (!value) continue;
      last = value;
      last_step = metrics.step(r);
      if (best && *best <= *value) continue;
      best = value;
      best_step = metrics.step(r);
    }
    if (!last) continue;
    return run.name + ": " + metrics.columns()[c] + " is " + number_text(last, 3) +
           " after update " + std::to_string(last_step) + "; its minimum is " +
           number_text(best, 3) + " after update " + std::to_string(best_step) + ".";
  }
  return "";
}

std::string verdicts_of(const Json& document) {
  std::string out;
  for (const Json& verdict : list_or_empty(document, "verdicts")) {
    out += (out.empty() ? "" : " ") + text(verdict, "text");
  }
  return out;
}

}  // namespace

// The verdicts of a whatif document, or the best and the worst policy of the first replay.
std::string headline_of_replays(const Runs& runs) {
  size_t num_replays = 0;
  for (const RunRecord* run : runs) num_replays += run->replays.size();
  for (const RunRecord* run : runs) {
    for (const JsonFile& document : run->replays) {
      const std::string about =
          num_replays > 1 ? (runs.size() > 1 ? run->name : document.file) + ": " : "";
      if (const std::string out = verdicts_of(document.json); !out.empty()) return about + out;
      std::vector<const Json*> rows;
      for (const Json& row : document.json["runs"]) {
        const bool whole = number(row, "unfinished").value_or(0) == 0;
        if (!is_oracle_bound(row) && whole && number(row, "mean_jct_s")) rows.push_back(&row);
      }
      if (rows.empty()) continue;
      const auto jct = [](const Json* row) { return *number(*row, "mean_jct_s"); };
      const auto name = [&](const Json* row) {
        return PolicyLabels::label(*run, text(*row, "policy"));
      };
      const auto [least, most] = std::ranges::minmax_element(rows, {}, jct);
      if (rows.size() > 1 && jct(*least) == jct(*most)) {
        return about + "All " + std::to_string(rows.size()) +
               " policies have the same mean job completion time, " + duration_text(jct(*least)) +
               ".";
      }
      const std::string shortest = duration_text(jct(*least));
      std::string out =
          about + name(*least) + " has a mean job completion time of " + shortest + ".";
      if (rows.size() > 1) {
        out = about + name(*least) + " has the lowest mean job completion time of " +
              std::to_string(rows.size()) + " policies, " + shortest + "; the highest is " +
              duration_text(jct(*most)) + ", under " + name(*most) + ".";
      }
      const auto waits = [](const Json* row) { return number(*row, "max_wait_s").value_or(0); };
      const Json* least_wait = *std::ranges::min_element(rows, {}, waits);
      if (waits(least_wait) < waits(*least)) {
        out += " Its longest wait is " + duration_text(waits(*least)) + ", compared with " +
               duration_text(waits(least_wait)) + " under " + name(least_wait) + ".";
      }
      return out;
    }
  }
  return "";
}

std::string headline(const Runs& runs) {
  std::string out = headline_of_comparison(runs);
  if (out.empty()) out = headline_of_replays(runs);
  if (!out.empty()) return out;
  for (const RunRecord* run : runs) {
    const std::string one = headline_of_training(*run);
    if (!one.empty()) out += (out.empty() ? "" : " ") + one;
  }
  return out;
}

}  // namespace yard::report
