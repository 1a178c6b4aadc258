// `train CONFIG.yaml [--from-log DIR] [--set k=v]... [--out DIR] [--resume DIR]`: trains an agent.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "agents/ranks/connect.h"
#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/train/commands.h"
#include "experiments/train/child_process.h"
#include "experiments/train/session.h"

namespace yard {
namespace {

struct Arguments {
  std::string config, from_log, columns;
  std::vector<std::string> set;
  bool settings = false;
  int ranks = 1;  // ranks to start on this machine
  SessionOptions session;
};

Settings read_settings(const Arguments& args) {
  Settings settings;
  if (!args.session.resume.empty()) {
    settings =
        Settings::from_yaml((std::filesystem::path(args.session.resume) / "config.yaml").string());
  } else if (!args.config.empty()) {
    settings = Settings::from_yaml(args.config);
  }
  for (const std::string& assignment : args.set) settings.overlay(assignment);
  if (!args.columns.empty()) settings.set("columns", args.columns, "--columns");
  if (!args.session.resume.empty()) return settings;  // config.yaml has all settings
  if (!args.from_log.empty()) settings.set("from_log", args.from_log, "--from-log");
  add_implied_settings(settings);
  return settings;
}

void print_settings(const Settings& settings) {
  for (const Field& f : describe_setup(settings)) {
    print_to(stdout, "{:24} {:18} {:22} {}\n", f.key, f.value, f.range, f.help);
  }
}

void check(const Arguments& args) {
  const bool begins = !args.config.empty() || !args.from_log.empty();
  if (begins != args.session.resume.empty()) {
    throw InputError("train", "CONFIG.yaml, --from-log DIR, or --resume DIR alone",
                     begins ? "both" : "neither");
  }
  if (!args.session.resume.empty() && !args.session.out.empty()) {
    throw InputError("train", "--resume DIR without --out", "--out " + args.session.out);
  }
}

// The program's argv, from which main() removed the program name.
char** whole_command(char** argv) { return argv - 1; }

}  // namespace

int run_train(int argc, char** argv) {
  Arguments args;
  SessionOptions& session = args.session;
  CLI::App app("Train an agent and write a run folder.", "train");
  app.option_defaults()->group("Training");
  app.add_option("config", args.config, "YAML file of settings");
  app.add_option("--from-log", args.from_log,
                 "decision log of a server to train on, instead of a trace and a cluster");
  app.add_option("--set", args.set, "override a setting of the file: key=value; may be repeated");
  app.add_option(
      "--columns", args.columns,
      "column names of the trace, as FIELD=COLUMN: job_id=JobName,submit_s=arrival_time,...");
  app.add_option("--resume", session.resume, "run folder to continue");
  app.add_option("--until", session.until, "stop after this update; continue with --resume")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--ranks", args.ranks,
         "training processes on this machine; on several machines use torchrun, srun or mpirun")
      ->check(CLI::Range(1, 1024));
  app.option_defaults()->group("Output");
  app.add_option("--out", session.out, "run folder to create")
      ->default_str("runs/ and the name of the configuration");
  app.add_flag("--profile", session.profile,
               "print the time by stage and write profile.json to the run folder");
  app.add_flag(
      "--settings", args.settings,
      "print all settings of the chosen agent, learner and network with defaults and ranges");
  set_examples(app, {"yardmaster train experiments/configs/demo.yaml --out runs/demo",
                     "yardmaster train experiments/configs/demo.yaml --settings"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (args.settings) {
    print_settings(read_settings(args));
    return 0;
  }
  check(args);
  if (session.resume.empty() && session.out.empty()) {
    const std::string name = std::filesystem::path(args.config).stem().string();
    session.out = "runs/" + (name.empty() ? "from-log" : name);
  }
  const Rank rank = rank_from_environment([](const char* name) { return std::getenv(name); });
  const bool launches = args.ranks > 1 && rank.file.empty();
  if (launches && rank.size > 1) {
    throw InputError("train", "either --ranks or ranks of torchrun, srun or mpirun", "both");
  }
  // Check settings before ranks are started, so that an error is printed once.
  const TrainingSetup setup = read_setup(read_settings(args), launches ? args.ranks : rank.size);
  if (launches) return launch_ranks(args.ranks, whole_command(argv));
  const auto ranks = connect(rank);
  try {
    const auto best = train_best_checkpoint(setup, session, *ranks);
    if (rank.rank == 0) std::puts(best.c_str());
  } catch (const Interrupted&) {
    if (rank.rank == 0) throw;
    return kInterruptedExit;  // rank 0 prints the message
  }
  return 0;
}

}  // namespace yard
