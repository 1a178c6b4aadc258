// `log describe|print|replay|choices|fit`: inspects a decision log, and makes training data of it.

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/log_learn.h"
#include "serving/engine/log_replay.h"
#include "serving/engine/model_store.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const LogReader::Damage& damage) {
  return {{"cut_tails", damage.cut_tails},
          {"damaged", damage.damaged},
          {"lost", damage.lost},
          {"unknown", damage.unknown},
          {"first", damage.first}};
}

Json to_json(const LogSummary& s) {
  Json models = Json::array(), reasons = Json::array(), deciders = Json::object();
  for (const auto& [model, count] : s.models) {
    models.push_back({{"model", model.first}, {"digest", model.second}, {"decisions", count}});
  }
  for (const auto& [reason, count] : s.reasons) {
    reasons.push_back({{"source", reason.first}, {"reason", reason.second}, {"decisions", count}});
  }
  for (const auto& [name, count] : s.deciders) deciders[name] = count;
  return {{"files", s.files},
          {"bytes", s.bytes},
          {"runs", s.runs},
          {"decisions", s.decisions},
          {"missing", s.missing},
          {"unix_s", {s.unix_s.first, s.unix_s.last}},
          {"time_s", {s.time_s.first, s.time_s.last}},
          {"models", models},
          {"reasons", reasons},
          {"decided_by", deciders},
          {"starts", s.starts},
          {"preemptions", s.preemptions},
          {"with_options", s.with_options},
          {"drawn", s.sampled},
          {"jobs", s.jobs},
          {"outcomes", {{"finished", s.finished}, {"gone", s.gone}, {"reported", s.reported}}},
          {"damage", to_json(s.damage)}};
}

void print_text(const LogSummary& s) {
  print_to(stdout, "{} decisions of {} runs in {} files of {:.1f} MiB, {} missing\n", s.decisions,
           s.runs, s.files, static_cast<double>(s.bytes) / (1 << 20), s.missing);
  print_to(stdout, "unix time {:.3f} to {:.3f}, snapshots {:.3f} to {:.3f}\n", s.unix_s.first,
           s.unix_s.last, s.time_s.first, s.time_s.last);
  for (const auto& [model, count] : s.models) {
    print_to(stdout, "  model {} {}: {}\n", model.first.empty() ? "(none)" : model.first,
             model.second, count);
  }
  for (const auto& [reason, count] : s.reasons) {
    print_to(stdout, "  {} {}: {}\n", reason.first, reason.second, count);
  }
  for (const auto& [name, count] : s.deciders) {
    print_to(stdout, "  decided by {}: {}\n", name.empty() ? "(none)" : name, count);
  }
  print_to(stdout, "{} starts, {} preemptions; {} decisions with recorded options, {} sampled\n",
           s.starts, s.preemptions, s.with_options, s.sampled);
  print_to(stdout, "{} jobs: {} finished, {} gone\n", s.jobs, s.finished, s.gone);
  const LogReader::Damage& damage = s.damage;
  if (damage.cut_tails > 0) print_to(stdout, "{} truncated files\n", damage.cut_tails);
  if (damage.damaged + damage.lost + damage.unknown > 0) {
    print_to(stdout,
             "{} damaged records, {} files with an unreadable remainder, {} unknown records{}{}\n",
             damage.damaged, damage.lost, damage.unknown, damage.first.empty() ? "" : "; first ",
             damage.first);
  }
}

void describe(const std::string& folder, bool json) {
  LogReader log(folder);
  const LogSummary summary = summarise(log);
  if (json) {
    print_json(to_json(summary));
  } else {
    print_text(summary);
  }
}

// Prints one JSON line per record, so that a program without Protobuf can read a log from a pipe.
void print(const std::string& folder) {
  LogReader log(folder);
  for (const pb::LogRecord& record : log) {
    throw_if_interrupted();
    if (std::puts(to_json_line(record).c_str()) < 0) break;
  }
  print_log_damage(log);
}

struct ReplayArguments {
  std::vector<std::string> logs;
  std::string policy, checkpoint;
};

// Returns whether all decisions are identical.
bool run_replay(const ReplayArguments& arguments, bool json) {
  std::optional<Model> model;
  if (!arguments.policy.empty()) model = open_servable(arguments.policy);
  if (!arguments.checkpoint.empty()) model = open_servable("checkpoint:" + arguments.checkpoint);
  LogReplayResult r;
  Json damage = Json::array();
  for (const std::string& path : arguments.logs) {
    LogReader log(path);
    replay_log(log, model ? &*model : nullptr, r);
    damage.push_back(to_json(log.damage()));
    print_log_damage(log);
  }
  const bool same = r.identical == r.decisions;
  if (json) {
    print_json({{"decisions", r.decisions},
                {"identical", r.identical},
                {"other_version", r.other_version},
                {"failed", r.failed},
                {"first_other", r.first},
                {"damage", damage}});
    return same;
  }
  print_to(stdout, "{} of {} decisions are identical\n", r.identical, r.decisions);
  if (r.other_version > 0) {
    print_to(stdout, "{} were made by another version of the policy\n", r.other_version);
  }
  if (r.failed > 0) print_to(stdout, "{} failed\n", r.failed);
  if (!same) print_to(stdout, "first other: {}\n", r.first);
  return same;
}

}  // namespace

int run_decision_log(int argc, char** argv) {
  std::string folder;
  ReplayArguments replayed;
  bool json = false;
  CLI::App app("Inspect the decision log of a server.", "log");
  app.require_subcommand(1);
  auto* describe_command = app.add_subcommand("describe", "summarise a log");
  auto* print_command = app.add_subcommand("print", "print the records as JSON, one per line");
  auto* replay_command = app.add_subcommand(
      "replay", "decide recorded requests again; exit code 1 if any decision differs in a byte");
  auto* choices_command = app.add_subcommand(
      "choices", "write the recorded decisions as training data for an agent's task");
  auto* fit_command = app.add_subcommand(
      "fit", "fit a simulator to the log: write jobs.csv, cluster.yaml and log.json");
  for (CLI::App* command :
       {describe_command, print_command, replay_command, choices_command, fit_command}) {
    command->option_defaults()->group("Output");
    constexpr const char* kLog = "folder of a decision log, or one of its files";
    if (command == replay_command) {
      command->add_option("log", replayed.logs, kLog)->required();
    } else {
      command->add_option("log", folder, kLog)->required();
    }
    if (command != print_command) command->add_flag("--json", json, "print one JSON document");
  }

  replay_command->option_defaults()->group("Replay");
  auto* policy_option =
      replay_command->add_option("--policy", replayed.policy,
                                 "policy, or a tuned policy's file, that decides again what the "
                                 "served policy decided; default: the policy of the recorded name");
  policy_option->type_name(kPolicyType);
  replay_command
      ->add_option("--checkpoint", replayed.checkpoint,
                   "folder of a trained policy, instead of --policy")
      ->excludes(policy_option);

  ChoicesFromLogOptions choices;
  choices_command->add_option("--out", choices.out, "safetensors file to write")->required();
  choices_command->option_defaults()->group("Agent");
  choices_command->add_option("--agent", choices.agent, "agent; only dispatcher is supported")
      ->capture_default_str();
  choices_command->add_option("--task", choices.task,
                              "JSON file with the `task` of a checkpoint's manifest");

  TrainingWorkloadOptions fit;
  fit_command->add_option("--out", fit.out, "folder to write")->required();
  fit_command->option_defaults()->group("Simulator");
  fit_command
      ->add_option("--draws", fit.draws,
                   "draws of unknown run times; further draws go to jobs-2.csv and on")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  fit_command->add_option("--seed", fit.seed, "seed of the draws")->capture_default_str();

  set_examples(app, {"yardmaster log describe decisions"});
  set_examples(*describe_command, {"yardmaster log describe decisions"});
  set_examples(*print_command, {"yardmaster log print decisions | head -n 1"});
  set_examples(*replay_command, {"yardmaster log replay decisions --checkpoint checkpoints/pilot"});
  set_examples(*choices_command, {"yardmaster log choices decisions --out choices.safetensors"});
  set_examples(*fit_command, {"yardmaster log fit decisions --out site"});
  if (!parse_arguments(app, argc, argv)) return 0;
  choices.log = fit.log = folder;
  choices.json = fit.json = json;
  if (describe_command->parsed()) describe(folder, json);
  if (print_command->parsed()) print(folder);
  if (choices_command->parsed()) write_choices_from_log(choices);
  if (fit_command->parsed()) write_and_print_training_workload_from_log(fit);
  if (replay_command->parsed()) return run_replay(replayed, json) ? 0 : 1;
  return 0;
}

}  // namespace yard
