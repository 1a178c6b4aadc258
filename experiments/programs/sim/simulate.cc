// simulate: replays a workload under one or more policies and prints a table.
#include <cstdio>

#include "env/sim/speed_estimator.h"
#include "experiments/bound.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/metrics_json.h"
#include "experiments/programs/sim/options.h"
#include "experiments/programs/sim/recording.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

void print_rows(const std::vector<Run>& runs, bool knowing) {
  for (const Run& run : runs) {
    if (is_bound(run.level) != knowing) continue;
    const JctSummary& all = run.summary.all;
    std::printf(
        "%-24s %-12s %-12s %-7s %7lld %10lld %12.1f %11.1f %11.1f %11.1f %12.1f %5.3f %7lld "
        "%8.3f\n",
        run.policy.c_str(), run.placement.empty() ? "-" : run.placement.c_str(),
        level_name(run.level), speed_level_name(run.speeds), static_cast<long long>(all.finished),
        static_cast<long long>(all.jobs - all.finished), all.mean_jct_s, all.p50_jct_s,
        all.p99_jct_s, all.mean_wait_s, run.summary.makespan_s, run.summary.utilisation,
        static_cast<long long>(run.summary.preemptions), run.wall_s);
  }
}

// A mean over jobs that were ended early says less of a scheduler than one over jobs that were not.
void print_early(const Run& run) {
  const std::optional<EarlySummary>& early = run.summary.early;
  if (!early) return;
  std::printf("%s ended %lld jobs early: mean JCT %.1f s, of the others %.1f s; %.1f %% undone\n",
              run.policy.c_str(), static_cast<long long>(early->jobs), early->mean_jct_s,
              early->others_mean_jct_s, 100 * early->undone_share);
}

void print_table(const Scenario& scenario, const std::vector<Run>& runs) {
  std::printf("%s (%zu jobs, %lld scored) on %s, %d GPUs, rules %s, load %s\n\n",
              scenario.trace.source.c_str(), scenario.trace.jobs.size(),
              static_cast<long long>(scenario.window.scored), scenario.cluster.text.c_str(),
              scenario.cluster.total_gpus(), runs.front().rules.c_str(),
              load_text(scenario.load).c_str());
  std::printf("%-24s %-12s %-12s %-7s %7s %10s %12s %11s %11s %11s %12s %5s %7s %8s\n", "policy",
              "placement", "information", "speeds", "jobs", "unfinished", "mean JCT s", "p50 s",
              "p99 s", "wait s", "makespan s", "util", "preempt", "wall s");
  print_rows(runs, false);
  bool any = false;
  for (const Run& run : runs) any = any || is_bound(run.level);
  const std::string no_bound = why_no_bound(scenario, runs.front().rules);
  if (any && no_bound.empty()) std::printf("bounds, which know run times:\n");
  if (any && !no_bound.empty()) {
    std::printf("know run times, which bounds nothing here: %s:\n", no_bound.c_str());
  }
  print_rows(runs, true);
  for (const Run& run : runs) print_early(run);
}

int run_simulate(CLI::App& app, int argc, char** argv) {
  CommonOptions options;
  RecordingOptions recorded;
  std::string policy_list;
  options.add_to(app);
  app.add_option("--policy", policy_list, "a policy, or several separated by commas")->required();
  recorded.add_to(app);
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::vector<std::string> policies = list_of(policy_list, "--policy");
  options.finish(policies);
  recorded.check();

  // Everything is looked at before anything is played.
  std::vector<Contestant> contestants;
  for (const std::string& policy : policies) {
    contestants.push_back(prepare(policy, options.run_of(policy)));
  }
  const Scenario scenario = load_scenario(options.scenario);
  note_scenario(scenario, contestants);

  std::vector<Run> runs;
  Recording recording(recorded, scenario);
  Json out;
  out["runs"] = Json::array();
  const bool wants_json = options.json || !options.json_out.empty() || recorded.all_metrics();
  for (const Contestant& contestant : contestants) {
    runs.push_back(recording.play(contestant, options.run_of(contestant.name)));
    if (!wants_json) continue;
    out["runs"].push_back(run_json(scenario, runs.back(), recording.metered(), recording.waits()));
  }
  out["cluster"] = cluster_json(scenario.cluster);
  out["trace"] = trace_json(scenario);
  const std::string no_bound = why_no_bound(scenario, runs.front().rules);
  out["no_bound"] = no_bound.empty() ? Json(nullptr) : Json(no_bound);
  for (Json& run : out["runs"]) run["bound"] = run["bound"].get<bool>() && no_bound.empty();
  recording.check();
  options.show(out, [&] {
    print_table(scenario, runs);
    if (recorded.all_metrics()) print_more(out["runs"]);
  });
  options.keep(out, recording.finish());
  return 0;
}

const Command kSimulate{"simulate", "Replays a workload under one or more policies.", run_simulate};

}  // namespace
}  // namespace yard::sim
