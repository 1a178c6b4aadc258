// whatif: simulates a site's own log under other policies. It reports how well the baseline
// reproduces the logged waits, the limits of the log, and which jobs would wait longer.
#include <cstdio>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "experiments/cli/command.h"
#include "experiments/cli/common_options.h"
#include "experiments/cli/replay_folder.h"
#include "experiments/evaluate/bound.h"
#include "experiments/replay/jobs_csv.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/report/scenario_json.h"
#include "experiments/report/text_table.h"
#include "experiments/run/machine.h"
#include "experiments/scenario/smallest_cluster.h"
#include "experiments/scenario/type_notes.h"
#include "experiments/whatif/json.h"
#include "experiments/whatif/limitations.h"
#include "experiments/whatif/page.h"
#include "experiments/whatif/text.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct WhatifArguments {
  std::string policies = "easy,fifo,greedy,las,srtf-history";
  std::string out, report, jobs_out;
  CommonOptions common;

  void add_to(CLI::App& app) {
    ScenarioOptions& scenario = common.scenario;
    scenario.window.after = ArrivalsAfterWindow::kTraceOnly;  // only jobs of the log are simulated
    const auto group = [&](const char* name) { app.option_defaults()->group(name); };
    group("Workload");
    app.add_option("--sacct,--trace", scenario.trace,
                   "output of sacct --parsable2, or any log with the start times of jobs")
        ->required();
    app.add_option("--format", scenario.format, "format of the log (default: detected)")
        ->type_name(kFormatType);
    app.add_option("--columns", common.columns, kColumnsHelp)->default_str("");
    app.add_flag("--skip-unusable", scenario.skip_unusable,
                 "skip and count unusable rows and jobs instead of refusing the log");
    group("Cluster");
    app.add_option(
           "--cluster", scenario.cluster,
           "cluster, as for simulate (default: the smallest which can have run the logged jobs)")
        ->type_name(kClusterType);
    group("Policies");
    app.add_option(
           "--policy", policies,
           "comma-separated policies, the site's own first, then candidates: registered names, "
           "checkpoint:DIR or tuned policy files; NAME=POLICY sets a short name")
        ->type_name(kPoliciesType);
    app.add_option("--set", common.set,
                   "a setting: trace.key=value for the log, P.key=value for a policy P");
    app.add_option(
           "--allow", common.allow,
           "actions which policies may take, comma-separated: start, preempt, move (default: "
           "all)")
        ->default_str("");
    common.add_speeds_option(app);
    group("Window");
    app.add_option("--from", scenario.window.from, "start of the scored window, as for simulate");
    app.add_option("--to", scenario.window.to, "end of the scored window, as for simulate");
    group("Output");
    app.add_option("--out", out, "new folder for report.html, whatif.json and jobs.csv");
    app.add_option("--report", report, "write an HTML page with the verdict, tables and figures");
    app.add_option("--jobs-out", jobs_out, "write a CSV with one row per job and policy");
    app.add_flag("--json", common.json, "print one JSON document");
    app.add_option("--json-out", common.json_out, "write the JSON document to a file");
    set_examples(app, {"sacct --allusers --parsable2 --format=ALL >may.txt",
                       "yardmaster whatif --sacct may.txt --cluster 16x8 --policy easy,greedy,las "
                       "--report may.html"});
  }
};

// Checks all policies before the first run. Throws InputError.
std::vector<PreparedPolicy> contestants_of(WhatifArguments& options) {
  const std::vector<std::string> policies = split_policies(options.policies, "--policy");
  options.common.finish(policies);
  check_policies(policies, options.common.run.rules, "--policy");
  std::vector<PreparedPolicy> out;
  for (const std::string& policy : policies) {
    out.push_back(prepare(policy, options.common.run_of(policy)));
  }
  if (is_oracle_bound(out[0].level)) {
    throw InputError("--policy", "the site's own policy first (easy, fifo, greedy, ...)",
                     "'" + out[0].name + "', which uses the true run times");
  }
  return out;
}

whatif::JobTimes logged_times(const Job& job) {
  // Wait is JCT minus run time, so that suspended time counts as waiting. Without a logged end the
  // job is assumed to run uninterrupted from its logged start.
  int64_t jct_us = job.logged_start_us - job.submit_us + job.run_us;
  if (job.logged_end_us >= 0) jct_us = job.logged_end_us - job.submit_us;
  return {std::max<int64_t>(0, jct_us - job.run_us), std::max<int64_t>(0, jct_us)};
}

std::vector<whatif::ComparedJob> compared_jobs(const Scenario& scenario,
                                               const std::vector<Run>& runs) {
  std::vector<whatif::ComparedJob> out;
  for (size_t j = 0; j < scenario.trace.jobs.size(); ++j) {
    const Job& job = scenario.trace.jobs[j];
    if (!job.scored || job.logged_start_us < 0) continue;
    whatif::ComparedJob one{job.gpus, job.user, job.tenant, logged_times(job), {}};
    for (const Run& run : runs) {
      const JobOutcome& what = run.outcome.jobs[j];
      // Time after a preemption, with saving and restoring, counts as waiting. Otherwise preemptive
      // policies would appear to have no waits.
      if (what.end_us == kNone) {
        one.by.emplace_back();
      } else {
        one.by.push_back(
            {delay_us(job, what, scenario.isolated_us[j]), what.end_us - job.submit_us});
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

whatif::Candidate candidate_of(const Scenario& scenario, const PreparedPolicy& prepared,
                               const Run& run) {
  whatif::Candidate out;
  out.name = prepared.name;
  out.level = run.level;
  out.speeds = run.speeds;
  out.knows_run_times = is_oracle_bound(run.level);
  out.preemptions = run.summary.preemptions;
  for (size_t j = 0; j < scenario.trace.jobs.size(); ++j) {
    if (scenario.trace.jobs[j].scored && run.outcome.jobs[j].preemptions > 0) ++out.preempted_jobs;
  }
  const bool may_preempt = prepared.preempts && scenario.fixed.allows.preempt &&
                           !lacks_elastic_jobs_to_resize(prepared, scenario.trace);
  out.needs_checkpointing = may_preempt || out.preemptions > 0;
  out.utilisation = run.summary.utilisation;
  return out;
}

// Infers the cluster from the log if --cluster was not given. Returns whether it did.
bool infer_cluster(ScenarioOptions& scenario) {
  if (!scenario.cluster.empty()) return false;
  const Trace log = load_trace(scenario.trace, {.format = scenario.format,
                                                .skip_unusable = scenario.skip_unusable,
                                                .settings = scenario.trace_settings});
  whatif::require_logged_times(log);
  scenario.cluster = smallest_cluster(log);
  return true;
}

std::vector<std::string> log_limitations(const ScenarioOptions& options, const Scenario& scenario,
                                         const std::vector<PreparedPolicy>& prepared_policies,
                                         bool inferred) {
  whatif::LogInfo facts;
  facts.cluster_inferred = inferred;
  facts.cluster = scenario.cluster.text;
  facts.cluster_gpus = scenario.cluster.total_gpus();
  facts.has_eligible = whatif::has_eligible_times(scenario.trace.source, scenario.trace.format);
  const GivenSetting* arrival = options.trace_settings.find("arrival");
  facts.ignores_eligible = arrival != nullptr && arrival->value == "Submit";
  facts.notes = gpu_type_notes(scenario);
  if (!has_time_limits(scenario.trace)) {
    std::vector<const PreparedPolicy*> all;
    for (const PreparedPolicy& prepared : prepared_policies) all.push_back(&prepared);
    const std::vector<std::string> limit_notes = missing_time_limits_notes(all);
    facts.notes.insert(facts.notes.end(), limit_notes.begin(), limit_notes.end());
  }
  for (const PreparedPolicy& prepared : prepared_policies) {
    if (!lacks_elastic_jobs_to_resize(prepared, scenario.trace)) continue;
    facts.notes.push_back(prepared.name +
                          " sets the size of elastic jobs, but no job here is elastic");
  }
  return whatif::log_limitations(scenario.trace, facts);
}

std::vector<std::pair<std::string, std::string>> provenance_of(const WhatifArguments& options,
                                                               const Scenario& scenario) {
  const Trace& trace = scenario.trace;
  const ScenarioOptions& of = options.common.scenario;
  return {
      {"log", trace.source},
      {"format", trace.format},
      {"sha256", trace.sha256},
      {"cluster",
       scenario.cluster.text + ", " + std::to_string(scenario.cluster.total_gpus()) + " GPUs"},
      {"policies", options.policies},
      {"from", of.window.from},
      {"to", of.window.to},
      {"settings", join(options.common.set)},
      {"allowed", options.common.allow},
      {"load", offered_load_text(scenario.load)},
      {"written", utc_now()},
      {"yardmaster", std::string(release_version()) + ", commit " + std::string(source_commit())}};
}

int run_whatif(CLI::App& app, int argc, char** argv) {
  WhatifArguments options;
  options.add_to(app);
  if (!parse_arguments(app, argc, argv)) return 0;
  ReplayFolder folder(options.out, options.report);
  if (!options.jobs_out.empty()) check_writable(options.jobs_out);
  const std::vector<PreparedPolicy> prepared_policies = contestants_of(options);
  const bool inferred = infer_cluster(options.common.scenario);
  const Scenario scenario = load_scenario(options.common.scenario);
  const SpeedInformation speeds = options.common.run.speeds;
  if (options.common.json) {
    print_scenario_notes(scenario, {}, speeds);
  } else if (const std::string note = unused_speeds_note(scenario, speeds); !note.empty()) {
    print_time_limit_notes({note});  // the text itself lists all other notes
  }
  whatif::require_logged_times(scenario.trace);
  require_gpu_jobs(scenario.trace);

  folder.begin(app, scenario, "whatif", options.common.scenario.seed);
  std::vector<Run> runs;
  std::vector<whatif::Candidate> candidates;
  std::string rows = kJobsHeader;
  for (const PreparedPolicy& prepared : prepared_policies) {
    runs.push_back(run_prepared(scenario, prepared, options.common.run_of(prepared.name)));
    candidates.push_back(candidate_of(scenario, prepared, runs.back()));
    if (!options.jobs_out.empty() || !options.out.empty()) {
      append_jobs_csv(scenario, runs.back(), rows);
    }
  }
  const std::vector<whatif::ComparedJob> jobs = compared_jobs(scenario, runs);
  whatif::Comparison comparison = whatif::compare_with_baseline(jobs, candidates);
  comparison.no_bound = why_oracle_is_no_bound(scenario, runs.front().rules);
  const std::vector<whatif::Verdict> verdicts = whatif::verdicts_of(comparison);
  const std::vector<std::string> limitations =
      log_limitations(options.common.scenario, scenario, prepared_policies, inferred);
  const std::string cluster =
      scenario.cluster.text + (inferred ? " (inferred: the most GPUs held at once)" : "");

  Json out = {{"trace", trace_json(scenario)},
              {"cluster", cluster_summary_json(scenario.cluster)},
              {"cluster_inferred", inferred}};
  whatif::add_json(comparison, verdicts, limitations, out);
  options.common.print_result(out, [&] {
    const std::string text =
        whatif::text_of(comparison, verdicts, {scenario.trace.source, cluster, limitations});
    std::fputs(text.c_str(), stdout);
  });
  if (folder.enabled()) {
    folder.finish(out, rows,
                  whatif::page_of(comparison, verdicts, jobs,
                                  {scenario.trace.source, cluster, limitations,
                                   provenance_of(options, scenario)}));
  }
  AtomicFiles files;
  if (!options.jobs_out.empty()) files.add(options.jobs_out, rows);
  options.common.save(out, files);
  folder.print_page_paths();
  return 0;
}

const Command kWhatif{"whatif", "Replay a site's own log under other policies.", run_whatif};

}  // namespace
}  // namespace yard::sim
