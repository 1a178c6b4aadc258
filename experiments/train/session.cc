#include "experiments/train/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>

#include "agents/train/trainable_agent.h"
#include "agents/train/trainer.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/os/interrupt.h"
#include "experiments/report/page.h"
#include "experiments/run/run_folder.h"
#include "experiments/train/live_line.h"
#include "experiments/train/logged_data.h"
#include "experiments/train/off_policy.h"
#include "experiments/train/simulated_data.h"
#include "experiments/train/training_gain.h"
#include "policies/learned/learned_policy.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUntrained = "untrained";  // a checkpoint of a run, like best and last

RunFolder open_folder(const TrainingSetup& setup, const SessionOptions& options,
                      const TrainingData& training_data) {
  if (!options.resume.empty()) return RunFolder::open(options.resume);
  return RunFolder::create(options.out, setup.resolved,
                           {.command = "train",
                            .agent = setup.data.agent,
                            .seed = setup.loop.seed,
                            .traces = {{training_data.name(), training_data.sha256(), "train"}}});
}

// Writes the checkpoints of a run: untrained, best, last, and those of the latest `most`
// validations.
class CheckpointKeeper {
 public:
  CheckpointKeeper(fs::path folder, int most) : folder_(std::move(folder)), most_(most) {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename().string().starts_with("update-")) latest_.push_back(entry.path());
    }
    std::sort(latest_.begin(), latest_.end());
  }

  void validated(const Checkpoint& checkpoint, int update, bool best) {
    if (best) save_checkpoint(checkpoint, folder_ / "best");
    if (update == 0) save_checkpoint(checkpoint, folder_ / kUntrained);
    if (most_ == 0 || update == 0) return;
    const fs::path path = folder_ / fmt::format("update-{:07}", update);
    save_checkpoint(checkpoint, path);
    if (latest_.empty() || latest_.back() < path) latest_.push_back(path);
    for (; latest_.size() > static_cast<size_t>(most_); latest_.pop_front()) {
      fs::remove_all(latest_.front());
    }
  }

 private:
  fs::path folder_;
  int most_;
  std::deque<fs::path> latest_;  // oldest first
};

class Session {
 public:
  Session(const TrainingSetup& setup, const SessionOptions& options, Communicator& ranks)
      : setup_(setup),
        options_(options),
        is_rank0_(ranks.rank() == 0),
        agent_(setup.data.agent, setup.agent),
        log_(read_log()),
        training_data_(make_training_data()) {
    const Tensors start = read_initial_weights();
    nlohmann::ordered_json provenance = training_data_->provenance();
    if (log_) provenance["log_sha256"] = log_->fit().at("sha256");
    for (const auto& [key, value] : setup.resolved) provenance["settings"][key] = value;
    const auto worlds = [this](const VectorEnvOptions& o) {
      return training_data_->worlds(agent_, o);
    };
    trainer_.emplace(setup.loop, setup.learner, setup.network, worlds, ranks, provenance);
    if (!start.empty()) trainer_->start_from(start, setup.loop.start);
    // After everything which may throw, so that a failed start leaves no folder.
    if (is_rank0_) open_run();
    if (!options.resume.empty()) restore();
  }

  fs::path train() {
    LiveLine line(trainer_->update(), std::min(setup_.loop.updates, options_.until));
    TrainCallbacks events;
    events.validate = [this](const TrainingResult& trained, int update) {
      const TrainingData::ValidationResult result = validate(trained, agent_.checkpoint(trained));
      if (update == 0) untrained_ = result.log_ratios;
      latest_ = gain_over_untrained(result);
      const TrainingData::NamedScore reported = training_data_->to_reported_score(result.score);
      run_->log(
          fmt::format("update {}: validation {} {:.5f}{}", update, reported.name, reported.value,
                      latest_ ? ", ratio to the untrained network " + text_of(*latest_) : ""));
      return result.score;
    };
    events.validated = [this](const TrainingResult& trained, int update, double score, bool best) {
      const HoldInterrupts hold;
      if (best) best_ = latest_;
      keeper_->validated(scored(trained, update, score), update, best);
    };
    events.on_update = [&](const TrainStats& stats) {
      write_metrics(stats);
      if (stats.update > 0) {
        const double score = trainer_->latest_score();
        const TrainingData::NamedScore latest = training_data_->to_reported_score(score);
        // A score of 0 means no validation yet, except for a clone: there it is full agreement.
        const bool is = std::isfinite(score) && (score > 0 || latest.name == "agreement");
        return line.show(stats, is ? fmt::format("{} {:.4f}", latest.name, latest.value) : "-");
      }
      const TrainingData::NamedScore reported = training_data_->to_reported_score(stats.validation);
      line.note(fmt::format(
          "update 0, the untrained network with the same sampling of actions: {} {:.4f} ({})",
          reported.name, reported.value, training_data_->score_description(agent_.expert_name())));
    };
    events.save = [this] {
      const HoldInterrupts hold;
      trainer_->save(state_folder());
    };
    try {
      trainer_->run(events, options_.until);
    } catch (const Interrupted&) {
      const HoldInterrupts hold;
      trainer_->save(state_folder());
      if (!is_rank0_) throw;
      run_->log(fmt::format("interrupted after update {}", trainer_->update()));
      throw Interrupted("yardmaster train --resume " + run_->path().string());
    }
    if (!is_rank0_) return {};
    if (options_.profile) write_profile();
    if (trainer_->done()) {
      finish();
      if (log_) evaluate_off_policy();
      run_->set_state(RunState::kDone);
    } else {
      run_->log(fmt::format("stopped after update {} (--until)", trainer_->update()));
      run_->set_state(RunState::kInterrupted);
    }
    write_page();
    return run_->checkpoints() / "best";
  }

 private:
  TrainingData::ValidationResult validate(const TrainingResult& trained,
                                          const Checkpoint& checkpoint) const {
    if (setup_.data.adapt_updates == 0) return training_data_->validate(checkpoint);
    return training_data_->validate_checkpoint_per_workload(
        agent_,
        [&](const TrainingData::MakeVectorEnv& worlds) { return adapted(trained, worlds); });
  }

  // Ratio of a validation to the untrained network on the same windows; nothing if there are none.
  // After a resume the untrained network is validated again.
  std::optional<TrainingGain> gain_over_untrained(const TrainingData::ValidationResult& result) {
    if (result.log_ratios.empty()) return std::nullopt;
    if (untrained_.empty()) untrained_ = validate_saved(kUntrained).log_ratios;
    if (untrained_.empty()) return std::nullopt;
    return training_gain(result.log_ratios, untrained_);
  }

  // A checkpoint of this run; nothing if it does not exist.
  std::optional<Checkpoint> saved_checkpoint(const char* name) const {
    const fs::path path = run_->checkpoints() / name;
    if (!fs::exists(path)) return std::nullopt;
    return load_checkpoint(path);
  }
  TrainingData::ValidationResult validate_saved(const char* name) const {
    const std::optional<Checkpoint> of = saved_checkpoint(name);
    if (!of) return {};
    return validate(TrainingResult{of->network, of->weights, {}, {}}, *of);
  }

  // Trains from `trained` for adapt_updates updates and returns the result.
  Checkpoint adapted(const TrainingResult& trained,
                     const TrainingData::MakeVectorEnv& worlds) const {
    TrainConfig loop = setup_.loop;
    loop.start = "the validated weights";
    loop.updates = loop.validate_every = setup_.data.adapt_updates;
    loop.meta_updates = 0;
    const auto ranks = single_process_communicator();
    Trainer trainer(loop, setup_.learner, setup_.network, worlds, *ranks, {});
    trainer.start_from(trained.weights, loop.start);
    trainer.run({});
    return agent_.checkpoint(trainer.trained());
  }

  void open_run() {
    run_.emplace(open_folder(setup_, options_, *training_data_));
    if (log_) log_->keep();
    keeper_.emplace(run_->checkpoints(), setup_.data.keep);
    for (const std::string& note : training_data_->notes()) report(note);
  }

  fs::path folder() const { return options_.resume.empty() ? options_.out : options_.resume; }
  fs::path state_folder() const { return RunFolder::resume_state_path(folder()); }

  void restore() {
    trainer_->restore(state_folder());
    if (trainer_->update() > setup_.loop.updates) {
      throw InputError("updates",
                       fmt::format("at least {}, the updates already made", trainer_->update()),
                       std::to_string(setup_.loop.updates));
    }
    if (!is_rank0_) return;
    run_->mark_resumed();
    // The row of update 0 is written before update 1 completes.
    run_->drop_metrics_after(trainer_->update() > 0 ? trainer_->update() : -1);
    run_->log(fmt::format("resumed after update {}", trainer_->update()));
    run_->update_config(setup_.resolved);
  }

  Checkpoint scored(const TrainingResult& trained, int update, double score) const {
    Checkpoint out = agent_.checkpoint(trained);
    const TrainingData::NamedScore reported = training_data_->to_reported_score(score);
    nlohmann::ordered_json scores = {{"validation_" + reported.name, reported.value},
                                     {"update", update}};
    // The untrained network's score is known from its own validation on.
    const double untrained = update == 0 ? score : trainer_->untrained_score();
    if (untrained > 0) {
      scores["untrained_validation_" + reported.name] =
          training_data_->to_reported_score(untrained).value;
      if (reported.name == "ratio") scores["ratio_untrained"] = score / untrained;
    }
    scores["trace_sha256"] = training_data_->sha256();
    scores["workload_parameters"] = out.provenance.value("workload_parameters", "");
    out.scores.push_back(std::move(scores));
    return out;
  }

  void write_metrics(const TrainStats& s) {
    RunFolder::Metrics row;
    if (s.update > 0) {
      row = {{"charts/samples", static_cast<double>(s.samples)},
             {"charts/SPS", s.samples_per_s},
             {"charts/episodes", static_cast<double>(s.episodes)},
             {"charts/agreement", s.agreement},
             {"charts/learning_rate", s.lr}};
    }
    for (const auto& [name, value] : s.metrics) row.emplace_back("losses/" + name, value);
    if (s.validation > 0) {
      const TrainingData::NamedScore reported = training_data_->to_reported_score(s.validation);
      row.emplace_back("validation/" + reported.name, reported.value);
      if (latest_) {
        row.emplace_back("validation/ratio_untrained", latest_->ratio);
        if (std::isfinite(latest_->interval.lo)) {
          row.emplace_back("validation/ratio_untrained_lo", latest_->interval.lo);
          row.emplace_back("validation/ratio_untrained_hi", latest_->interval.hi);
        }
      }
    }
    if (s.mean_jct_s > 0) row.emplace_back("charts/mean_jct_s", s.mean_jct_s);
    run_->add_metrics(s.update, row);
  }

  // Prints seconds by stage as a table and writes them to profile.json.
  void write_profile() const {
    const auto stages = trainer_->stage_seconds();
    double total = 0;
    for (const auto& [stage, seconds] : stages) total += seconds;
    nlohmann::ordered_json json = {{"seconds", total}, {"stages", nlohmann::ordered_json::array()}};
    for (const auto& [stage, seconds] : stages) {
      json["stages"].push_back(
          {{"stage", stage}, {"seconds", seconds}, {"share", seconds / total}});
      std::fputs(
          fmt::format("{:<12} {:>9.2f} s {:>6.1f} %\n", stage, seconds, 100 * seconds / total)
              .c_str(),
          stderr);
    }
    write_file_atomic(folder() / "profile.json", json.dump(2) + "\n");
  }

  void finish() {
    save_checkpoint(scored(trainer_->trained(), trainer_->update(), trainer_->latest_score()),
                    run_->checkpoints() / "last");
    // The best checkpoint cost the whole training too: finding it took all updates.
    const fs::path best = run_->checkpoints() / "best";
    if (fs::exists(best)) save_training_cost(trainer_->trained().core_s, best);
    save_envelopes();
    report_training_gain();
    if (trainer_->update() < setup_.loop.updates) {
      report(fmt::format("ended after update {} of {}: {} validations without improvement",
                         trainer_->update(), setup_.loop.updates, setup_.loop.patience));
    }
  }

  // Notes in the checkpoints which workloads the training played. Both share the envelope of the
  // best one's policy.
  void save_envelopes() const {
    const std::optional<Checkpoint> best = saved_checkpoint("best");
    if (!best) return;
    const Envelope envelope = training_data_->envelope(*best);
    for (const char* name : {"best", "last"}) {
      save_envelope(envelope, run_->checkpoints() / name);
    }
  }

  // Writes the page of `yardmaster report`. A folder of which it cannot be made loses no training.
  void write_page() {
    const std::string page = (run_->path() / "report.html").string();
    try {
      report::require_writable_page_path(page, "yardmaster report --out");
      write_file_atomic(page, report::render_page(report::read_all({run_->path().string()})));
    } catch (const InputError& error) {
      report(error.what());
    }
  }

  void report(const std::string& text) {
    run_->log(text);
    std::fputs((text + "\n").c_str(), stderr);
  }

  // Reports the best checkpoint relative to the untrained one, on the windows which selected it.
  void report_training_gain() {
    if (setup_.loop.updates == 0) return;  // nothing was trained
    if (!best_) best_ = gain_over_untrained(validate_saved("best"));
    std::string text;
    if (best_) {
      text = fmt::format(
          "ratio of the best checkpoint to the untrained network, with the same sampling of "
          "actions: {} on the validation windows that selected it: {}",
          text_of(*best_), verdict_of(*best_));
    } else if (const auto best = saved_checkpoint("best"), untrained = saved_checkpoint(kUntrained);
               best && untrained) {
      text = training_data_->gain_description(*best, *untrained);
    }
    if (!text.empty()) report(text);
  }

  std::unique_ptr<DecisionLogTrainingFiles> read_log() const {
    const std::string& log = setup_.data.from_log;
    if (log.empty()) return nullptr;
    // Only the dispatcher's task can represent the actions of a log.
    const bool reported = setup_.data.agent == "dispatcher";
    return std::make_unique<DecisionLogTrainingFiles>(
        log, folder(), !options_.resume.empty(), setup_.data.log_draws,
        reported ? agent_.checkpoint(TrainingResult{}).task : nlohmann::ordered_json());
  }

  std::unique_ptr<TrainingData> make_training_data() const {
    TrainingDataConfig data = setup_.data;
    if (log_ && setup_.loop.learner == "clone") {
      return std::make_unique<LoggedData>(*log_, data.validate_share);
    }
    if (log_) {
      data.trace = log_->jobs(0).string();
      data.cluster = log_->cluster().string();
      data.format = data.cells = data.from = data.to = "";
    }
    return std::make_unique<SimulatedData>(data, setup_.loop.episode_jobs, *agent_.expert());
  }

  // The initial weights of training from `start`; empty if there is none or the run is resumed.
  Tensors read_initial_weights() const {
    const std::string& start = setup_.loop.start;
    if (start.empty() || !options_.resume.empty()) return {};
    Checkpoint from = load_checkpoint(start);
    const auto require_equal = [&](const std::string& expected, const std::string& got) {
      if (expected != got) throw InputError(start, "a checkpoint of " + expected, got);
    };
    require_equal(setup_.data.agent, from.agent);
    require_equal(setup_.loop.network, from.network);
    require_equal("the task " + agent_.checkpoint(TrainingResult{}).task.dump(),
                  "the task " + from.task.dump());
    return std::move(from.weights);
  }

  void evaluate_off_policy() {
    std::optional<RecordedChoices> choices;
    const auto* training_data = dynamic_cast<const LoggedData*>(training_data_.get());
    if (training_data != nullptr) choices = training_data->held_out();
    const OffPolicyOptions options{.draws = setup_.data.log_draws,
                                   .cost_scale = setup_.data.cost_scale};
    const nlohmann::ordered_json found = off_policy_estimates(
        run_->checkpoints() / "best", *log_, choices ? &*choices : nullptr, options);
    write_file_atomic(run_->evaluations() / "off_policy.json", found.dump(2) + "\n");
    std::fputs(off_policy_text(found).c_str(), stderr);
  }

  const TrainingSetup& setup_;
  const SessionOptions& options_;
  bool is_rank0_;
  TrainableAgent agent_;
  std::unique_ptr<DecisionLogTrainingFiles> log_;  // null: no decision log
  std::unique_ptr<TrainingData> training_data_;
  std::optional<RunFolder> run_;
  std::optional<CheckpointKeeper> keeper_;
  std::optional<Trainer> trainer_;
  std::vector<double> untrained_;              // log ratios of update 0, by window; empty: unknown
  std::optional<TrainingGain> latest_, best_;  // validations by this process
};

}  // namespace

fs::path train_best_checkpoint(const TrainingSetup& setup, const SessionOptions& options,
                               Communicator& ranks) {
  if (ranks.rank() == 0) {
    if (options.resume.empty()) RunFolder::require_unoccupied_path(options.out);
    const TrainingDataConfig& data = setup.data;
    const std::string what =
        !data.from_log.empty() ? fmt::format("reading the decision log {}", data.from_log)
        : data.cells.empty()   ? fmt::format("reading {} for {}", data.trace, data.cluster)
                               : fmt::format("reading the cells of {}", data.cells);
    std::fputs((what + "\n").c_str(), stderr);
  }
  if (!options.resume.empty() && ranks.rank() == 0 &&
      !fs::exists(RunFolder::resume_state_path(options.resume))) {
    throw InputError(options.resume, "a run with a saved state",
                     "none; remove the folder and train again");
  }
  return Session(setup, options, ranks).train();
}

}  // namespace yard
