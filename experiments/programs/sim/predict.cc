// predict: measures coverage of predicted intervals of jobs' remaining times; --fit writes a model.
#include <cstdio>

#include "experiments/cli/command.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/replay/coverage.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/report/scenario_json.h"
#include "experiments/search/fit_hazards.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

Json group_json(const char* name, const PredictionCoverageGroup& group) {
  Json out = {{"jobs", name}, {"asked", group.predictions}};
  for (size_t k = 0; k < kNominalCoverages.size(); ++k) {
    out["within_" + shortest_text(100 * kNominalCoverages[k])] =
        group.predictions > 0 ? Json(group.share(k)) : Json(nullptr);
  }
  out["median_error_log2"] = group.predictions > 0 ? Json(group.median_error_log2) : Json(nullptr);
  return out;
}

void print_group(const char* name, const PredictionCoverageGroup& group) {
  if (group.predictions == 0) return;
  std::printf("%-10s %11lld %8.3f %8.3f %8.3f %14.2f\n", name,
              static_cast<long long>(group.predictions), group.share(0), group.share(1),
              group.share(2), group.median_error_log2);
}

void write_fitted_distribution(const CommonOptions& options, const std::string& fit) {
  require_input(is_tuned_policy_file(fit), "--fit", "a name that ends in .yaml", "'" + fit + "'");
  require_input(!options.scenario.congestion, "--congestion",
                "none with --fit, which uses the times of the log",
                shortest_text(options.scenario.congestion.value_or(0)));
  const Scenario scenario = load_scenario(options.scenario);
  require_input(!scenario.opens_test, "--to",
                "at most 80% with --fit: the last fifth of a log is reserved for tests",
                options.scenario.window.to.empty() ? "the end" : options.scenario.window.to);
  write_file_atomic(fit, hazards_policy_yaml(fit_hazards(scenario), scenario));
}

int run_predict(CLI::App& app, int argc, char** argv) {
  CommonOptions options;
  std::string policy = "gittins";
  double interval_s = 3600;
  std::string fit;
  app.option_defaults()->group("Policies");
  app.add_option("--policy", policy, "policy which schedules during the measurement")
      ->type_name(kPolicyType);
  options.add_to(app);
  app.option_defaults()->group("Simulation");
  app.add_option("--every", interval_s,
                 "simulated seconds between predictions of the remaining times of all jobs");
  app.option_defaults()->group("Output");
  app.add_option("--fit", fit,
                 "instead of measuring, write the run times of the scored jobs, by size, to a YAML "
                 "file for the policy gittins-fitted");
  set_examples(app, {"yardmaster predict --trace synthetic:habits --generate-jobs 300 "
                     "--cluster 2x8"});
  if (!parse_arguments(app, argc, argv)) return 0;
  options.finish({policy});
  check_policies({policy}, options.run.rules, "--policy");
  if (!fit.empty()) {
    write_fitted_distribution(options, fit);
    return 0;
  }
  require_input(interval_s >= 1 && interval_s <= 1e9, "--every", "1 to 1e9 seconds",
                shortest_text(interval_s));
  const RunOptions how = options.run_of(policy);
  require_input(how.rules == "default", "--rules", "'default'", "'" + how.rules + "'");
  PreparedPolicy prepared = prepare(policy, how);
  const Scenario scenario = load_scenario(options.scenario);
  print_scenario_notes(scenario, {});
  const PredictionCoverage found =
      measure_interval_coverage(scenario, std::move(prepared), how, interval_s);
  Json out = {{"coverage",
               {group_json("all", found.all), group_json("waiting", found.waiting),
                group_json("begun", found.begun)}},
              {"policy", policy},
              {"every_s", interval_s},
              {"cluster", cluster_summary_json(scenario.cluster)},
              {"trace", trace_json(scenario)}};
  options.print_result(out, [&] {
    std::printf("%-10s %11s %8s %8s %8s %14s\n", "jobs", "predictions", "in 50 %", "in 80 %",
                "in 90 %", "|error| log2");
    print_group("all", found.all);
    print_group("waiting", found.waiting);
    print_group("started", found.begun);
  });
  AtomicFiles files;
  options.save(out, files);
  return 0;
}

const Command kPredict{"predict",
                       "Measure how often a job's remaining time lies in its predicted intervals.",
                       run_predict};

}  // namespace
}  // namespace yard::sim
