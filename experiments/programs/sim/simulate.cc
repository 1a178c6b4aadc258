// simulate: replays a workload under one or more policies and prints a table.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/text.h"
#include "experiments/jobs_csv.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/options.h"
#include "experiments/series.h"
#include "experiments/timeline.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options : CommonOptions {
  std::string policies, jobs_out, series_out, timeline;
};

Json times_json(const JctSummary& s) {
  return {{"jobs", s.jobs},
          {"finished", s.finished},
          {"unfinished", s.jobs - s.finished},
          {"sum_jct_s", seconds_json(s.sum_jct_us)},
          {"mean_jct_s", s.mean_jct_s},
          {"p50_jct_s", s.p50_jct_s},
          {"p95_jct_s", s.p95_jct_s},
          {"p99_jct_s", s.p99_jct_s},
          {"mean_wait_s", s.mean_wait_s},
          {"max_wait_s", s.max_wait_s},
          {"mean_run_s", s.mean_run_s}};
}

Json run_json(const Run& run) {
  const Summary& s = run.summary;
  Json out = {{"policy", run.policy},
              {"rules", run.rules},
              {"placement", nullptr},
              {"information", level_name(run.level)},
              {"bound", is_bound(run.level)}};
  if (!run.placement.empty()) out["placement"] = run.placement;
  out.update(times_json(s.all));
  out["mean_slowdown"] = s.mean_slowdown;
  out["makespan_s"] = s.makespan_s;
  out["utilisation"] = s.utilisation;
  out["preemptions"] = s.preemptions;
  out["restarts"] = s.restarts;
  out["events"] = run.outcome.events;
  out["decisions"] = run.outcome.decisions;
  out["wall_s"] = run.wall_s;
  out["classes"] = Json::array();
  for (const ClassSummary& of : s.classes) {
    Json one = {{"gpus", of.gpus}};
    one.update(times_json(of.all));
    out["classes"].push_back(one);
  }
  return out;
}

void print_rows(const std::vector<Run>& runs, bool bounds) {
  for (const Run& run : runs) {
    if (is_bound(run.level) != bounds) continue;
    const JctSummary& all = run.summary.all;
    std::printf(
        "%-24s %-12s %-12s %7lld %10lld %12.1f %11.1f %11.1f %11.1f %12.1f %5.3f %7lld %8.3f\n",
        run.policy.c_str(), run.placement.empty() ? "-" : run.placement.c_str(),
        level_name(run.level), static_cast<long long>(all.finished),
        static_cast<long long>(all.jobs - all.finished), all.mean_jct_s, all.p50_jct_s,
        all.p99_jct_s, all.mean_wait_s, run.summary.makespan_s, run.summary.utilisation,
        static_cast<long long>(run.summary.preemptions), run.wall_s);
  }
}

void print_table(const Scenario& scenario, const std::vector<Run>& runs) {
  std::printf("%s (%zu jobs, %lld scored) on %s, %d GPUs, rules %s, load %.3f\n\n",
              scenario.trace.source.c_str(), scenario.trace.jobs.size(),
              static_cast<long long>(scenario.window.scored), scenario.cluster.text.c_str(),
              scenario.cluster.total_gpus(), runs.front().rules.c_str(), scenario.load);
  std::printf("%-24s %-12s %-12s %7s %10s %12s %11s %11s %11s %12s %5s %7s %8s\n", "policy",
              "placement", "information", "jobs", "unfinished", "mean JCT s", "p50 s", "p99 s",
              "wait s", "makespan s", "util", "preempt", "wall s");
  print_rows(runs, false);
  bool any = false;
  for (const Run& run : runs) any = any || is_bound(run.level);
  if (any) std::printf("bounds, which know run times:\n");
  print_rows(runs, true);
}

int run_simulate(CLI::App& app, int argc, char** argv) {
  Options options;
  options.add_to(app);
  app.add_option("--policy", options.policies, "a policy, or several separated by commas")
      ->required();
  app.add_option("--jobs-out", options.jobs_out, "CSV with a row for every job");
  app.add_option("--series-out", options.series_out, "GPUs held and jobs waiting over time, JSON");
  app.add_option("--timeline", options.timeline, "who held which GPU when, for ui.perfetto.dev");
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::vector<std::string> policies = list_of(options.policies, "--policy");
  options.finish(policies);

  // Everything is looked at before anything is played.
  std::vector<Contestant> contestants;
  for (const std::string& policy : policies) {
    contestants.push_back(prepare(policy, options.run_of(policy)));
  }
  const Scenario scenario = load_scenario(options.scenario);
  note_scenario(scenario);

  std::vector<Run> runs;
  std::string rows = options.jobs_out.empty() ? "" : kJobsHeader;
  Series series;
  std::optional<Timeline> timeline;
  if (!options.timeline.empty()) timeline.emplace(scenario);
  for (const Contestant& contestant : contestants) {
    RunOptions how = options.run_of(contestant.name);
    series.begin();
    if (timeline) timeline->begin(contestant.name);
    if (timeline || !options.series_out.empty()) {
      how.watch = [&](const ClusterState& state) {
        series.watch(state);
        if (timeline) timeline->watch(state);
      };
    }
    runs.push_back(run_prepared(scenario, contestant, how));
    if (!options.jobs_out.empty()) append_jobs(scenario, runs.back(), rows);
    if (how.watch && !series.seen()) {
      throw InputError(timeline ? "--timeline" : "--series-out", "rules that place jobs on GPUs",
                       "'" + how.rules + "'");
    }
    if (how.watch) series.end(scenario, runs.back());
    if (timeline) timeline->end(runs.back().outcome.end_us);
  }
  if (!options.jobs_out.empty()) write_file_atomic(options.jobs_out, rows);
  if (!options.series_out.empty()) write_file_atomic(options.series_out, series.json().dump());
  if (timeline) write_file_atomic(options.timeline, timeline->json());

  Json out;
  out["runs"] = Json::array();
  for (const Run& run : runs) out["runs"].push_back(run_json(run));
  out["cluster"] = cluster_json(scenario.cluster);
  out["trace"] = trace_json(scenario);
  if (!options.hand_out(out)) print_table(scenario, runs);
  return 0;
}

const Command kSimulate{"simulate", "Replays a workload under one or more policies.", run_simulate};

}  // namespace
}  // namespace yard::sim
