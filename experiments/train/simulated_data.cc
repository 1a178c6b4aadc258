#include "experiments/train/simulated_data.h"

#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "env/trace/formats/load_trace.h"
#include "experiments/evaluate/cells.h"
#include "experiments/replay/congestion.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/run/parallel.h"
#include "experiments/run/progress.h"
#include "experiments/scenario/type_notes.h"
#include "policies/learned/learned_policy.h"

namespace yard {
namespace {

// Episodes of each workload that are played for the envelope, spread over the workload.
constexpr int32_t kEnvelopeEpisodes = 8;

ScenarioOptions options_of(const TrainingDataConfig& c, uint64_t seed, int jobs) {
  ScenarioOptions o;
  o.trace = c.trace;
  o.format = c.format;
  o.cluster = c.cluster;
  o.window.from = c.from;
  o.window.to = c.to;
  o.window.warmup = "0";
  if (c.congestion > 0) o.congestion = c.congestion;
  o.profiles = c.profiles;
  o.cost_scale = c.cost_scale;
  o.skip_unusable = c.skip_unusable;
  o.seed = seed;
  o.generate_jobs = jobs;
  for (const std::string& assignment : c.generator)
    o.trace_settings.overlay(assignment, "generator");
  if (!c.columns.empty()) o.trace_settings.set("columns", c.columns, "columns");
  return o;
}

// Returns the trace with its scored jobs only.
Trace scored_part(const Trace& trace) {
  Trace out = trace;
  std::erase_if(out.jobs, [](const Job& job) { return !job.scored; });
  return out;
}

TrainingData::ValidationResult validation_result(std::vector<double> log_ratios) {
  const double sum = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0);
  const double score = std::exp(sum / static_cast<double>(log_ratios.size()));
  return {score, std::move(log_ratios)};
}

// Provenance of a workload, sufficient to make the same jobs again.
nlohmann::ordered_json provenance_of_scenario(const Scenario& scenario) {
  return {{"trace", std::filesystem::path(scenario.trace.source).filename().string()},
          {"trace_sha256", scenario.trace.sha256},
          {"gpus", scenario.cluster.total_gpus()},
          {"jobs", scenario.workload.size()},
          {"load", scenario.load},
          {"arrival_factor", scenario.factor}};
}

}  // namespace

void TrainingDataConfig::fields(FieldList& f) {
  f("agent", agent, "agent to train; see list agents");
  f("trace", trace, "trace file or synthetic:NAME");
  f("format", format, "trace format; empty: detected");
  f("columns", columns,
    "column names of the trace, as FIELD=COLUMN: job_id=JobName,...; empty: unchanged");
  f("cluster", cluster, "NODESxGPUS[:TYPE], joined by +, a ready-made spec, or a YAML file");
  f("from", from, "start of the training part: seconds, NN% or a date");
  f("to", to, "end of the training part: seconds, NN% or a date");
  f("trace_jobs", trace_jobs, 1, 10'000'000, "jobs to generate");
  f("trace_seed", trace_seed, 0, UINT64_MAX, "seed of the generator");
  f("profiles", profiles, "comma-separated files or folders of measured speeds");
  f("speeds", speeds,
    "speeds available to policies in validation: exact, noisy or learned; training "
    "environments always give exact speeds");
  f("congestion", congestion, 0.0, 1e6,
    "target congestion to which arrivals are scaled; 0: not scaled");
  f("cost_scale", cost_scale, 0.0, 1e6, "factor of the default preemption costs");
  f("cells", cells, "file of cells, instead of one trace and cluster");
  f("only", only, "names of the cells to train on");
  f("validate_on", validate_on, "names of the cells to validate on");
  f("draws", draws, 1, 1000, "replicas of each training cell, with different random numbers");
  f("skip_unusable", skip_unusable, "skip and count unusable rows instead of refusing the file");
  f("generator", generator, "settings of the generator, key=value");
  f("validate_share", validate_share, 0.0, 0.9,
    "share of a trace file's selected jobs, the last ones, held out for validation");
  f("validate_windows", validate_windows, 1, 1000, "number of validation windows");
  f("validate_jobs", validate_jobs, 1, 1'000'000, "jobs per validation window");
  f("validate_seed", validate_seed, 0, UINT64_MAX, "seed of the generator of validation jobs");
  f("adapt_updates", adapt_updates, 0, 1'000'000,
    "updates which adapt to the first half of each held-out trace; validation then uses the "
    "second half; 0: validation uses the whole trace");
  f("keep", keep, 0, 1'000, "number of latest checkpoints to keep besides the best checkpoint");
  f("from_log", from_log, "decision log of a server, instead of trace, cluster and cells");
  f("log_draws", log_draws, 1, 100, "draws of the run times that a decision log lacks");
}

SimulatedData::SimulatedData(const TrainingDataConfig& config, int episode_jobs,
                             const Policy& reference)
    : config_(config), speeds_(parse_speed_information(config.speeds, "speeds")) {
  if (config.cells.empty()) {
    read_trace();
  } else {
    read_cells();
  }
  episode_jobs_ = episode_jobs;
  for (const auto* scenario_lists : {&training_scenarios_, &adaptation_scenarios_}) {
    for (const ScenarioPtr& scenario : *scenario_lists) {
      if (scenario->workload.size() == 0) throw InputError("trace", "jobs to train on", "none");
      episode_jobs_ = std::min(episode_jobs_, scenario->workload.size());
    }
  }
  if (episode_jobs_ < episode_jobs) {
    notes_.push_back("note: episodes have " + std::to_string(episode_jobs_) +
                     " jobs, all that the training part has, instead of " +
                     std::to_string(episode_jobs) + " (episode_jobs)");
  }
  int32_t window_jobs = config.validate_jobs;  // of the smallest window
  for (size_t g = 0; g < validation_scenarios_.size(); ++g) {
    const int32_t jobs = validation_scenarios_[g]->workload.size();
    const int32_t each = std::min(config.validate_jobs, jobs);
    if (each == 0)
      throw InputError("validate_share", "jobs to validate on",
                       "none; use a trace with more jobs or a larger share");
    window_jobs = std::min(window_jobs, each);
    // Windows are spread evenly over the held-out jobs; on a short trace they overlap.
    const int spread =
        config.validate_windows > 1 ? (jobs - each) / (config.validate_windows - 1) : 0;
    for (int w = 0; w < config.validate_windows; ++w) {
      Window window{g, w * spread, w * spread + each, 0};
      window.reference_s = mean_jct_s(reference, window);
      windows_.push_back(window);
    }
  }
  if (window_jobs < config.validate_jobs) {
    notes_.push_back("note: validation windows have " + std::to_string(window_jobs) +
                     " jobs, all that are held out, instead of " +
                     std::to_string(config.validate_jobs) + " (validate_jobs)");
  }
}

SimulatedData::ScenarioPtr SimulatedData::scenario_of_jobs(Trace jobs, const Scenario& like) {
  auto out = std::make_unique<Scenario>(std::move(jobs), like.window, like.cluster, like.cost_scale,
                                        like.speeds);
  out->factor = like.factor;
  out->allow(like.fixed.allows);
  return out;
}

void SimulatedData::add_validation_jobs(Trace jobs, const Scenario& like) {
  if (config_.adapt_updates > 0) {
    Trace first = jobs;
    first.jobs.resize(jobs.jobs.size() / 2);
    jobs.jobs.erase(jobs.jobs.begin(), jobs.jobs.begin() + static_cast<int64_t>(first.jobs.size()));
    adaptation_scenarios_.push_back(scenario_of_jobs(std::move(first), like));
  }
  validation_scenarios_.push_back(scenario_of_jobs(std::move(jobs), like));
}

void SimulatedData::read_trace() {
  const Scenario whole = load_scenario(options_of(config_, config_.trace_seed, config_.trace_jobs));
  notes_ = scenario_notes(whole, speeds_);
  Trace part = scored_part(whole.trace);
  if (is_synthetic(config_.trace)) {
    // A separate trace, long enough that windows begin where the cluster is usually busy.
    const int wanted = config_.validate_windows * config_.validate_jobs;
    const Scenario other = load_scenario(
        options_of(config_, config_.validate_seed, std::max(wanted, config_.trace_jobs)));
    add_validation_jobs(scored_part(other.trace), other);
  } else {
    if (config_.trace_jobs != TrainingDataConfig{}.trace_jobs) {
      notes_.push_back("note: trace_jobs " + std::to_string(config_.trace_jobs) +
                       " has no effect: it is the length of a generated trace, and " +
                       config_.trace + " is a file");
    }
    const auto held =
        static_cast<size_t>(config_.validate_share * static_cast<double>(part.jobs.size()));
    Trace rest = part;
    rest.jobs.erase(rest.jobs.begin(), rest.jobs.end() - static_cast<int64_t>(held));
    part.jobs.resize(part.jobs.size() - held);
    add_validation_jobs(std::move(rest), whole);
  }
  training_scenarios_.push_back(scenario_of_jobs(std::move(part), whole));
}

// Draws each training cell `draws` times with different seeds, and each validation cell once. Cells
// whose target congestion cannot be reached are reported and skipped.
void SimulatedData::read_cells() {
  const CellFile file = yard::read_cells(config_.cells);
  const Rng rng(config_.trace_seed);
  const auto progress = progress_log();
  const auto add = [&](const char* setting, const std::vector<std::string>& names, int draws,
                       const std::vector<ScenarioPtr>& out, const auto& add_scenario) {
    if (names.empty()) throw InputError(setting, "cells of " + config_.cells, "none");
    const std::vector<CellSpec> cells = select_cells(file, names);
    check_input_sha256(cells);
    for (size_t c = 0; c < cells.size(); ++c) {
      progress("reading " + cells[c].name);
      try {
        CellSpec cell = cells[c];
        std::optional<Scenario> whole;
        for (int d = 0; d < draws; ++d) {
          if (d > 0) {
            cell.scenario.seed = Rng(cells[c].scenario.seed).split(static_cast<uint64_t>(d)).key;
          }
          if (d == 0 || is_synthetic(cell.scenario.trace)) {
            whole.emplace(scenario_of(cell, load_trace_on_cluster(cell.scenario)));
          }
          const Scenario replica =
              perturbed_replica_of(*whole, rng.split(out.size()).split(static_cast<uint64_t>(d)));
          add_scenario(scored_part(replica.trace), replica);
        }
      } catch (const CongestionUnreachable& error) {
        skipped_cells_.emplace_back(error.what());
      }
    }
    if (out.empty()) throw InputError(skipped_cells_.back());
  };
  add("only", config_.only, config_.draws, training_scenarios_,
      [&](Trace jobs, const Scenario& like) {
        training_scenarios_.push_back(scenario_of_jobs(std::move(jobs), like));
      });
  add("validate_on", config_.validate_on, 1, validation_scenarios_,
      [&](Trace jobs, const Scenario& like) { add_validation_jobs(std::move(jobs), like); });
}

std::vector<EnvSpec> SimulatedData::env_specs() const {
  std::vector<EnvSpec> out;
  for (const ScenarioPtr& scenario : training_scenarios_)
    out.push_back({scenario->fixed, &scenario->workload, 1});
  return out;
}

Outcome SimulatedData::play(const Scenario& scenario, int32_t first, int32_t end,
                            Decider& decider) const {
  Replay replay{.fixed = scenario.fixed,
                .workload = scenario.workload,
                .first_job = first,
                .end_job = end,
                .policy = "training data",
                .placement = "",
                .settings = {},
                .decider = &decider,
                .speeds = speeds_,
                .watch = {}};
  return RuleSetRegistry::make("default", {})->replay(replay);
}

double SimulatedData::mean_jct_s(const Policy& policy, const Window& window) const {
  const Scenario& scenario = *validation_scenarios_[window.scenario];
  PolicyDecider decider(policy);
  const Outcome out = play(scenario, window.first, window.end, decider);
  double sum_s = 0;
  for (int32_t j = window.first; j < window.end; ++j) {
    const int64_t submit_us = scenario.fixed.jobs.submit_us[j];
    sum_s += 1e-6 * static_cast<double>(out.jobs[static_cast<size_t>(j)].end_us - submit_us);
  }
  return sum_s / (window.end - window.first);
}

std::vector<double> SimulatedData::log_ratios(const Policy& policy,
                                              std::span<const Window> windows) const {
  std::vector<double> out(windows.size());
  parallel_for_each_index(static_cast<int>(windows.size()), [&](int w) {
    const auto i = static_cast<size_t>(w);
    out[i] = std::log(mean_jct_s(policy, windows[i]) / windows[i].reference_s);
  });
  return out;
}

TrainingData::ValidationResult SimulatedData::validate_checkpoint_per_workload(
    const TrainableAgent& agent, const MakeCheckpoint& adapt_fn) const {
  const auto each = static_cast<size_t>(config_.validate_windows);
  std::vector<double> all;
  for (size_t g = 0; g < validation_scenarios_.size(); ++g) {
    const Scenario& jobs = *adaptation_scenarios_[g];
    const Checkpoint adapted = adapt_fn([&](const VectorEnvOptions& options) {
      return agent.make_environments({{jobs.fixed, &jobs.workload, 1}},
                                     limit_episode_jobs(options, episode_jobs_));
    });
    const auto own =
        log_ratios(*policy_of(adapted, "validation"), std::span(windows_).subspan(g * each, each));
    all.insert(all.end(), own.begin(), own.end());
  }
  return validation_result(std::move(all));
}

TrainingData::ValidationResult SimulatedData::validate(const Checkpoint& checkpoint) const {
  return validation_result(log_ratios(*policy_of(checkpoint, "training"), windows_));
}

Envelope SimulatedData::envelope(const Checkpoint& checkpoint) const {
  const std::unique_ptr<Policy> policy = policy_of(checkpoint, "training");
  Envelope out;
  for (const ScenarioPtr& scenario : training_scenarios_) {
    const int32_t jobs = scenario->workload.size();
    const int32_t last = jobs - episode_jobs_;  // first job of the last episode
    for (int32_t e = 0; e < kEnvelopeEpisodes; ++e) {
      const auto first = static_cast<int32_t>(int64_t{last} * e / (kEnvelopeEpisodes - 1));
      PolicyDecider decider(*policy);
      EnvelopeRecorder recorder(decider, out);
      play(*scenario, first, first + episode_jobs_, recorder);
    }
  }
  return out;
}

std::string SimulatedData::name() const {
  return std::filesystem::path(config_.cells.empty() ? config_.trace : config_.cells)
      .filename()
      .string();
}

std::string SimulatedData::sha256() const {
  if (training_scenarios_.size() == 1) return training_scenarios_.front()->trace.sha256;
  std::string all;
  for (const ScenarioPtr& scenario : training_scenarios_) all += scenario->trace.sha256;
  return sha256_hex(all);
}

std::vector<std::string> SimulatedData::notes() const {
  std::vector<std::string> out = notes_;
  for (const std::string& why : skipped_cells_) out.push_back(why + ": left out");
  return out;
}

nlohmann::ordered_json SimulatedData::provenance() const {
  nlohmann::ordered_json out;
  if (!config_.cells.empty()) {
    out = {{"cells", config_.only},
           {"validate_on", config_.validate_on},
           {"grounds", nlohmann::ordered_json::array()}};
    for (const ScenarioPtr& scenario : training_scenarios_)
      out["grounds"].push_back(provenance_of_scenario(*scenario));
    for (const std::string& why : skipped_cells_) out["left_out"].push_back(why);
  } else {
    out = provenance_of_scenario(*training_scenarios_.front());
    out["cluster"] = config_.cluster;
    if (is_synthetic(config_.trace)) {
      Settings generator;
      for (const std::string& key : config_.generator) generator.overlay(key, "generator");
      const std::string name = config_.trace.substr(std::string("synthetic:").size());
      out["workload_parameters"] =
          Registry<TraceGenerator>::make(name, generator)->parameters_hash();
    }
  }
  if (speeds_ != SpeedInformation::kExact) out["speeds"] = config_.speeds;
  return out;
}

}  // namespace yard
