// `sweep CONFIG.yaml [--out DIR] [--resume DIR]`: random search and successive halving in a space
// of training settings. Each trial is a child process which writes a run folder. Progress is read
// from these folders, so that a killed sweep can be resumed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/train/commands.h"
#include "experiments/run/metrics_csv.h"
#include "experiments/run/run_folder.h"
#include "experiments/train/child_process.h"
#include "experiments/train/live_line.h"
#include "experiments/train/sweep_plan.h"
#include "experiments/train/training_gain.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Trial {
  int number = 0;
  int updates = 0;       // made so far, by the metrics file
  double score = kNone;  // best validation up to the current rung; lower is better
  TrialScore best = {};  // the same, with the untrained network's (update 0)
  bool failed = false;
};

class Sweep {
 public:
  Sweep(SweepPlan plan, fs::path folder) : plan_(std::move(plan)), folder_(std::move(folder)) {
    for (int i = 0; i < plan_.config.trials; ++i) trials_.push_back({.number = i});
  }

  // Runs the plan. Returns whether it is complete; false if time ran out. Throws Interrupted.
  bool run() {
    std::fputs((plan_.text() + "\n").c_str(), stderr);
    std::vector<Trial*> active;
    for (Trial& trial : trials_) active.push_back(&trial);
    for (size_t r = 0; r < plan_.rungs.size(); ++r) {
      if (r > 0) {
        std::stable_sort(active.begin(), active.end(),
                         [](const Trial* a, const Trial* b) { return a->score < b->score; });
        active.resize(std::min(active.size(), static_cast<size_t>(plan_.rung_trials[r])));
        std::erase_if(active, [](const Trial* t) { return t->failed; });
      }
      if (!run_rung(active, plan_.rungs[r])) return false;
    }
    write_result(true);
    return true;
  }

  Json result(bool complete) const {
    const SweepVerdict verdict = this->verdict();
    Json out = {{"rungs", plan_.rungs},   {"trials", Json::array()},  {"best", nullptr},
                {"complete", complete},   {"differ", verdict.differ}, {"learned", verdict.learned},
                {"verdict", verdict.text}};
    for (const Trial* t : ranked()) {
      Json settings = Json::object();
      for (const GivenSetting& s : plan_.trials[static_cast<size_t>(t->number)].entries()) {
        settings[s.key] = s.value;
      }
      out["trials"].push_back({{"trial", t->number},
                               {"run", run_folder_of(*t).filename().string()},
                               {"updates", t->updates},
                               {"score", known(t->score)},
                               {"untrained_score", known(t->best.untrained)},
                               {"ratio_untrained", known(t->best.learned.ratio)},
                               {"ratio_untrained_lo", known(t->best.learned.interval.lo)},
                               {"ratio_untrained_hi", known(t->best.learned.interval.hi)},
                               {"failed", t->failed},
                               {"settings", settings}});
    }
    if (std::isfinite(ranked().front()->score)) out["best"] = out["trials"][0];
    return out;
  }

  void print_table() const {
    std::puts("trial  updates     score untrained  settings");
    for (const Trial* t : ranked()) {
      std::string line =
          fmt::format("{:>5} {:>8} {:>9} {:>9}", t->number, t->updates,
                      t->failed ? "failed" : text_of(t->score), text_of(t->best.untrained));
      for (const GivenSetting& s : plan_.trials[static_cast<size_t>(t->number)].entries()) {
        line += "  " + s.key + "=" + s.value;
      }
      std::puts(line.c_str());
    }
    std::puts(verdict().text.c_str());
  }

 private:
  static Json known(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  static std::string text_of(double score) {
    return std::isfinite(score) ? fmt::format("{:.4f}", score) : "-";
  }

  SweepVerdict verdict() const {
    std::vector<TrialScore> scores;
    for (const Trial& t : trials_) {
      if (!t.failed && std::isfinite(t.score)) scores.push_back(t.best);
    }
    return sweep_verdict(scores);
  }

  fs::path run_folder_of(const Trial& t) const {
    return folder_ / "trials" / fmt::format("{:05}", t.number);
  }

  std::vector<const Trial*> ranked() const {
    std::vector<const Trial*> out;
    for (const Trial& t : trials_) out.push_back(&t);
    std::stable_sort(out.begin(), out.end(), [](const Trial* a, const Trial* b) {
      if (a->failed != b->failed) return b->failed;
      return a->updates != b->updates ? a->updates > b->updates : a->score < b->score;
    });
    return out;
  }

  // Reads a trial's updates and its best score up to `rung` from its metrics file.
  void read_progress(Trial& t, int rung) const {
    t.updates = 0;
    t.score = kNone;
    t.best = {};
    const fs::path file = run_folder_of(t) / "metrics.csv";
    if (!fs::exists(file)) return;
    const MetricsCsv metrics(file);
    const auto& columns = metrics.columns();
    const auto value = [&](size_t row, const char* name) -> std::optional<double> {
      const auto at = std::ranges::find(columns, name);
      if (at == columns.end()) return std::nullopt;
      return metrics.value(row, static_cast<size_t>(at - columns.begin()));
    };
    for (size_t row = 0; row < metrics.rows(); ++row) {
      if (metrics.step(row) > rung) break;
      t.updates = static_cast<int>(metrics.step(row));
      const auto score = value(row, "validation/ratio");
      if (!score) continue;
      if (t.updates == 0) {  // the untrained network does not count as the trial's score
        t.best.untrained = *score;
        continue;
      }
      if (*score >= t.score) continue;
      t.score = t.best.score = *score;
      t.best.learned = {value(row, "validation/ratio_untrained").value_or(kNan),
                        {value(row, "validation/ratio_untrained_lo").value_or(kNan),
                         value(row, "validation/ratio_untrained_hi").value_or(kNan)}};
    }
  }

  // Whether a trial needs no more updates for this rung: done, stopped by patience, or failed.
  bool is_finished(const Trial& t, int rung) const {
    if (t.failed || t.updates >= rung) return true;
    const fs::path file = run_folder_of(t) / "run.json";
    if (!fs::exists(file)) return false;
    const Json run = Json::parse(read_file(file), nullptr, false);
    return run.is_object() && run.value("state", "") == "done";
  }

  std::vector<std::string> command_of(const Trial& t, int rung) const {
    const std::string run = run_folder_of(t).string(), until = std::to_string(rung);
    if (fs::exists(RunFolder::resume_state_path(run_folder_of(t)))) {
      return {"train", "--resume", run, "--until", until};
    }
    fs::remove_all(run_folder_of(t));  // it has no saved state to resume from
    std::vector<std::string> out = {
        "train", (folder_ / "train.yaml").string(), "--out", run, "--until", until};
    for (const GivenSetting& s : plan_.trials[static_cast<size_t>(t.number)].entries()) {
      out.emplace_back("--set");
      out.push_back(s.key + "=" + s.value);
    }
    return out;
  }

  bool run_rung(const std::vector<Trial*>& active, int rung) {
    std::map<pid_t, Trial*> running;
    size_t next = 0;
    while (next < active.size() || !running.empty()) {
      if (interrupted()) stop(running);
      if (const ExitedChild exited = poll_exited_child(); exited.pid != 0) {
        Trial& t = *running.at(exited.pid);
        running.erase(exited.pid);
        finish(t, rung, exited.code);
        continue;
      }
      const bool out_of_time = plan_.config.minutes > 0 && elapsed_s() > 60 * plan_.config.minutes;
      if (out_of_time && running.empty() && next < active.size()) {
        std::fputs("the time limit is reached; continue with --resume\n", stderr);
        write_result(false);
        return false;
      }
      if (next < active.size() && !out_of_time &&
          static_cast<int>(running.size()) < plan_.config.parallel) {
        Trial& t = *active[next++];
        read_progress(t, rung);
        if (is_finished(t, rung)) continue;
        from_[t.number] = t.updates;
        running[start_child(command_of(t, rung), run_folder_of(t).string() + ".log")] = &t;
        continue;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  void finish(Trial& t, int rung, int code) {
    read_progress(t, rung);
    t.failed = code != 0;
    updates_made_ += t.updates - from_[t.number];
    write_result(false);
    const double per_update = updates_made_ > 0 ? elapsed_s() / updates_made_ : 0;
    const double left_s = per_update * std::max(0, updates_left());
    print_to(stderr, "trial {} {} update {}  score {}  ETA {}{}\n", t.number,
             t.failed ? "failed after" : "at", t.updates, text_of(t.score), clock_text(left_s),
             t.failed ? "  (see " + run_folder_of(t).string() + ".log)" : "");
    if (plan_.config.minutes > 0 && !warned_late_ &&
        elapsed_s() + left_s > 60 * plan_.config.minutes) {
      warned_late_ = true;
      print_to(stderr,
               "at this speed all trials take {}, more than the limit of {} minutes; "
               "continue with --resume afterwards\n",
               clock_text(elapsed_s() + left_s), plan_.config.minutes);
    }
  }

  // Updates of the plan which are not made yet, if no trial stops early.
  int updates_left() const {
    int done = 0;
    for (const Trial& t : trials_) done += t.updates;
    return plan_.total_updates() - done;
  }

  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  [[noreturn]] void stop(std::map<pid_t, Trial*>& running) {
    for (const auto& [pid, trial] : running) kill(pid, SIGTERM);
    while (!running.empty()) {
      if (const ExitedChild exited = poll_exited_child(); exited.pid != 0)
        running.erase(exited.pid);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    write_result(false);
    throw Interrupted("yardmaster sweep --resume " + folder_.string());
  }

  void write_result(bool complete) const {
    write_file_atomic(folder_ / "sweep.json", result(complete).dump(2) + "\n");
  }

  SweepPlan plan_;
  fs::path folder_;
  std::vector<Trial> trials_;
  Clock::time_point begin_ = Clock::now();
  std::map<int, int> from_;  // trial -> its updates when it was last started
  int updates_made_ = 0;     // updates since the start of this process
  bool warned_late_ = false;
};

// Creates the folder with copies of the plan's input files. Throws InputError if it is not empty.
void make_folder(const fs::path& folder, const std::string& config, const SweepPlan& plan) {
  std::error_code error;
  if (fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder))) {
    throw InputError(folder.string(), "a new or empty folder for a sweep",
                     fs::exists(folder / "sweep.yaml") ? "a sweep (continue it with --resume)"
                                                       : "other contents");
  }
  AtomicDirectory out(folder);
  write_file_atomic(out.temporary_path() / "sweep.yaml", read_file(config));
  std::string base;
  for (const GivenSetting& s : plan.base.entries())
    base += Json(s.key).dump() + ": " + Json(s.value).dump() + "\n";
  write_file_atomic(out.temporary_path() / "train.yaml", base);
  fs::create_directory(out.temporary_path() / "trials");
  out.commit();
}

}  // namespace

int run_sweep(int argc, char** argv) {
  std::string config, out, resume;
  bool json = false;
  CLI::App app("Search a YAML space of training settings at random, with successive halving.",
               "sweep");
  app.option_defaults()->group("Sweep");
  app.add_option("config", config,
                 "YAML file: train, space, trials, halving (docs/guides/tune.md)");
  app.add_option("--resume", resume, "sweep folder to continue");
  app.option_defaults()->group("Output");
  app.add_option("--out", out, "sweep folder to create")->default_str("runs/sweep");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster sweep sweep.yaml --out runs/sweep"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (config.empty() == resume.empty()) {
    throw InputError("sweep", "CONFIG.yaml or --resume DIR", config.empty() ? "neither" : "both");
  }
  if (!resume.empty() && !out.empty()) {
    throw InputError("sweep", "--resume DIR without --out", "--out " + out);
  }
  const fs::path folder = !resume.empty() ? resume : out.empty() ? "runs/sweep" : out;
  if (!resume.empty() && !fs::exists(folder / "sweep.yaml")) {
    throw InputError(resume, "a sweep folder with sweep.yaml", "none");
  }
  Settings settings =
      Settings::from_yaml(resume.empty() ? config : (folder / "sweep.yaml").string());
  if (!resume.empty()) settings.set("train", (folder / "train.yaml").string(), "the sweep");
  SweepPlan plan = read_sweep(settings);
  if (resume.empty()) make_folder(folder, config, plan);
  AppendFile lock(folder / "sweep.lock");
  if (!lock.lock()) {
    throw InputError(folder.string(), "a sweep that is not running", "one run by another process");
  }
  Sweep sweep(std::move(plan), folder);
  const bool complete = sweep.run();
  if (json) {
    std::puts(sweep.result(complete).dump(2).c_str());
  } else {
    sweep.print_table();
  }
  return 0;
}

}  // namespace yard
