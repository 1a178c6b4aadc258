// evolve: learns the declared numbers of a policy from many short episodes, each generation other
// ones (experiments/search/evolution.h).
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/interrupt.h"
#include "env/base/text.h"
#include "experiments/arena.h"
#include "experiments/cells.h"
#include "experiments/programs/sim/cell_options.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/options.h"
#include "experiments/progress.h"
#include "experiments/search/evolution.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options : CommonOptions {
  CellOptions cells;
  std::string policy, learn, validate_from, validate_to, validate_on, out;
  std::string episode_warmup = "86400";
  int episodes = 24, episode_jobs = 400, validation_episodes = 8;
  EvolutionOptions evolution;
};

void check_range(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw InputError(option, std::to_string(least) + " to " + std::to_string(most),
                   std::to_string(value));
}

// Adds up to `count` episodes of `jobs` scored jobs, evenly spread over the cell's window.
void add_episodes(const CellSpec& cell, const Source& source, int count, int jobs,
                  const std::string& warmup, const Rng& rng, std::vector<Scenario>& out) {
  Trace whole = source.trace;
  const WindowOptions& window = cell.scenario.window;
  const Window span = select_window(whole, window);
  int64_t first = 0;
  for (const Job& job : source.trace.jobs) first += job.submit_us < span.from_us;
  const int64_t most = std::min<int64_t>(jobs, span.scored);
  for (int e = 0; e < count; ++e) {
    throw_if_interrupted();
    WindowOptions one = window;
    one.from.clear(), one.to.clear();
    one.warmup = warmup;
    one.jobs_from = first + (count > 1 ? (span.scored - most) * e / (count - 1) : 0);
    one.jobs_count = most;
    one.after = AfterWindow::kRepeat;  // what comes later is for others to learn from
    try {
      const Scenario scenario =
          make_scenario(source, one, cell.scenario.congestion, cell.scenario.cost_scale);
      out.push_back(replica_of(scenario, rng.split(static_cast<uint64_t>(e))));
    } catch (const InputError&) {
      if (!cell.scenario.congestion) throw;  // some stretches cannot be as crowded as asked for
    }
  }
}

std::vector<Scenario> episodes_of(const std::vector<CellSpec>& cells, Sources& sources, int count,
                                  const Options& options) {
  std::vector<Scenario> out;
  const Rng rng = Rng(options.scenario.seed).split(0x657069736F6465);
  for (size_t c = 0; c < cells.size(); ++c) {
    add_episodes(cells[c], sources.of(cells[c].scenario), count, options.episode_jobs,
                 options.episode_warmup, rng.split(c), out);
  }
  if (out.empty()) {
    throw InputError("congestion", "one that some episode reaches", "none that does");
  }
  const size_t wanted = cells.size() * static_cast<size_t>(count);
  if (out.size() < wanted && options.evolution.progress) {
    options.evolution.progress(std::to_string(wanted - out.size()) + " of " +
                               std::to_string(wanted) +
                               " episodes are left out: they are never as crowded as asked for");
  }
  return out;
}

// One workload as a cell for each congestion.
std::vector<CellSpec> cells_of_trace(const Options& options, const std::string& from,
                                     const std::string& to) {
  std::vector<std::optional<double>> congestions(options.congestions.begin(),
                                                 options.congestions.end());
  if (congestions.empty()) congestions.emplace_back(std::nullopt);
  std::vector<CellSpec> cells;
  for (const std::optional<double> congestion : congestions) {
    CellSpec cell;
    cell.scenario = options.scenario;
    cell.scenario.congestion = congestion;
    cell.scenario.window.from = from, cell.scenario.window.to = to;
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string policy_yaml(const Options& options, const Evolved& evolved, const Settings& given,
                        const std::vector<CellSpec>& cells) {
  YAML::Emitter out;
  const auto entry = [&out](const std::string& key, const std::string& value) {
    out << YAML::Key << key << YAML::Value << value;
  };
  out << YAML::BeginMap;
  entry("policy", options.policy);
  out << YAML::Key << "settings" << YAML::Value << YAML::BeginMap;
  for (const Setting& setting : given.entries()) entry(setting.key, setting.value);
  for (const auto& [key, value] : evolved.settings) entry(key, value);
  out << YAML::EndMap << YAML::Key << "provenance" << YAML::Value << YAML::BeginMap;
  const EvolutionOptions& how = options.evolution;
  entry("learner", "SNES");
  entry("episodes_a_cell", std::to_string(options.episodes));
  entry("episode_jobs", std::to_string(options.episode_jobs));
  entry("generations", std::to_string(how.generations));
  entry("candidates", std::to_string(how.candidates));
  entry("episodes_a_generation", std::to_string(how.episodes));
  entry("step", shortest(how.step));
  entry("seed", std::to_string(how.seed));
  entry("played", std::to_string(evolved.played));
  entry("generation_kept", std::to_string(evolved.generation));
  entry("validation_ratio_to_start", shortest(evolved.ratio));
  out << YAML::Key << "cells" << YAML::Value << YAML::BeginMap;
  for (size_t c = 0; c < cells.size(); ++c) {
    const CellSpec& cell = cells[c];
    out << YAML::Key << (cell.name.empty() ? "cell_" + std::to_string(c + 1) : cell.name)
        << YAML::Value << YAML::BeginMap;
    // The name alone: the file is to say the same wherever the traces lie.
    entry("trace", std::filesystem::path(cell.scenario.trace).filename().string());
    if (!cell.sha256.empty()) entry("sha256", cell.sha256);
    entry("cluster", std::filesystem::path(cell.scenario.cluster).filename().string());
    entry("from", cell.scenario.window.from);
    entry("to", cell.scenario.window.to);
    if (cell.scenario.congestion) entry("congestion", shortest(*cell.scenario.congestion));
    out << YAML::EndMap;
  }
  out << YAML::EndMap << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

int run_evolve(CLI::App& app, int argc, char** argv) {
  Options options;
  options.add_to(app, true);
  options.cells.add_to(app);
  app.add_option("--policy", options.policy, "a registered policy")->required();
  app.add_option("--learn", options.learn, "its numbers that are learned (default: all not set)");
  app.add_option("--episodes", options.episodes, "that each cell's window is cut into");
  app.add_option("--episode-jobs", options.episode_jobs, "scored jobs of each");
  app.add_option("--episode-warmup", options.episode_warmup,
                 "seconds that are played before each episode, not scored");
  app.add_option("--validate-on", options.validate_on, "of --cells: what is kept is best there");
  app.add_option("--validate-from", options.validate_from, "start of that window of --trace");
  app.add_option("--validate-to", options.validate_to, "its end");
  app.add_option("--validation-episodes", options.validation_episodes, "that it is cut into");
  app.add_option("--generations", options.evolution.generations);
  app.add_option("--candidates", options.evolution.candidates, "a generation; even");
  app.add_option("--meet", options.evolution.episodes, "episodes that a generation meets");
  app.add_option("--step", options.evolution.step, "at the start, of each number's range");
  app.add_option("--out", options.out, "the policy's YAML file");
  if (!parse_arguments(app, argc, argv)) return 0;
  options.finish({options.policy});
  check_range("--episodes", options.episodes, 1, 100'000);
  check_range("--episode-jobs", options.episode_jobs, 10, 1'000'000);
  check_range("--validation-episodes", options.validation_episodes, 1, 100'000);
  check_range("--generations", options.evolution.generations, 1, 1'000'000);
  check_range("--candidates", options.evolution.candidates, 2, 10'000);
  check_range("--meet", options.evolution.episodes, 1, 100'000);
  if (options.evolution.candidates % 2 != 0) {
    throw InputError("--candidates", "an even number",
                     std::to_string(options.evolution.candidates));
  }
  if (!(options.evolution.step > 0 && options.evolution.step <= 1)) {
    throw InputError("--step", "above 0 and up to 1", shortest(options.evolution.step));
  }
  if (!options.learn.empty()) options.evolution.learn = list_of(options.learn, "--learn");
  options.evolution.seed = options.scenario.seed;
  options.evolution.progress = progress_log();
  const RunOptions run = options.run_of(options.policy);
  prepare(options.policy, run);

  const std::optional<CellFile> file =
      options.cells.read(app, {"--validate-from", "--validate-to"});
  std::vector<CellSpec> cells, later;
  if (file) {
    if (options.validate_on.empty()) throw InputError("--validate-on", "cells", "none");
    cells = options.cells.selected(*file);
    later = select_cells(*file, list_of(options.validate_on, "--validate-on"));
    check_traces(later);
  } else {
    if (options.validate_from.empty() && options.validate_to.empty()) {
      throw InputError("--validate-from", "a window of the trace", "none");
    }
    cells = cells_of_trace(options, options.scenario.window.from, options.scenario.window.to);
    later = cells_of_trace(options, options.validate_from, options.validate_to);
  }
  Sources sources;
  const std::vector<Scenario> episodes = episodes_of(cells, sources, options.episodes, options);
  const std::vector<Scenario> validation =
      episodes_of(later, sources, options.validation_episodes, options);
  const Evolved evolved = evolve(episodes, validation, options.policy, run, options.evolution);
  AtomicFiles files;
  if (!options.out.empty()) {
    files.add(options.out, policy_yaml(options, evolved, run.policy, cells));
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
  if (options.hand_out(out, files)) return 0;
  std::printf("%s: validation x %.4f of the start's (generation %d, %lld episodes played)\n",
              options.policy.c_str(), evolved.ratio, evolved.generation,
              static_cast<long long>(evolved.played));
  for (const auto& [key, value] : evolved.settings) {
    std::printf("  %s: %s\n", key.c_str(), value.c_str());
  }
  return 0;
}

const Command kEvolve{"evolve", "Learns the numbers of a policy from many short episodes.",
                      run_evolve};

}  // namespace
}  // namespace yard::sim
