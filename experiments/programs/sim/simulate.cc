// simulate: replays a workload under one or more policies and prints a table of metrics.
#include <algorithm>
#include <cstdio>

#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/cli/command.h"
#include "experiments/cli/replay_folder.h"
#include "experiments/evaluate/bound.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/report/metrics_json.h"
#include "experiments/report/scenario_json.h"
#include "experiments/report/text_table.h"
#include "experiments/stats/number_text.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

void add_rows(const std::vector<Run>& runs, bool bounds, TextTable& table) {
  for (const Run& run : runs) {
    if (is_oracle_bound(run.level) != bounds) continue;
    const JctSummary& all = run.summary.all;
    table.row({run.policy, run.placement.empty() ? "-" : run.placement,
               information_level_name(run.level), speed_information_name(run.speeds),
               std::to_string(all.finished), std::to_string(all.jobs - all.finished),
               number_text(all.mean_jct_s, 1), number_text(all.p50_jct_s, 1),
               number_text(all.p99_jct_s, 1), number_text(all.mean_wait_s, 1),
               number_text(all.max_wait_s, 1), number_text(run.summary.makespan_s, 1),
               number_text(run.summary.utilisation, 3), std::to_string(run.summary.preemptions),
               number_text(run.wall_s, 3)});
  }
}

// Prints means with and without jobs which were ended early, since these distort the overall mean.
void print_early(const Run& run) {
  const std::optional<EndedByPolicySummary>& early = run.summary.early;
  if (!early) return;
  std::printf(
      "%s ended %s early: mean JCT %s s, of other jobs %s s; %s of requested GPU time undone\n",
      run.policy.c_str(), pluralised_count_text(early->jobs, "job").c_str(),
      number_text(early->mean_jct_s, 1).c_str(), number_text(early->others_mean_jct_s, 1).c_str(),
      percent_text(early->undone_share, 1).c_str());
}

void print_copies_note(const Scenario& scenario) {
  const int64_t copies = count_copied_jobs(scenario.trace);
  if (copies == 0) return;
  std::fprintf(stderr,
               "note: %lld unscored copies of the window's %s follow it, so that the last scored "
               "jobs meet a full cluster\n",
               static_cast<long long>(copies),
               pluralised_count_text(scenario.window.scored, "job").c_str());
}

void print_table(const Scenario& scenario, const std::vector<Run>& runs,
                 const std::string& no_bound) {
  const int64_t jobs = std::ssize(scenario.trace.jobs) - count_copied_jobs(scenario.trace);
  std::printf("%s (%s, %lld scored) on %s, %s, rules %s, load %s\n\n",
              scenario.trace.source.c_str(), pluralised_count_text(jobs, "job").c_str(),
              static_cast<long long>(scenario.window.scored), scenario.cluster.text.c_str(),
              pluralised_count_text(scenario.cluster.total_gpus(), "GPU").c_str(),
              runs.front().rules.c_str(), offered_load_text(scenario.load).c_str());
  TextTable table(
      {"policy", "placement", "information", "speeds", "jobs", "unfinished", "mean JCT s", "p50 s",
       "p99 s", "wait s", "max wait s", "makespan s", "util", "preempt", "wall s"},
      4);
  add_rows(runs, false, table);
  if (std::ranges::any_of(runs, [](const Run& run) { return is_oracle_bound(run.level); })) {
    table.line(no_bound.empty()
                   ? "oracles, which see true run times (bounds, not rivals):"
                   : "oracles, which see true run times (no bound here: " + no_bound + "):");
  }
  add_rows(runs, true, table);
  std::fputs(table.text().c_str(), stdout);
  for (const Run& run : runs) print_early(run);
}

int run_simulate(CLI::App& app, int argc, char** argv) {
  CommonOptions options;
  RecordingOptions recorded;
  std::string policy_list;
  app.option_defaults()->group("Policies");
  app.add_option("--policy", policy_list,
                 "comma-separated policies; NAME=POLICY sets a name for tables")
      ->type_name(kPoliciesType)
      ->required();
  options.add_to(app);
  recorded.add_to(app);
  std::string out_folder, page;
  app.add_option("--out", out_folder, "new folder for report.html and all results as tables");
  app.add_option("--report", page, "write only the report page, to this file");
  set_examples(
      app, {"yardmaster simulate --trace synthetic:habits --generate-jobs 1000 --cluster 8x8 "
            "--policy fifo,las",
            "yardmaster simulate --trace synthetic:mixed --generate-jobs 1000 --cluster mixed-9 "
            "--policy greedy --out runs/mixed"});
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::vector<std::string> policies = split_policies(policy_list, "--policy");
  options.finish(policies);
  check_policies(policies, options.run.rules, "--policy");
  recorded.check();
  ReplayFolder folder(out_folder, page);
  recorded.for_report = folder.enabled();

  // Check all inputs before the first run.
  std::vector<PreparedPolicy> prepared_policies;
  for (const std::string& policy : policies) {
    prepared_policies.push_back(prepare(policy, options.run_of(policy)));
  }
  const Scenario scenario = load_scenario(options.scenario);
  print_scenario_notes(scenario, prepared_policies, options.run.speeds);
  print_copies_note(scenario);

  folder.begin(app, scenario, "simulate", options.scenario.seed);
  std::vector<Run> runs;
  SimulationRecorder recording(recorded, scenario);
  Json out = {{"runs", Json::array()}};
  const bool wants_json = options.json || !options.json_out.empty() || recorded.all_metrics();
  for (const PreparedPolicy& prepared : prepared_policies) {
    runs.push_back(recording.simulate(prepared, options.run_of(prepared.name)));
    if (!wants_json) continue;
    out["runs"].push_back(
        run_json(scenario, runs.back(), recording.metered_gpu_usage(), recording.waits()));
  }
  out["cluster"] = cluster_summary_json(scenario.cluster);
  out["trace"] = trace_json(scenario);
  const std::string no_bound = why_oracle_is_no_bound(scenario, runs.front().rules);
  out["no_bound"] = no_bound.empty() ? Json(nullptr) : Json(no_bound);
  for (Json& run : out["runs"]) run["bound"] = run["bound"].get<bool>() && no_bound.empty();
  recording.check();
  options.print_result(out, [&] {
    print_table(scenario, runs, no_bound);
    if (recorded.metrics == "all") print_all_metrics(out["runs"]);
  });
  folder.finish(out, recording);
  options.save(out, recording.finish());
  folder.print_page_paths();
  return 0;
}

const Command kSimulate{"simulate", "Replay a workload under one or more policies.", run_simulate};

}  // namespace
}  // namespace yard::sim
