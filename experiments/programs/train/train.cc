// `train CONFIG.yaml [--set k=v]... [--out DIR] [--resume DIR]`

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "env/base/error.h"
#include "env/base/interrupt.h"
#include "experiments/programs/train/commands.h"
#include "experiments/programs/train/training.h"
#include "experiments/run/run_folder.h"
#include "policies/learned/pilot.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string config, out, resume;
  std::vector<std::string> set;
};

TrainingConfig read_config(const Arguments& args) {
  Settings settings;
  if (!args.resume.empty()) {
    settings = Settings::from_yaml((fs::path(args.resume) / "config.yaml").string());
  } else if (!args.config.empty()) {
    settings = Settings::from_yaml(args.config);
  }
  for (const std::string& assignment : args.set) settings.overlay(assignment);
  return parse<TrainingConfig>(settings);
}

std::string clock_text(double seconds) {
  const int64_t s = std::llround(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

// One line that is rewritten on a terminal, and a line every few seconds in a log.
class Progress {
 public:
  Progress(int from, int to) : from_(from), to_(to) {}

  void show(const TrainStats& s, double score) {
    const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double eta = spent * (to_ - s.update) / std::max(1, s.update - from_);
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (!terminal && s.update != to_ && Clock::now() - shown_ < std::chrono::seconds(10)) return;
    shown_ = Clock::now();
    const std::string best = score > 0 && score < 1e9 ? fmt::format("{:.4f}", score) : "-";
    std::fputs(
        fmt::format("{}update {}/{}  {:.0f} samples/s  validation {}  agreement {:.3f}  "
                    "kl {:.4f}  ETA {}{}",
                    terminal ? "\r\x1b[2K" : "", s.update, to_, s.samples_per_s, best, s.agreement,
                    s.approx_kl, clock_text(eta), terminal && s.update != to_ ? "" : "\n")
            .c_str(),
        stderr);
    std::fflush(stderr);
  }

 private:
  int from_, to_;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_ - std::chrono::hours(1);
};

RunFolder open_folder(const Arguments& args, const TrainingConfig& config,
                      const TrainingData& data) {
  if (!args.resume.empty()) return RunFolder::open(args.resume);
  RunInfo info;
  info.command = "train";
  info.agent = config.learner.agent;
  info.seed = config.learner.seed;
  info.traces.push_back({fs::path(config.trace).filename().string(), data.sha256(), "train"});
  return RunFolder::create(args.out, record(config), info);
}

void train(const Arguments& args) {
  const TrainingConfig config = read_config(args);
  std::fputs(fmt::format("reading {} for {}\n", config.trace, config.cluster).c_str(), stderr);
  const TrainingData data(config);
  RunFolder run = open_folder(args, config, data);
  nlohmann::ordered_json provenance = data.provenance();
  for (const auto& [key, value] : record(config)) provenance["settings"][key] = value;
  Trainer trainer(config.learner, data.fixed(), data.workload(), provenance);
  const fs::path state = run.checkpoints() / "training_state";
  if (!args.resume.empty()) {
    if (!fs::exists(state)) {
      throw InputError(args.resume, "a run that got as far as saving its state",
                       "one that ended before; remove it and train anew");
    }
    trainer.restore(state);
    run.drop_metrics_after(trainer.update());
    run.log(fmt::format("resumed after update {}", trainer.update()));
  }
  Progress progress(trainer.update(), config.learner.updates);
  double latest = 0;
  TrainEvents events;
  events.validate = [&](const Checkpoint& checkpoint, int update) {
    latest = data.validate(*make_pilot(checkpoint, "training"));
    run.log(fmt::format("update {}: validation ratio {:.5f}", update, latest));
    return latest;
  };
  events.keep = [&](const Checkpoint& checkpoint, int update, double score, bool best) {
    Checkpoint kept = checkpoint;
    kept.scores.push_back(
        {{"validation_ratio_to_srsf_history", best ? score : latest},
         {"update", update},
         {"trace_sha256", data.sha256()},
         {"workload_parameters", kept.provenance.value("workload_parameters", "")}});
    save_checkpoint(kept, run.checkpoints() / (best ? "best" : "last"));
  };
  events.on_update = [&](const TrainStats& s) {
    RunFolder::Metrics row = {{"train/samples", static_cast<double>(s.samples)},
                              {"train/samples_per_s", s.samples_per_s},
                              {"train/policy_loss", s.policy_loss},
                              {"train/value_loss", s.value_loss},
                              {"train/entropy", s.entropy},
                              {"train/approx_kl", s.approx_kl},
                              {"train/clip_fraction", s.clip_fraction},
                              {"train/explained_variance", s.explained_variance},
                              {"train/agreement", s.agreement},
                              {"train/lr", s.lr}};
    if (s.validation > 0) row.emplace_back("validation/ratio", s.validation);
    if (s.mean_jct_s > 0) row.emplace_back("train/mean_jct_s", s.mean_jct_s);
    run.add_metrics(s.update, row);
    progress.show(s, latest);
  };
  events.validated = [&] { trainer.save(state); };
  try {
    trainer.run(events);
  } catch (const Interrupted&) {
    trainer.save(state);
    run.log(fmt::format("interrupted after update {}", trainer.update()));
    std::fputs(fmt::format("\ninterrupted; go on with: yardmaster train --resume {}\n",
                           run.path().string())
                   .c_str(),
               stderr);
    throw;
  }
  run.set_state(RunState::kDone);
  std::puts((run.checkpoints() / "best").string().c_str());
}

}  // namespace

int run_train(int argc, char** argv) {
  Arguments args;
  CLI::App app("trains an agent, writes a run folder", "train");
  app.add_option("config", args.config, "YAML file of settings");
  app.add_option("--set", args.set, "key=value over the file's; may be repeated");
  app.add_option("--out", args.out, "run folder to make")->default_str("runs/pilot");
  app.add_option("--resume", args.resume, "run folder to go on with");
  bool help_settings = false;
  app.add_flag("--settings", help_settings, "print every setting with its default and range");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& e) {
    throw InputError(std::string("train: ") + e.what() + " (see yardmaster train --help)");
  }
  if (help_settings) {
    for (const Field& f : describe<TrainingConfig>()) {
      std::puts(fmt::format("{:18} {:8} {:22} {}", f.key, f.value, f.range, f.help).c_str());
    }
    return 0;
  }
  if (args.config.empty() == args.resume.empty()) {
    throw InputError("train", "CONFIG.yaml or --resume DIR",
                     args.config.empty() ? "neither" : "both");
  }
  if (!args.resume.empty() && !args.out.empty()) {
    throw InputError("train", "--resume DIR without --out", "--out " + args.out);
  }
  if (args.out.empty()) args.out = "runs/pilot";
  train(args);
  return 0;
}

}  // namespace yard
