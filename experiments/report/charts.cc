// Charts: learning curves, completion times, the cluster over time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments/report/chart.h"
#include "experiments/report/html.h"
#include "experiments/report/sections.h"

namespace yard::report {
namespace {

constexpr size_t kMaxPoints = 240;  // per line; more would not be visible

// Reduces a line to at most `most` points: means over groups of neighbours.
std::vector<Point> downsampled(const std::vector<Point>& all, size_t most) {
  std::vector<Point> out;
  const size_t group = std::max<size_t>(1, (all.size() + most - 1) / most);
  for (size_t at = 0; at < all.size(); at += group) {
    const size_t end = std::min(at + group, all.size());
    Point sum{0, 0};
    for (size_t i = at; i < end; ++i) {
      sum.x += all[i].x;
      sum.y += all[i].y;
    }
    const auto n = static_cast<double>(end - at);
    out.push_back({sum.x / n, sum.y / n});
  }
  return out;
}

Line metric_line(const RunRecord& run, size_t column) {
  const MetricsCsv& metrics = *run.metrics;
  std::vector<Point> all;
  for (size_t row = 0; row < metrics.rows(); ++row) {
    const auto value = metrics.value(row, column);
    if (value) all.push_back({static_cast<double>(metrics.step(row)), *value});
  }
  return {.name = run.name, .points = downsampled(all, kMaxPoints)};
}

Chart metric_chart(const std::string& column) {
  Chart chart{.title = key_title(column),
              .note = "Column " + column + ".",
              .x = {.label = "update"},
              .y = {.label = ""},
              .lines = {}};
  if (column.ends_with("_s") && !column.ends_with("per_s")) chart.y.unit = Unit::kSeconds;
  const bool ratio = column.ends_with("/ratio");
  if (!ratio && !column.ends_with("/ratio_untrained")) return chart;
  chart.reference_y = 1;
  chart.note +=
      ratio
          ? " Mean JCT divided by that of the validation baseline; below 1 is better. Update 0 is "
            "the untrained network with the same action sampling."
          : " Mean JCT divided by that of the untrained network with the same action sampling; "
            "below 1 is better.";
  return chart;
}

bool is_score_metric(const std::string& column) {
  if (column.ends_with("_lo") || column.ends_with("_hi")) return false;  // ends of intervals
  return column.starts_with("validation/") || column.find("return") != column.npos ||
         column.find("jct") != column.npos;
}

template <class F>
std::string metric_charts(const Runs& runs, F wanted) {
  std::vector<std::string> columns;
  for (const RunRecord* run : runs) {
    if (!run->metrics) continue;
    for (size_t c = 1; c < run->metrics->columns().size(); ++c) {
      const std::string& column = run->metrics->columns()[c];
      if (wanted(column) && std::ranges::find(columns, column) == columns.end()) {
        columns.push_back(column);
      }
    }
  }
  std::stable_partition(columns.begin(), columns.end(),
                        [](auto& c) { return c.starts_with("validation/"); });
  std::string out;
  for (const std::string& column : columns) {
    Chart chart = metric_chart(column);
    for (size_t r = 0; r < runs.size(); ++r) {
      if (!runs[r]->metrics) continue;
      const auto& names = runs[r]->metrics->columns();
      const auto at = std::ranges::find(names, column);
      if (at == names.end()) continue;
      chart.lines.push_back(metric_line(*runs[r], static_cast<size_t>(at - names.begin())));
      chart.lines.back().colour = static_cast<int>(r) % kColours;
    }
    out += render(chart);
  }
  return out;
}

// The share of jobs which ended within a time, at about kMaxPoints times with equal job counts.
std::vector<Point> completion_curve(const PolicyCompletionTimes& of) {
  std::vector<Point> points;
  const size_t n = of.jct_s.size();
  const size_t group = std::max<size_t>(1, n / kMaxPoints);
  for (size_t i = 0; i < n; i += group) {
    const size_t at = i + group >= n ? n - 1 : i;
    points.push_back(
        {std::max(of.jct_s[at], 1.0), static_cast<double>(at + 1) / static_cast<double>(of.jobs)});
  }
  return points;
}

// The share of jobs which took longer than a time; the last percent with a point per job.
std::vector<Point> tail_curve(const PolicyCompletionTimes& of) {
  std::vector<Point> points;
  const size_t n = of.jct_s.size();
  for (size_t i = 0; i < n;) {
    const auto longer = static_cast<double>(of.jobs - i - 1) / static_cast<double>(of.jobs);
    points.push_back({std::max(of.jct_s[i], 1.0), longer});
    i += std::max<size_t>(1, (n - i) / 60);
  }
  return points;
}

// A note for charts with more lines than colours; only the first kColours are shown.
std::string truncation_note(size_t lines) {
  if (lines <= kColours) return "";
  return fmt::format("First {} of {} policies; the tables list all.", kColours, lines);
}

template <class T, class F>
std::vector<T> trained_first(std::vector<T> items, F policy) {
  std::stable_partition(items.begin(), items.end(),
                        [&](auto& item) { return policy(item).starts_with("checkpoint:"); });
  if (items.size() > kColours) items.resize(kColours);
  return items;
}

// The time range to draw: from a little before the scored window until the queue is empty after it,
// but at most one window length longer. All times if there is no window. Few jobs which run much
// longer would otherwise compress the chart.
std::pair<double, double> shown_time(const std::vector<Json>& all) {
  double begin = INFINITY, end = -INFINITY, busy = -INFINITY;
  for (const Json& one : all) {
    for (size_t i = 0; i < one["t_s"].size(); ++i) {
      const double t = one["t_s"][i];
      begin = std::min(begin, t);
      end = std::max(end, t);
      if (one["waiting"][i].get<double>() > 0) busy = std::max(busy, t);
    }
  }
  const auto from = number(all[0], "from_s"), to = number(all[0], "to_s");
  if (!from || !to || *to <= *from || *from >= end || *to <= begin) return {begin, end};
  const double length = *to - *from;
  const double after = std::clamp(busy - *to, 0.05 * length, length);
  return {std::max(begin, *from - 0.1 * length), std::min(end, *to + after)};
}

}  // namespace

std::string PolicyLabels::short_label(const std::string& policy) {
  if (policy.starts_with("untrained:")) return "untrained";
  const std::filesystem::path path =
      policy.substr(policy.starts_with("checkpoint:") ? policy.find(':') + 1 : 0);
  if (policy.starts_with("checkpoint:")) {
    return (path.filename().empty() ? path.parent_path() : path).filename().string();
  }
  return policy.ends_with(".yaml") ? path.stem().string() : policy;
}

std::string PolicyLabels::label(const RunRecord& run, const std::string& policy) {
  const auto known = run.labels.find(policy);
  if (known != run.labels.end()) return known->second;
  const std::string name = short_label(policy);
  return policy.starts_with("checkpoint:") ? run.checkpoint_label(name) : name;
}

int PolicyLabels::colour_index(const std::string& label) {
  return colours_.emplace(label, static_cast<int>(colours_.size()) % kColours).first->second;
}

std::string learning_section(const Runs& runs) {
  const std::string charts = metric_charts(runs, is_score_metric);
  return charts.empty() ? ""
                        : section("Learning curve", "<div class='charts'>" + charts + "</div>");
}

std::string all_metrics(const RunRecord& run) {
  const std::string charts =
      metric_charts({&run}, [](const std::string& column) { return !is_score_metric(column); });
  if (charts.empty()) return "";
  return "<details><summary>Other training metrics</summary>\n<div class='charts'>" + charts +
         "</div></details>\n";
}

std::string completion_times_section(const RunRecord& run, PolicyLabels& names) {
  std::string out;
  for (const JobsFile& file : run.jobs) {
    Chart within{.title = "Job completion times",
                 .note = truncation_note(file.policies.size()),
                 .x = {.label = "job completion time", .unit = Unit::kSeconds, .log = true},
                 .y = {.label = "share of jobs completed within this time",
                       .unit = Unit::kPercent,
                       .from = 0,
                       .to = 1},
                 .lines = {}};
    Chart longer = within;
    longer.title = "The longest jobs";
    longer.y = {
        .label = "share of jobs that took longer than this", .unit = Unit::kPercent, .log = true};
    for (const PolicyCompletionTimes& of :
         trained_first(file.policies, [](const PolicyCompletionTimes& of) { return of.policy; })) {
      const std::string label = PolicyLabels::label(run, of.policy);
      const int colour = names.colour_index(label);
      const bool bound = run.bounds.contains(of.policy);
      within.lines.push_back({label, completion_curve(of), colour, bound});
      longer.lines.push_back({label, tail_curve(of), colour, bound});
    }
    if (run.jobs.size() > 1) out += "<h3>" + escape(file.file) + "</h3>\n";
    out += "<div class='charts'>" + render(within) + render(longer) + "</div>\n";
  }
  return section("Completion times", out);
}

std::string cluster_over_time_section(const RunRecord& run, PolicyLabels& names) {
  std::string out;
  for (const JsonFile& document : run.series) {
    const std::vector<Json> all(document.json["series"].begin(), document.json["series"].end());
    if (all.empty()) continue;
    const auto [begin, end] = shown_time(all);
    Chart utilisation_chart{
        .title = "Utilisation",
        .note = truncation_note(all.size()),
        .x = {.label = "trace time; shaded: arrivals of scored jobs", .unit = Unit::kSeconds},
        .y = {.label = "GPUs held", .unit = Unit::kPercent, .from = 0, .to = 1},
        .lines = {}};
    Chart queue_chart = utilisation_chart;
    queue_chart.title = "Queue";
    queue_chart.y = {.label = "jobs waiting", .from = 0};
    double last = end;
    for (const Json& one :
         trained_first(all, [](const Json& one) { return text(one, "policy"); })) {
      const std::string label = PolicyLabels::label(run, text(one, "policy"));
      const bool bound = run.bounds.contains(text(one, "policy"));
      Line line{.name = label, .points = {}, .colour = names.colour_index(label), .dashed = bound};
      Line queue = line;
      const double gpus = std::max(1.0, number(one, "gpus").value_or(1));
      for (size_t i = 0; i < one["t_s"].size(); ++i) {
        const double t = one["t_s"][i];
        last = std::max(last, t);
        if (t < begin || t > end) continue;
        line.points.push_back({t, one["held_gpus"][i].get<double>() / gpus});
        queue.points.push_back({t, one["waiting"][i].get<double>()});
      }
      line.points = downsampled(line.points, 48);  // many lines are close to each other
      queue.points = downsampled(queue.points, 120);
      utilisation_chart.lines.push_back(line);
      queue_chart.lines.push_back(queue);
    }
    if (last > end) {
      const std::string cut = "The last " + duration_text(last - end) + " are not drawn.";
      for (Chart* chart : {&utilisation_chart, &queue_chart}) {
        chart->note += (chart->note.empty() ? "" : " ") + cut;
      }
    }
    const auto from = number(all[0], "from_s"), to = number(all[0], "to_s");
    if (from && to && *to > begin && *from < end) {
      utilisation_chart.band = queue_chart.band = {std::max(*from, begin), std::min(*to, end)};
    }
    if (run.series.size() > 1) out += "<h3>" + escape(document.file) + "</h3>\n";
    out += "<div class='charts'>" + render(utilisation_chart) + render(queue_chart) + "</div>\n";
  }
  return section("Cluster over time", out);
}

}  // namespace yard::report
