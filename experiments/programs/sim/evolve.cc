// evolve: learns the declared numbers of a policy from many short episodes, each generation other
// ones (experiments/search/evolution.h).
#include <cstdio>
#include <filesystem>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/interrupt.h"
#include "env/base/text.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/options.h"
#include "experiments/progress.h"
#include "experiments/search/evolution.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options : CommonOptions {
  std::string policy, learn, validate_from, validate_to, out;
  int episodes = 24, episode_jobs = 400, validation_episodes = 8;
  EvolutionOptions evolution;
};

void check_range(const char* option, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw InputError(option, std::to_string(least) + " to " + std::to_string(most),
                   std::to_string(value));
}

// Episodes of `jobs` scored jobs, evenly spread over the window, the congestions in turn.
std::vector<Scenario> episodes_in(const Source& source, const WindowOptions& window, int count,
                                  int jobs, const std::vector<double>& congestions,
                                  const Options& options) {
  Trace whole = source.trace;
  const Window span = select_window(whole, window);
  int64_t first = 0;
  for (const Job& job : source.trace.jobs) first += job.submit_us < span.from_us;
  if (span.scored < jobs) {
    throw InputError("--episode-jobs",
                     "at most " + std::to_string(span.scored) + ", which the window has",
                     std::to_string(jobs));
  }
  std::vector<Scenario> out;
  const Rng rng = Rng(options.scenario.seed).split(0x657069736F6465);
  for (int e = 0; e < count; ++e) {
    WindowOptions one = window;
    one.from.clear(), one.to.clear();
    one.jobs_from = first + (count > 1 ? (span.scored - jobs) * e / (count - 1) : 0);
    one.jobs_count = jobs;
    one.after = AfterWindow::kRepeat;  // what comes later is for others to learn from
    std::optional<double> congestion;
    if (!congestions.empty()) congestion = congestions[static_cast<size_t>(e) % congestions.size()];
    try {
      const Scenario scenario = make_scenario(source, one, congestion, options.scenario.cost_scale);
      out.push_back(replica_of(scenario, rng.split(static_cast<uint64_t>(e))));
    } catch (const InputError& error) {
      if (!congestion) throw;  // some stretches cannot be as crowded as asked for
    }
    throw_if_interrupted();
  }
  if (out.empty()) {
    throw InputError("--congestion", "one that some episode reaches", "none that does");
  }
  return out;
}

std::string policy_yaml(const Options& options, const Evolved& evolved, const Settings& given,
                        const std::vector<Scenario>& episodes) {
  std::string out = "policy: " + options.policy + "\nsettings:\n";
  for (const Setting& setting : given.entries())
    out += "  " + setting.key + ": " + setting.value + "\n";
  for (const auto& [key, value] : evolved.settings) out += "  " + key + ": " + value + "\n";
  const Scenario& one = episodes.front();
  out += "provenance:\n  trace: " + std::filesystem::path(one.trace.source).filename().string() +
         "\n  sha256: " + one.trace.sha256 + "\n  episodes: " + std::to_string(episodes.size()) +
         "\n  episode_jobs: " + std::to_string(options.episode_jobs) +
         "\n  from: " + options.scenario.window.from + "\n  to: " + options.scenario.window.to +
         "\n  generations: " + std::to_string(options.evolution.generations) +
         "\n  candidates: " + std::to_string(options.evolution.candidates) +
         "\n  seed: " + std::to_string(options.evolution.seed) +
         "\n  generation_kept: " + std::to_string(evolved.generation) +
         "\n  validation_ratio_to_start: " + shortest(evolved.ratio) + "\n";
  return out;
}

int run_evolve(CLI::App& app, int argc, char** argv) {
  Options options;
  options.add_to(app, true);
  app.add_option("--policy", options.policy, "a registered policy")->required();
  app.add_option("--learn", options.learn, "its numbers that are learned (default: all not set)");
  app.add_option("--episodes", options.episodes, "that --from to --to is cut into");
  app.add_option("--episode-jobs", options.episode_jobs, "scored jobs of each");
  app.add_option("--validate-from", options.validate_from, "start of the window for validation")
      ->required();
  app.add_option("--validate-to", options.validate_to, "its end")->required();
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

  const Source source = load_source(options.scenario);
  const std::vector<Scenario> episodes =
      episodes_in(source, options.scenario.window, options.episodes, options.episode_jobs,
                  options.congestions, options);
  WindowOptions later = options.scenario.window;
  later.from = options.validate_from, later.to = options.validate_to;
  const std::vector<Scenario> validation =
      episodes_in(source, later, options.validation_episodes, options.episode_jobs,
                  options.congestions, options);
  const Evolved evolved = evolve(episodes, validation, options.policy, run, options.evolution);
  AtomicFiles files;
  if (!options.out.empty()) {
    files.add(options.out, policy_yaml(options, evolved, run.policy, episodes));
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
