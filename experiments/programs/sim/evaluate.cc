// evaluate: compares policies with heuristics, with confidence intervals and headroom.
#include "experiments/evaluate/evaluate.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "env/base/os/program.h"
#include "experiments/cli/cell_options.h"
#include "experiments/cli/command.h"
#include "experiments/evaluate/test_log.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/replay/served.h"
#include "experiments/report/evaluate_json.h"
#include "experiments/report/evaluate_text.h"
#include "experiments/run/progress.h"
#include "policies/learned/checkpoint.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateArguments : CommonOptions {
  CellOptions cells;
  std::string checkpoints, candidate, against, validate_from, validate_to, out;
  int replicas = 4;
  bool served = false;
};

// Continues as the program with the server's code, if this one has none.
void become_server(char** argv) {
  if (served_decider_maker() != nullptr) return;
  const std::string program = path_of_yardmaster_program("yardmaster-serve").string();
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (; *argv != nullptr; ++argv) arguments.push_back(*argv);
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw InputError("--served", "the program yardmaster-serve, which `make build` makes",
                   "no such program beside yardmaster-sim");
}

// Adds a cell of --trace for each --congestion, and the validation cells which choose the baseline.
void cells_of_trace(const EvaluateArguments& options, EvaluateOptions& evaluate_options) {
  require_input(options.validate_from.empty() == options.validate_to.empty(),
                "--validate-from, --validate-to", "both or neither", "only one");
  check_range("--replicas", options.replicas, 1, 1000);
  require_input(options.out.empty(), "--out", "--cells as well", "none");
  for (const std::optional<double> congestion : congestions_of(options)) {
    CellSpec cell;
    cell.name = congestion ? "x" + shortest_text(*congestion) : "as it is";
    cell.scenario = options.scenario;
    cell.scenario.congestion = congestion;
    cell.replicas = options.replicas;
    cell.seed = options.scenario.seed;
    if (!options.validate_to.empty()) {
      CellSpec validation = cell;
      validation.name = "validation " + cell.name;
      validation.scenario.window.jobs_from.reset();
      validation.scenario.window.jobs_count.reset();
      validation.scenario.window.from = options.validate_from;
      validation.scenario.window.to = options.validate_to;
      cell.chosen_on = {validation.name};
      evaluate_options.validation.push_back(validation);
    }
    evaluate_options.cells.push_back(cell);
  }
}

CandidateSpec read_seeds(const std::string& checkpoints) {
  CandidateSpec seeds;
  std::map<std::string, std::string> seen;    // folder by manifest: a copy is not a different seed
  std::pair<std::string, std::string> first;  // folder and agent
  const auto [label, folders] = parse_named_policy(checkpoints);
  for (const std::string& folder : split_list(folders, "--checkpoint")) {
    const std::filesystem::path manifest = std::filesystem::path(folder) / "manifest.json";
    const std::string what = std::filesystem::exists(manifest) ? read_file(manifest) : folder;
    const auto [previous, inserted] = seen.emplace(what, folder);
    require_input(inserted, "--checkpoint", "each seed once",
                  "'" + previous->second + "' and '" + folder + "', which are the same");
    // An unreadable checkpoint is reported where it is opened.
    if (std::filesystem::exists(manifest)) {
      const std::string agent = load_checkpoint(folder).agent;
      if (first.second.empty()) first = {folder, agent};
      require_input(
          agent == first.second, "--checkpoint", "training seeds of one agent",
          "'" + first.first + "' of " + first.second + " and '" + folder + "' of " + agent);
    }
    seeds.policies.push_back("checkpoint:" + folder);
  }
  if (label != folders) {
    seeds.name = label;
    return seeds;
  }
  seeds.name = seeds.policies.front();
  const size_t more = seeds.policies.size() - 1;
  if (more > 0) seeds.name += " and " + std::to_string(more) + " more seed" + (more > 1 ? "s" : "");
  return seeds;
}

std::vector<CandidateSpec> read_candidates(const EvaluateArguments& options) {
  require_input(!options.checkpoints.empty() || !options.candidate.empty(), "evaluate",
                "--checkpoint or --candidate", "neither");
  std::vector<CandidateSpec> out;
  if (!options.candidate.empty()) {
    for (const std::string& policy : split_policies(options.candidate, "--candidate")) {
      out.push_back({parse_named_policy(policy).name, {policy}});
    }
  }
  if (options.checkpoints.empty()) return out;
  const CandidateSpec seeds = read_seeds(options.checkpoints);
  require_input(std::ranges::find(out, seeds.name, &CandidateSpec::name) == out.end(),
                "--candidate, --checkpoint", "each once", "'" + seeds.name + "' in both");
  out.push_back(seeds);
  return out;
}

// Prints the number of openings of each trace's test split, which is part of the result.
void print_test_openings(const Evaluation& result) {
  for (size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    const bool repeated = i > 0 && result.cells[i - 1].facts.sha256 == cell.facts.sha256;
    if (cell.test_openings == 0 || repeated) continue;
    std::printf("the test split of %s has been opened %lld time%s, including this run\n",
                cell.facts.trace.c_str(), static_cast<long long>(cell.test_openings),
                cell.test_openings == 1 ? "" : "s");
  }
}

int run_evaluate(CLI::App& app, int argc, char** argv) {
  EvaluateArguments options;
  app.option_defaults()->group("Policies");
  app.add_option(
      "--checkpoint", options.checkpoints,
      "checkpoint folder of a trained policy; comma-separated folders are training seeds, "
      "compared as one; NAME=FOLDERS sets their name in tables");
  app.add_option("--candidate", options.candidate,
                 "comma-separated policies, as for simulate --policy, each compared by itself; "
                 "NAME=POLICY sets a name")
      ->type_name(kPoliciesType);
  app.add_option(
         "--against", options.against,
         "rivals: comma-separated policies (default: those in the file of --cells, or all servable "
         "heuristics with no more information than the candidate)")
      ->type_name(kPoliciesType);
  options.add_to(app, true);
  options.cells.add_to(app);
  app.option_defaults()->group("Window");
  app.add_option("--validate-from", options.validate_from,
                 "start of the window on which the baseline is chosen, in the forms of --from");
  app.add_option("--validate-to", options.validate_to,
                 "end of the window on which the baseline is chosen, in the forms of --from");
  app.option_defaults()->group("Simulation");
  app.add_option("--replicas", options.replicas,
                 "replicas of each cell, with jittered arrivals, to average over");
  app.add_flag("--served", options.served,
               "play candidates as a server would: from snapshots and the memory of the server, "
               "with each answer checked");
  app.option_defaults()->group("Output");
  app.add_option("--out", options.out,
                 "with --cells: folder for scores, from which an interrupted evaluation resumes");
  set_examples(app,
               {"yardmaster evaluate --trace synthetic:habits --generate-jobs 300 --cluster 2x8 "
                "--candidate las --against fifo,greedy",
                "yardmaster evaluate --cells experiments/cells.yaml --only validate "
                "--checkpoint checkpoints/pilot --out runs/scores"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (options.served) become_server(argv);
  const auto file =
      options.cells.read(app, {"--validate-from", "--validate-to", "--replicas", "--seed"});
  EvaluateOptions evaluate_options;
  evaluate_options.candidates = read_candidates(options);
  if (!options.against.empty()) {
    evaluate_options.against = split_policies(options.against, "--against");
  } else if (file) {
    evaluate_options.against = file->against;
  }
  std::vector<std::string> named = evaluate_options.against;
  for (const CandidateSpec& candidate : evaluate_options.candidates) {
    named.insert(named.end(), candidate.policies.begin(), candidate.policies.end());
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  options.finish(named);
  if (!options.against.empty())
    check_policies(evaluate_options.against, options.run.rules, "--against");
  for (const CandidateSpec& candidate : evaluate_options.candidates) {
    check_policies(candidate.policies, options.run.rules, "--candidate");
  }
  if (file) {
    evaluate_options.cells = options.cells.selected(*file);
    evaluate_options.validation = validation_cells(*file, evaluate_options.cells);
    check_input_sha256(evaluate_options.validation);
    evaluate_options.results = options.out;
    evaluate_options.test_log = find_test_split_log(file->path);
  } else {
    cells_of_trace(options, evaluate_options);
  }
  if (file) std::fprintf(stderr, "reading the cells of %s\n", file->path.c_str());
  std::set<std::string> served;
  for (const CandidateSpec& candidate : evaluate_options.candidates) {
    if (options.served) served.insert(candidate.policies.begin(), candidate.policies.end());
  }
  evaluate_options.run_of = [&](const std::string& policy) {
    RunOptions run = options.run_of(policy);
    run.served = served.contains(policy);
    return run;
  };
  evaluate_options.progress = progress_log();
  const Evaluation result = evaluate(evaluate_options);
  print_time_limit_notes(result.missing_time_limits_notes);
  std::vector<std::string> notes;  // without repetitions: several cells may use one trace
  for (const CellResult& cell : result.cells) {
    for (const std::string& note : cell.facts.notes) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  for (const std::string& note : notes) std::fprintf(stderr, "%s\n", note.c_str());
  const std::vector<SummaryRow> summary =
      summarise(result.cells, evaluate_options.cells.front().seed);
  Json out;
  if (file) out["cells_file"] = {{"path", file->path}, {"sha256", file->sha256}};
  for (const char* key : {"cells", "summary", "left_out"}) out[key] = Json::array();
  for (const CellResult& cell : result.cells) out["cells"].push_back(cell_json(cell));
  for (const SummaryRow& row : summary) out["summary"].push_back(summary_json(row));
  for (const auto& [cell, reason] : result.skipped) {
    out["left_out"].push_back({{"cell", cell}, {"reason", reason}});
  }
  options.print_result(out, [&] {
    for (const auto& [cell, reason] : result.skipped) {
      std::printf("left out: %s (%s)\n", cell.c_str(), reason.c_str());
    }
    if (file) {
      print_cells(result.cells);
    } else {
      for (const CellResult& cell : result.cells) print_cell(cell);
    }
    if (result.cells.size() > 1) print_summary(summary);
    print_test_openings(result);
  });
  AtomicFiles files;
  options.save(out, files);
  return 0;
}

const Command kEvaluate{"evaluate", "Compare policies with heuristics, with confidence intervals.",
                        run_evaluate};

}  // namespace
}  // namespace yard::sim
