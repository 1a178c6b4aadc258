// explain: writes a pilot's rule as a formula of few named terms, which also runs as a policy.
#include "experiments/search/explain.h"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <cstdio>

#include "env/base/config/settings.h"
#include "experiments/cli/command.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/programs/sim/tune_cells.h"
#include "experiments/report/text_table.h"
#include "experiments/run/progress.h"
#include "policies/learned/learned_policy.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainArguments : CommonOptions {
  CellOptions cells;
  std::string checkpoint, out;
  int replicas = 2;
  ExplainOptions explain;
};

Settings numeric_settings_of(const std::string& checkpoint) {
  if (is_tuned_policy_file(checkpoint)) return read_policy_file(checkpoint, "joint").settings;
  const Checkpoint read = load_checkpoint(checkpoint);
  require_input(read.agent == "pilot", checkpoint, "a checkpoint of the agent pilot",
                "one of " + read.agent);
  return agent_of(read)->expert().settings;
}

std::string policy_yaml(const ExplainArguments& options, const GainExplanation& explained) {
  YAML::Emitter out;
  const auto entry = [&out](const std::string& key, const std::string& value) {
    out << YAML::Key << key << YAML::Value << value;
  };
  out << YAML::BeginMap;
  entry("policy", "joint");
  out << YAML::Key << "settings" << YAML::Value << YAML::BeginMap;
  for (const ExplainedSetting& term : explained.terms) entry(term.name, term.value);
  out << YAML::EndMap << YAML::Key << "provenance" << YAML::Value << YAML::BeginMap;
  entry("explains", std::filesystem::path(options.checkpoint).filename().string());
  entry("keeps_of_its_gain", shortest_text(std::round(explained.gain_share * 1e3) / 1e3));
  out << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

Json json_of(const GainExplanation& explained) {
  Json terms = Json::array();
  for (const ExplainedSetting& term : explained.terms) {
    Json classes = Json::object();
    for (int c = 0; c < kSizeClasses; ++c) {
      const double ratio = term.without_by_class[static_cast<size_t>(c)];
      classes[size_class_name(c)] = ratio > 0 ? Json(ratio) : Json(nullptr);
    }
    terms.push_back({{"name", term.name},
                     {"value", term.value},
                     {"default", term.default_value},
                     {"about", term.about},
                     {"kept", term.gain_share},
                     {"without", term.without},
                     {"without_by_class", classes}});
  }
  return {{"terms", terms},
          {"ratio_to_defaults", explained.whole},
          {"formula_ratio_to_defaults", explained.formula},
          {"kept", explained.gain_share}};
}

void print(const GainExplanation& explained) {
  std::printf("%-18s %10s %10s %6s  JCT ratio without term: all", "term", "value", "default",
              "kept");
  for (int c = 0; c < kSizeClasses; ++c) std::printf(" %6s", size_class_name(c));
  std::printf(" GPUs\n");
  for (const ExplainedSetting& term : explained.terms) {
    std::printf("%-18s %10s %10s %6s %28s", term.name.c_str(), term.value.c_str(),
                term.default_value.c_str(), number_text(term.gain_share, 2).c_str(),
                number_text(term.without, 3).c_str());
    for (const double ratio : term.without_by_class) {
      std::printf(" %6s", ratio > 0 ? number_text(ratio, 3).c_str() : "");
    }
    std::printf("\n    %s\n", term.about.c_str());
  }
  std::printf(
      "mean JCT ratio to joint's defaults: %s whole rule, %s these terms (%s of the gain)\n",
      number_text(explained.whole, 3).c_str(), number_text(explained.formula, 3).c_str(),
      percent_text(explained.gain_share, 0).c_str());
}

int run_explain(CLI::App& app, int argc, char** argv) {
  ExplainArguments options;
  app.option_defaults()->group("Policies");
  app.add_option("--checkpoint", options.checkpoint,
                 "pilot checkpoint folder, or policy file of `joint`")
      ->required();
  options.add_to(app, true);
  options.cells.add_to(app);
  app.option_defaults()->group("Formula");
  app.add_option("--terms", options.explain.terms, "maximum number of terms in the formula");
  app.option_defaults()->group("Simulation");
  app.add_option(
      "--replicas", options.replicas,
      "replicas of each cell, with jittered arrivals (default: as in the file of --cells, or 2)");
  app.option_defaults()->group("Output");
  app.add_option("--out", options.out, "write the formula as a policy YAML file");
  set_examples(app, {"yardmaster explain --checkpoint checkpoints/pilot --trace synthetic:mixed "
                     "--generate-jobs 1000 --cluster mixed-9 --terms 3 --replicas 1"});
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::optional<CellFile> file = options.cells.read(app, {});
  options.finish({"joint"});
  check_range("--terms", options.explain.terms, 1, 100);
  std::optional<int> replicas;
  if (app.count("--replicas") > 0) replicas = options.replicas;
  if (replicas) check_range("--replicas", *replicas, 1, 1000);
  options.explain.progress = progress_log();
  const Settings numbers = numeric_settings_of(options.checkpoint);
  const std::vector<TuneCell> cells =
      load_tune_cells(options, options.cells, file, replicas, options.explain.progress);
  const GainExplanation explained =
      explain_gain(cells,
                   is_tuned_policy_file(options.checkpoint) ? options.checkpoint
                                                            : "checkpoint:" + options.checkpoint,
                   "joint", numbers, options.explain);
  const Json out = json_of(explained);
  options.print_result(out, [&] { print(explained); });
  AtomicFiles files;
  if (!options.out.empty()) files.add(options.out, policy_yaml(options, explained));
  options.save(out, files);
  return 0;
}

const Command kExplain{"explain",
                       "Express the rule of a trained policy as a formula of few named terms.",
                       run_explain};

}  // namespace
}  // namespace yard::sim
