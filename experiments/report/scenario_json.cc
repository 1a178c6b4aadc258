#include "experiments/report/scenario_json.h"

#include "env/trace/core/notices.h"

namespace yard::sim {

nlohmann::ordered_json seconds_json(WideUs us) {
  constexpr int64_t kUsPerS = 1'000'000;
  if (us % kUsPerS == 0) return static_cast<int64_t>(us / kUsPerS);
  return static_cast<double>(us) / 1e6;
}

nlohmann::ordered_json cluster_summary_json(const ClusterSpec& cluster) {
  nlohmann::ordered_json types = nlohmann::ordered_json::array();
  for (size_t t = 0; t < cluster.types.size(); ++t) {
    int64_t gpus = 0;
    for (const Node& node : cluster.nodes) {
      if (static_cast<size_t>(node.type) == t) gpus += node.gpus;
    }
    types.push_back(
        {{"name", cluster.types[t].name}, {"speed", cluster.types[t].speed}, {"gpus", gpus}});
  }
  return {{"text", cluster.text},
          {"nodes", cluster.nodes.size()},
          {"gpus", cluster.total_gpus()},
          {"types", types}};
}

nlohmann::ordered_json trace_json(const Scenario& scenario) {
  const Trace& trace = scenario.trace;
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array(), notices = skipped;
  int64_t left_out = 0;
  for (const CountedRows& what : trace.skipped) {
    skipped.push_back({{"reason", what.reason}, {"count", what.count}, {"first", what.first}});
    left_out += what.count;
  }
  const Window& window = scenario.window;
  nlohmann::ordered_json out = {{"source", trace.source},
                                {"format", trace.format},
                                {"sha256", trace.sha256},
                                {"jobs_played", trace.jobs.size()},
                                {"jobs_scored", window.scored},
                                {"jobs_copied", count_copied_jobs(trace)},
                                {"warm_from_s", seconds_json(window.warm_from_us)},
                                {"from_s", seconds_json(window.from_us)},
                                {"to_s", seconds_json(window.to_us)},
                                {"load", scenario.load},
                                {"arrival_factor", scenario.factor},
                                {"congestion", nullptr},
                                {"cost_scale", scenario.cost_scale},
                                {"skipped", left_out},
                                {"skipped_by_reason", skipped}};
  for (const CountedRows& what : trace.notices) notices.push_back(format_notice(what));
  if (!notices.empty()) out["notices"] = notices;
  if (scenario.congestion > 0) out["congestion"] = scenario.congestion;
  return out;
}

}  // namespace yard::sim
