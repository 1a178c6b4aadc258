// evolve: learns the numeric settings of a policy from many short episodes, with different episodes
// in each generation (experiments/search/evolution.h).
#include <algorithm>
#include <cstdio>

#include "env/base/config/settings.h"
#include "env/base/os/interrupt.h"
#include "experiments/cli/cell_options.h"
#include "experiments/cli/command.h"
#include "experiments/evaluate/cell_runner.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/report/text_table.h"
#include "experiments/run/progress.h"
#include "experiments/search/evolve_files.h"
#include "experiments/search/pilot_checkpoint.h"
#include "policies/learned/open_policy.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct EvolveArguments : CommonOptions {
  CellOptions cells;
  std::string policy, start, learn, drop, validate_from, validate_to, validate_on, out, checkpoint;
  bool resume = false, drain = false;
  std::string episode_warmup = "86400";
  int episodes = 24, episode_jobs = 400, validation_episodes = 8;
  EvolutionOptions evolution;
};

// Adds up to `count` episodes, evenly spread over the cell's window.
void add_episodes(const CellSpec& cell, const TraceOnCluster& source, int count,
                  const EvolveArguments& options, const Rng& rng, std::vector<Scenario>& out) {
  Trace whole = source.trace;
  const WindowOptions& window = cell.scenario.window;
  const Window span = select_window(whole, window);
  int64_t first = 0;
  for (const Job& job : source.trace.jobs) first += job.submit_us < span.from_us;
  const int64_t limit = std::min<int64_t>(options.episode_jobs, span.scored);
  for (int e = 0; e < count; ++e) {
    throw_if_interrupted();
    WindowOptions window_options = window;
    window_options.from.clear(), window_options.to.clear();
    window_options.warmup = options.episode_warmup;
    window_options.jobs_from = first + (count > 1 ? (span.scored - limit) * e / (count - 1) : 0);
    window_options.jobs_count = limit;
    // Later jobs of the trace belong to other episodes: never play them here.
    window_options.after =
        options.drain ? ArrivalsAfterWindow::kNothing : ArrivalsAfterWindow::kRepeat;
    try {
      const Scenario scenario =
          make_scenario(source, window_options, cell.scenario.congestion, cell.scenario.cost_scale);
      out.push_back(perturbed_replica_of(scenario, rng.split(static_cast<uint64_t>(e))));
    } catch (const InputError&) {
      if (!cell.scenario.congestion) throw;  // else: congestion not reachable here, skip it
    }
  }
}

std::vector<Scenario> episodes_of(const std::vector<CellSpec>& cells, TraceOnClusterCache& sources,
                                  int count, const EvolveArguments& options) {
  std::vector<Scenario> out;
  const Rng rng = Rng(options.scenario.seed).split(0x657069736F6465);
  for (size_t c = 0; c < cells.size(); ++c) {
    const TraceOnCluster& source = sources.of(cells[c].scenario);
    const auto jobs = static_cast<int64_t>(source.trace.jobs.size());
    if (jobs < options.episode_jobs && options.evolution.progress) {
      options.evolution.progress("episodes have " + std::to_string(jobs) + " jobs, all of " +
                                 source.trace.source + ", instead of " +
                                 std::to_string(options.episode_jobs) + " (--episode-jobs)");
    }
    add_episodes(cells[c], source, count, options, rng.split(c), out);
  }
  require_input(!out.empty(), "congestion", "a value which at least one episode reaches",
                "one which none reaches");
  const size_t wanted = cells.size() * static_cast<size_t>(count);
  if (out.size() < wanted && options.evolution.progress) {
    options.evolution.progress(std::to_string(wanted - out.size()) + " of " +
                               std::to_string(wanted) +
                               " episodes are left out: they cannot reach the congestion");
  }
  return out;
}

std::vector<CellSpec> cells_of_trace(const EvolveArguments& options, const std::string& from,
                                     const std::string& to) {
  std::vector<CellSpec> cells;
  for (const std::optional<double> congestion : congestions_of(options)) {
    CellSpec cell;
    cell.scenario = options.scenario;
    cell.scenario.congestion = congestion;
    cell.scenario.window.from = from, cell.scenario.window.to = to;
    cells.push_back(std::move(cell));
  }
  return cells;
}

// All options of the command except those which do not affect the search.
std::string options_affecting_results(const CLI::App& app) {
  constexpr std::array kOthers = {
      "generations=", "resume=", "out=", "json=", "json-out=", "checkpoint="};
  std::string out;
  const std::string all = app.config_to_str(true);
  for (const std::string_view line : split(all, '\n')) {
    const bool other =
        std::ranges::any_of(kOthers, [&](const char* name) { return line.starts_with(name); });
    if (!other) out += std::string(line) + "\n";
  }
  return out;
}

int run_evolve(CLI::App& app, int argc, char** argv) {
  EvolveArguments options;
  app.option_defaults()->group("Policies");
  app.add_option("--policy", options.policy, "registered policy whose settings are learned")
      ->type_name(kPolicyType)
      ->required();
  app.add_option("--start", options.start, "policy file with the initial settings");
  options.add_to(app, true);
  options.cells.add_to(app);
  app.option_defaults()->group("Search");
  app.add_option("--learn", options.learn,
                 "comma-separated numeric settings to learn (default: all except those of --set)");
  app.add_option(
      "--drop", options.drop,
      "comma-separated yes-or-no settings to turn off in random episodes, so that the result also "
      "suits clusters without these actions");
  app.add_option("--drop-share", options.evolution.drop_share,
                 "share of episodes in which each setting of --drop is off");
  app.add_option(
      "--tails", options.evolution.tails,
      "weight of losses in p99 JCT and of the jobs with most GPUs; the mean has weight 1");
  app.option_defaults()->group("Episodes");
  app.add_option("--episodes", options.episodes, "episodes per cell, spread over its window");
  app.add_option("--episode-jobs", options.episode_jobs, "scored jobs per episode");
  app.add_option("--episode-warmup", options.episode_warmup,
                 "seconds simulated before each episode but not scored");
  app.add_flag(
      "--drain", options.drain,
      "submit nothing after an episode's jobs (default: repeat them, so that the cluster stays "
      "as full)");
  app.option_defaults()->group("Validation");
  app.add_option("--validate-on", options.validate_on,
                 "cells on which the best settings are chosen, in the form of --only");
  app.add_option("--validate-from", options.validate_from,
                 "start of the window of --trace on which the best settings are chosen");
  app.add_option("--validate-to", options.validate_to, "end of the window of --validate-from");
  app.add_option("--validation-episodes", options.validation_episodes,
                 "validation episodes per cell, spread over its window");
  app.option_defaults()->group("Search");
  app.add_option("--generations", options.evolution.generations, "number of generations");
  app.add_option("--candidates", options.evolution.candidates,
                 "candidates per generation, an even number");
  app.add_option("--meet", options.evolution.episodes,
                 "episodes per generation, on which all candidates are compared");
  app.add_option("--step", options.evolution.step,
                 "initial step size, as a share of each setting's range");
  app.option_defaults()->group("Output");
  app.add_option(
      "--out", options.out,
      "policy YAML file to write; --resume reads the .search.json file written next to it");
  app.add_option(
      "--checkpoint", options.checkpoint,
      "with --policy joint: checkpoint folder, made from --out at the end, for `serve` and "
      "checkpoint:DIR");
  app.add_flag("--resume", options.resume, "resume the search of --out");
  set_examples(app,
               {"yardmaster evolve --policy joint --trace synthetic:mixed --generate-jobs 20000 "
                "--cluster mixed-9 --to 60% --validate-from 60% --validate-to 80% "
                "--out joint.yaml"});
  if (!parse_arguments(app, argc, argv)) return 0;
  options.finish({options.policy});
  check_range("--episodes", options.episodes, 1, 100'000);
  check_range("--episode-jobs", options.episode_jobs, 10, 1'000'000);
  check_range("--validation-episodes", options.validation_episodes, 1, 100'000);
  check_range("--generations", options.evolution.generations, 1, 1'000'000);
  check_range("--candidates", options.evolution.candidates, 2, 10'000);
  check_range("--meet", options.evolution.episodes, 1, 100'000);
  require_input(options.evolution.candidates % 2 == 0, "--candidates", "an even number",
                std::to_string(options.evolution.candidates));
  require_input(options.evolution.step > 0 && options.evolution.step <= 1, "--step",
                "above 0 and up to 1", shortest_text(options.evolution.step));
  check_range("--drop-share", options.evolution.drop_share, 0, 1);
  check_range("--tails", options.evolution.tails, 0, 100);
  require_input(!options.resume || !options.out.empty(), "--resume",
                "--out, the file of the search to resume", "none");
  if (!options.checkpoint.empty()) {
    require_input(options.policy == "joint" && !options.out.empty(), "--checkpoint",
                  "--policy joint and --out", "--policy " + options.policy);
    check_checkpoint_writable(options.checkpoint);
  }
  if (!options.out.empty()) {
    for (const std::filesystem::path& output_path :
         {std::filesystem::path(options.out), search_state_path(options.out)}) {
      if (options.resume || !std::filesystem::exists(output_path)) continue;
      throw InputError(output_path.string(), "a new file, or --resume to continue a search",
                       "an existing file");
    }
    check_writable(options.out);
  }
  if (!options.learn.empty()) options.evolution.learn = split_list(options.learn, "--learn");
  if (!options.drop.empty()) options.evolution.drop = split_list(options.drop, "--drop");
  options.evolution.seed = options.scenario.seed;
  options.evolution.progress = progress_log();
  const RunOptions run = options.run_of(options.policy);
  prepare(options.policy, run);
  const Settings start =
      options.start.empty() ? Settings() : read_policy_file(options.start, options.policy).settings;

  const std::optional<CellFile> file =
      options.cells.read(app, {"--validate-from", "--validate-to"});
  std::vector<CellSpec> cells, validation_cells;
  if (file) {
    if (options.validate_on.empty()) throw InputError("--validate-on", "cells", "none");
    cells = options.cells.selected(*file);
    validation_cells = select_cells(*file, split_list(options.validate_on, "--validate-on"));
    check_input_sha256(validation_cells);
  } else {
    require_input(options.validate_on.empty(), "--validate-on", "--cells as well", "none");
    require_input(!options.validate_from.empty() || !options.validate_to.empty(), "--validate-from",
                  "a validation window of the trace", "none");
    cells = cells_of_trace(options, options.scenario.window.from, options.scenario.window.to);
    validation_cells = cells_of_trace(options, options.validate_from, options.validate_to);
  }
  TraceOnClusterCache sources;
  const std::vector<Scenario> episodes = episodes_of(cells, sources, options.episodes, options);
  const std::vector<Scenario> validation =
      episodes_of(validation_cells, sources, options.validation_episodes, options);
  EvolveFiles files({options.out, options.policy, options.evolution, run.policy, start, cells,
                     validation_cells, options.episodes, options.episode_jobs, options.drop,
                     options.validation_episodes, options.episode_warmup, options.drain,
                     options_affecting_results(app), sources.trace_hashes()});
  EvolutionResult evolved;
  try {
    evolved = evolve(episodes, validation, options.policy, run, options.evolution, start,
                     options.resume ? files.load_state() : EvolutionState{},
                     [&](const EvolutionState& state) {
                       files.save(state);
                       throw_if_interrupted();
                     });
  } catch (const Interrupted&) {
    if (options.out.empty() || !std::filesystem::exists(search_state_path(options.out))) throw;
    throw Interrupted("the same command with --resume");
  }
  Json settings = Json::object();
  for (const auto& [key, value] : evolved.settings) settings[key] = *parse_double(value);
  const Json out = {{"policy", options.policy},
                    {"settings", settings},
                    {"validation_ratio_to_start", evolved.ratio},
                    {"generation", evolved.generation},
                    {"episodes", episodes.size()},
                    {"validation_episodes", validation.size()},
                    {"played", evolved.played}};
  options.print_result(out, [&] {
    std::printf("%s: validation ratio to the start %s (generation %d, %lld episodes simulated)\n",
                options.policy.c_str(), number_text(evolved.ratio, 4).c_str(), evolved.generation,
                static_cast<long long>(evolved.played));
    for (const auto& [key, value] : evolved.settings) {
      std::printf("  %s: %s\n", key.c_str(), value.c_str());
    }
  });
  if (!options.checkpoint.empty()) {
    save_checkpoint(checkpoint_from_policy_file(options.out), options.checkpoint);
  }
  AtomicFiles document;  // the search has already written its own files
  options.save(out, document);
  return 0;
}

const Command kEvolve{"evolve", "Learn the numeric settings of a policy from many short episodes.",
                      run_evolve};

}  // namespace
}  // namespace yard::sim
