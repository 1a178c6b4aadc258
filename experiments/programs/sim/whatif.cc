// whatif: reads a site's own log, says how well the simulator reproduces the waits in it, and what
// other policies would have done with the same jobs.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "env/base/error.h"
#include "env/base/nearest_rank.h"
#include "experiments/least_cluster.h"
#include "experiments/moments.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/options.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string policies = "easy,fifo,greedy,las,srtf-history", columns;
  ScenarioOptions scenario;
  std::vector<std::string> set;
  bool json = false;
};

struct Times {
  std::vector<double> wait_s, jct_s;

  void add(int64_t wait_us, int64_t jct_us) {
    wait_s.push_back(1e-6 * static_cast<double>(wait_us));
    jct_s.push_back(1e-6 * static_cast<double>(jct_us));
  }
  double mean_wait() const { return yard::mean(wait_s); }
  double mean_jct() const { return yard::mean(jct_s); }
  double wait(double share) const {
    std::vector<double> by_size = wait_s;
    return wait_s.empty() ? 0 : nearest_rank(by_size, share);
  }
  Json json() const {
    return {{"jobs", wait_s.size()},   {"mean_wait_s", mean_wait()}, {"p50_wait_s", wait(0.5)},
            {"p90_wait_s", wait(0.9)}, {"p99_wait_s", wait(0.99)},   {"mean_jct_s", mean_jct()}};
  }
};

// Of jobs whose real start the log has. What they did not run of the time to their end they waited:
// a suspended job does. Where no end is logged, they ran from their start on.
Times logged_times(const Trace& trace) {
  Times times;
  for (const Job& job : trace.jobs) {
    if (!job.scored || job.logged_start_us < 0) continue;
    int64_t jct_us = job.logged_start_us - job.submit_us + job.run_us;
    if (job.logged_end_us >= 0) jct_us = job.logged_end_us - job.submit_us;
    times.add(std::max<int64_t>(0, jct_us - job.run_us), jct_us);
  }
  return times;
}

// Of the same jobs. A preempted job waits again, and saves and restores: all of it counts, or
// policies that preempt would seem to make nobody wait.
Times simulated_times(const Scenario& scenario, const Run& run) {
  Times times;
  for (size_t j = 0; j < scenario.trace.jobs.size(); ++j) {
    const Job& job = scenario.trace.jobs[j];
    const JobOutcome& what = run.outcome.jobs[j];
    if (!job.scored || job.logged_start_us < 0 || what.end_us == kNone) continue;
    times.add(wait_us(job, what, scenario.alone_us[j]), what.end_us - job.submit_us);
  }
  return times;
}

void print_row(const std::string& name, const Times& times) {
  std::printf("%-20s %12.0f %10.0f %12.0f %12.0f %14.0f", name.c_str(), times.mean_wait(),
              times.wait(0.5), times.wait(0.9), times.wait(0.99), times.mean_jct());
}

void need_starts(const Trace& log) {
  const auto starts = [](const Job& job) { return job.scored && job.logged_start_us >= 0; };
  if (std::ranges::any_of(log.jobs, starts)) return;
  throw InputError(log.source, "jobs whose start is logged (columns Start and End)", "none");
}

int run_whatif(CLI::App& app, int argc, char** argv) {
  Options options;
  app.add_option("--sacct", options.scenario.trace,
                 "what sacct --parsable2 printed, or any log that says when jobs started")
      ->required();
  app.add_option("--columns", options.columns, kColumnsHelp)->default_str("");
  app.add_option("--cluster", options.scenario.cluster,
                 "as for simulate; without it, the least that can have run the logged jobs");
  app.add_option("--policy", options.policies, "the first is taken for the site's own");
  app.add_option("--set", options.set, "trace.key=value for the log, P.key=value for a policy P");
  app.add_option("--from", options.scenario.window.from, "start of the time that counts");
  app.add_option("--to", options.scenario.window.to, "its end");
  app.add_flag("--skip-unusable", options.scenario.skip_unusable,
               "count rows and jobs that cannot be used instead of refusing the log");
  app.add_flag("--json", options.json, "print one JSON document");
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::vector<std::string> policies = list_of(options.policies, "--policy");
  CommonOptions common;
  common.set = options.set;
  common.columns = options.columns;
  common.scenario = options.scenario;
  common.finish(policies);
  std::vector<Contestant> contestants;
  for (const std::string& policy : policies) {
    contestants.push_back(prepare(policy, common.run_of(policy)));
  }

  bool inferred = false;
  if (common.scenario.cluster.empty()) {
    const Trace log =
        load_trace(common.scenario.trace, {.skip_unusable = common.scenario.skip_unusable,
                                           .settings = common.scenario.trace_settings});
    need_starts(log);
    common.scenario.cluster = least_cluster(log);
    inferred = true;
  }
  const Scenario scenario = load_scenario(common.scenario);
  note_scenario(scenario, contestants);
  const Times logged = logged_times(scenario.trace);
  need_starts(scenario.trace);

  Json out = {{"trace", trace_json(scenario)},
              {"cluster", cluster_json(scenario.cluster)},
              {"cluster_inferred", inferred},
              {"logged", logged.json()},
              {"runs", Json::array()}};
  std::vector<Run> runs;
  for (const Contestant& contestant : contestants) {
    runs.push_back(run_prepared(scenario, contestant, common.run_of(contestant.name)));
  }
  for (const Run& run : runs) {
    const Times times = simulated_times(scenario, run);
    Json one = {{"policy", run.policy}, {"information", level_name(run.level)}};
    one.update(times.json());
    one["utilisation"] = run.summary.utilisation;
    one["preemptions"] = run.summary.preemptions;
    one["wait_ratio_to_logged"] =
        logged.mean_wait() > 0 ? Json(times.mean_wait() / logged.mean_wait()) : Json(nullptr);
    out["runs"].push_back(one);
  }
  if (options.json) {
    std::puts(out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  }
  std::printf("%s: %zu jobs with a logged start, on %s%s\n\n", scenario.trace.source.c_str(),
              logged.wait_s.size(), scenario.cluster.text.c_str(),
              inferred ? " (inferred: the most that was held at once)" : "");
  std::printf("%-20s %12s %10s %12s %12s %14s %6s %8s\n", "", "mean wait s", "p50 s", "p90 s",
              "p99 s", "mean JCT s", "util", "preempt");
  print_row("logged", logged);
  std::printf(" %6s %8s\n", "-", "-");
  for (const Run& run : runs) {
    print_row(run.policy, simulated_times(scenario, run));
    std::printf(" %6.3f %8lld%s\n", run.summary.utilisation,
                static_cast<long long>(run.summary.preemptions),
                is_bound(run.level) ? "  (bound: knows run times)" : "");
  }
  const double met = simulated_times(scenario, runs.front()).mean_wait();
  char ratio[32] = "n/a";  // where nobody waited
  if (logged.mean_wait() > 0) {
    std::snprintf(ratio, sizeof ratio, "%.2f", met / logged.mean_wait());
  }
  std::printf("\n%s in place of the site's own scheduler: mean wait %s times the logged one.\n",
              runs.front().policy.c_str(), ratio);
  std::printf(
      "A wait is the time to a job's end less its run time: also what a preempted or suspended one "
      "waits\nagain, saves and restores, and what it loses on GPUs slower than the fastest.\n"
      "Where the ratio is far from 1, jobs waited for what the log does not say (limits, holds, "
      "nodes out of\norder): compare policies with %s, not with the log.\n",
      runs.front().policy.c_str());
  return 0;
}

const Command kWhatif{"whatif", "What a site's own log would have been under other policies.",
                      run_whatif};

}  // namespace
}  // namespace yard::sim
