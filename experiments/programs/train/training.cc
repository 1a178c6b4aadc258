#include "experiments/programs/train/training.h"

#include <algorithm>
#include <cmath>

#include "env/base/error.h"
#include "env/base/text.h"
#include "env/sim/pacing.h"
#include "env/trace/habits.h"
#include "env/trace/stages.h"
#include "policies/policy.h"

namespace yard {
namespace {

bool synthetic(const std::string& trace) { return trace.starts_with("synthetic:"); }

ScenarioOptions options_of(const TrainingConfig& c, uint64_t seed, int jobs) {
  ScenarioOptions o;
  o.trace = c.trace;
  o.format = c.format;
  o.cluster = c.cluster;
  o.window.from = c.from;
  o.window.to = c.to;
  o.window.warmup = "0";
  if (c.congestion > 0) o.congestion = c.congestion;
  o.cost_scale = c.cost_scale;
  o.skip_unusable = c.skip_unusable;
  o.seed = seed;
  o.generate_jobs = jobs;
  for (const std::string& assignment : c.generator)
    o.trace_settings.overlay(assignment, "generator");
  return o;
}

// The scored jobs alone.
Trace scored_part(const Trace& trace) {
  Trace out = trace;
  std::erase_if(out.jobs, [](const Job& job) { return !job.scored; });
  return out;
}

}  // namespace

void TrainingConfig::fields(FieldList& f) {
  f("agent", agent, "what is trained; see list agents");
  f("trace", trace, "file to learn from, or synthetic:NAME");
  f("format", format, "of the file; empty: recognised");
  f("cluster", cluster, "NODESxGPUS[:TYPE], joined by +, a ready-made spec, or a YAML file");
  f("from", from, "where the part to learn from begins: seconds, NN% or a date");
  f("to", to, "where it ends");
  f("trace_jobs", trace_jobs, 1, 10'000'000, "jobs that a generator makes");
  f("trace_seed", trace_seed, 0, UINT64_MAX, "of a generator");
  f("congestion", congestion, 0.0, 1e6, "arrivals are scaled to it; 0: as they are");
  f("cost_scale", cost_scale, 0.0, 1e6, "times the default costs of preemption");
  f("skip_unusable", skip_unusable, "count unusable rows instead of refusing the file");
  f("generator", generator, "settings of a generator, key=value");
  f("validate_share", validate_share, 0.0, 0.9,
    "of a file's part, its end, held out to validate on");
  f("validate_windows", validate_windows, 1, 1000, "windows to validate on");
  f("validate_jobs", validate_jobs, 1, 1'000'000, "jobs a window");
  f("validate_seed", validate_seed, 0, UINT64_MAX, "of the generator that makes them");
  f("keep", keep, 0, 1'000, "checkpoints of the latest validations that are kept beside the best");
}

TrainingData::TrainingData(const TrainingConfig& config, int episode_jobs,
                           const Policy& reference)
    : config_(config) {
  train_ = std::make_unique<Scenario>(
      load_scenario(options_of(config, config.trace_seed, config.trace_jobs)));
  Trace part = scored_part(train_->trace);
  Trace rest;
  const int wanted = config.validate_windows * config.validate_jobs;
  if (synthetic(config.trace)) {
    // Far enough into a trace of its own that the windows begin where the cluster is usually busy.
    validation_ = std::make_unique<Scenario>(load_scenario(
        options_of(config, config.validate_seed, std::max(wanted, config.trace_jobs))));
    rest = scored_part(validation_->trace);
  } else {
    const auto held =
        static_cast<size_t>(config.validate_share * static_cast<double>(part.jobs.size()));
    rest.jobs.assign(part.jobs.end() - static_cast<int64_t>(held), part.jobs.end());
    part.jobs.resize(part.jobs.size() - held);
  }
  if (static_cast<int>(part.jobs.size()) < episode_jobs) {
    throw InputError("episode_jobs",
                     "at most the " + std::to_string(part.jobs.size()) + " jobs to learn from",
                     std::to_string(episode_jobs));
  }
  const auto jobs = static_cast<int>(rest.jobs.size());
  const int each = std::min(config.validate_jobs, jobs);
  if (each == 0) throw InputError("validate_share", "jobs to validate on", "none");
  for (Trace* trace : {&part, &rest}) {  // stages are jobs to a world
    if (any_staged(*trace)) trace->jobs = take_apart(trace->jobs).jobs;
  }
  workload_ = std::make_unique<Workload>(part, train_->cluster);
  train_->fixed.jobs = workload_->jobs().columns();
  held_out_ = std::make_unique<Workload>(rest, train_->cluster);
  held_out_fixed_ = train_->fixed;
  held_out_fixed_.jobs = held_out_->jobs().columns();
  // As far apart as there is room; on a short trace they overlap.
  const int spread =
      config.validate_windows > 1 ? (jobs - each) / (config.validate_windows - 1) : 0;
  for (int w = 0; w < config.validate_windows; ++w) {
    const int32_t first = w * spread;
    windows_.push_back({first, first + each, mean_jct_s(reference, first, first + each)});
  }
}

double TrainingData::mean_jct_s(const Policy& policy, int32_t first, int32_t end) const {
  PolicyDecider decider(policy);
  Replay replay{.fixed = held_out_fixed_,
                .workload = *held_out_,
                .first_job = first,
                .end_job = end,
                .policy = "validation",
                .placement = "",
                .settings = {},
                .decider = &decider,
                .watch = {}};
  const Outcome out = PacingRegistry::make("default", {})->replay(replay);
  double sum_s = 0;
  for (int32_t j = first; j < end; ++j) {
    const int64_t submit_us = held_out_fixed_.jobs.submit_us[j];
    sum_s += 1e-6 * static_cast<double>(out.jobs[static_cast<size_t>(j)].end_us - submit_us);
  }
  return sum_s / (end - first);
}

double TrainingData::validate(const Policy& policy) const {
  double log_sum = 0;
  for (const Window& w : windows_) {
    log_sum += std::log(mean_jct_s(policy, w.first, w.end) / w.reference_s);
  }
  return std::exp(log_sum / static_cast<double>(windows_.size()));
}

nlohmann::ordered_json TrainingData::provenance() const {
  nlohmann::ordered_json out = {
      {"trace", train_->trace.source}, {"trace_sha256", train_->trace.sha256},
      {"jobs", workload_->size()},     {"cluster", config_.cluster},
      {"load", train_->load},          {"arrival_factor", train_->factor}};
  if (config_.trace == "synthetic:habits") out["workload_parameters"] = habits_hash();
  return out;
}

}  // namespace yard
