// tune: searches the numeric settings of policies, with the same budget for each policy.
#include "experiments/search/tune.h"

#include <cstdio>
#include <numeric>

#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/cli/command.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/programs/sim/tune_cells.h"
#include "experiments/report/scenario_json.h"
#include "experiments/report/text_table.h"
#include "experiments/run/progress.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxBudget = 1'000'000;

struct TuneArguments : CommonOptions {
  CellOptions cells;
  std::string policies, out;
  int replicas = 2;
  TuneOptions tune;
};

// "tuned.yaml" becomes "tuned.las.yaml".
std::string policy_path(const std::string& out, const std::string& policy) {
  std::filesystem::path path(out);
  const std::string extension = path.extension().string();
  return path.replace_extension().string() + "." + policy + extension;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Json tuned_json(const TuningResult& tuned, const std::string& file) {
  Json settings = Json::object();
  for (const GivenSetting& setting : tuned.fixed.entries()) settings[setting.key] = setting.value;
  for (const auto& [key, value] : tuned.settings) settings[key] = *parse_double(value);
  Json cells = Json::array();
  for (size_t c = 0; c < tuned.jct_s.size(); ++c) {
    cells.push_back(
        {{"default_mean_jct_s", tuned.default_jct_s[c]}, {"mean_jct_s", tuned.jct_s[c]}});
  }
  return {{"policy", tuned.policy},
          {"information", information_level_name(tuned.level)},
          {"speeds", speed_information_name(tuned.speeds)},
          {"settings", settings},
          {"evaluated", tuned.evaluated},
          {"refused", tuned.refused},
          {"default_mean_jct_s", mean(tuned.default_jct_s)},
          {"mean_jct_s", mean(tuned.jct_s)},
          {"ratio", tuned.ratio},
          {"cells", cells},
          {"file", file.empty() ? Json(nullptr) : Json(file)}};
}

void print_tuned(const TuningResult& tuned) {
  std::printf("%-16s %-13s speeds %-7s %12s -> %12s s (x %s)", tuned.policy.c_str(),
              information_level_name(tuned.level), speed_information_name(tuned.speeds),
              number_text(mean(tuned.default_jct_s), 1).c_str(),
              number_text(mean(tuned.jct_s), 1).c_str(), number_text(tuned.ratio, 3).c_str());
  for (const auto& [key, value] : tuned.settings) {
    std::printf("  %s=%s", key.c_str(), value.c_str());
  }
  std::putchar('\n');
}

int run_tune(CLI::App& app, int argc, char** argv) {
  TuneArguments options;
  app.option_defaults()->group("Policies");
  app.add_option("--policy", options.policies, "comma-separated registered policies")
      ->type_name(kPoliciesType)
      ->required();
  options.add_to(app, true);
  options.cells.add_to(app);
  app.option_defaults()->group("Search");
  app.add_option("--budget", options.tune.budget, "candidates per policy");
  app.add_option(
      "--replicas", options.replicas,
      "replicas of each cell, with jittered arrivals (default: as in the file of --cells, or 2)");
  app.add_option(
      "--results", options.tune.results,
      "with --cells: folder for evaluated candidates, from which an interrupted search resumes");
  app.option_defaults()->group("Output");
  app.add_option(
      "--out", options.out,
      "YAML file for the best policy; several policies are also written as FILE.POLICY.yaml");
  set_examples(app, {"yardmaster tune --policy las --budget 8 --replicas 1 "
                     "--trace synthetic:habits --generate-jobs 300 --cluster 2x8 --out las.yaml"});
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::optional<CellFile> file = options.cells.read(app, {});
  require_input(file || options.tune.results.empty(), "--results", "--cells as well", "none");
  const std::vector<std::string> policies = split_list(options.policies, "--policy");
  options.finish(policies);
  check_policies(policies, options.run.rules, "--policy");
  check_range("--budget", options.tune.budget, 1, kMaxBudget);
  check_range("--replicas", options.replicas, 1, kMaxBudget);
  if (!options.out.empty()) {
    const std::string extension = std::filesystem::path(options.out).extension().string();
    require_input(extension == ".yaml" || extension == ".yml", "--out", "a name that ends in .yaml",
                  "'" + options.out + "'");
    check_writable(options.out);
  }
  options.tune.seed = options.scenario.seed;
  options.tune.progress = progress_log();
  for (const std::string& policy : policies) PolicyRegistry::info(policy);
  std::vector<PreparedPolicy> prepared_policies;
  for (const std::string& policy : policies) {
    prepared_policies.push_back(prepare(policy, options.run_of(policy)));
  }

  std::optional<int> replicas;
  if (app.count("--replicas") > 0) replicas = options.replicas;
  const std::vector<TuneCell> cells =
      load_tune_cells(options, options.cells, file, replicas, options.tune.progress);
  for (const TuneCell& cell : cells)
    print_scenario_notes(cell.scenario, prepared_policies, options.run.speeds);
  std::vector<TuningResult> all;
  for (const std::string& policy : policies) {
    all.push_back(tune(cells, policy, options.run_of(policy), options.tune));
  }
  const TuningResult& best = all[best_of(all)];
  std::vector<std::string> paths(all.size());
  for (size_t i = 0; i < all.size() && !options.out.empty(); ++i) {
    paths[i] = all.size() == 1 ? options.out : policy_path(options.out, all[i].policy);
  }
  Json out = {{"tuned", Json::array()}, {"best", best.policy}};
  for (size_t i = 0; i < all.size(); ++i) out["tuned"].push_back(tuned_json(all[i], paths[i]));
  out["cluster"] = cluster_summary_json(cells.front().scenario.cluster);
  out["trace"] = trace_json(cells.front().scenario);
  out["cells"] = Json::array();
  for (const TuneCell& cell : cells) {
    Json row = {{"cell", cell.name}, {"cell_hash", cell.hash}};
    row.update(trace_json(cell.scenario));
    out["cells"].push_back(row);
  }
  options.print_result(out, [&] {
    for (const TuningResult& tuned : all) print_tuned(tuned);
  });
  AtomicFiles files;
  if (!options.out.empty()) {
    for (size_t i = 0; i < all.size(); ++i) {
      files.add(paths[i], tuned_yaml(all[i], cells, options.tune));
    }
    if (all.size() > 1) files.add(options.out, tuned_yaml(best, cells, options.tune));
  }
  options.save(out, files);
  return 0;
}

const Command kTune{
    "tune", "Search the numeric settings of policies, with the same budget for each.", run_tune};

}  // namespace
}  // namespace yard::sim
