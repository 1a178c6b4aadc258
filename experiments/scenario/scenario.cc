#include "experiments/scenario/scenario.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/cluster/spec.h"
#include "env/sim/metrics/metrics.h"
#include "env/sim/placement/fits.h"
#include "env/trace/core/max_time.h"
#include "env/trace/profiles/checkpoint_model.h"
#include "env/trace/profiles/training_curves.h"
#include "experiments/scenario/demand_draw.h"
#include "experiments/scenario/tenants.h"

namespace yard {
namespace {

constexpr int64_t kJitterUs = 600'000'000;
constexpr double kLoadJitter = 0.04;
constexpr uint64_t kFaultStream = 0x6661756C7473;
constexpr uint64_t kReplicaStream = 0x7265706C69636173;
constexpr uint64_t kModelStream = 0x6D6F64656C73;
constexpr uint64_t kDemandStream = 0x64656D616E6473;
constexpr uint64_t kTenantStream = 0x74656E616E7473;

PreemptionCosts scaled(double scale) {
  PreemptionCosts costs;
  const auto times = [scale](int64_t us) { return std::llround(static_cast<double>(us) * scale); };
  costs.save_us = times(costs.save_us);
  costs.restore_us = times(costs.restore_us);
  costs.restore_large_us = times(costs.restore_large_us);
  costs.scale = scale;
  return costs;
}

using ModelChoice = std::pair<std::string, int32_t>;  // model, batch

struct ModelChoices {
  std::vector<ModelChoice> of_one, of_several;  // by name: independent of the order of files

  const std::vector<ModelChoice>& of(int32_t gpus) const { return gpus > 1 ? of_several : of_one; }
};

ModelChoices choices_in(const Profiles& profiles) {
  std::set<ModelChoice> one, several;
  for (const ModelProfile& profile : profiles.models) {
    for (const MeasuredRun& run : profile.runs) {
      if (run.iteration_s <= 0) continue;
      const auto batch = static_cast<int32_t>(std::lround(profile.identifying_batch_size(run)));
      (run.gpus() > 1 ? several : one).emplace(profile.model, batch);
      if (profile.by_links) several.emplace(profile.model, batch);
    }
  }
  return {{one.begin(), one.end()}, {several.begin(), several.end()}};
}

bool draws(const Job& job) { return job.gpus > 0 && (job.model.empty() || job.model_drawn); }

void set_model(Job& job, const ModelChoice& lot) {
  job.model = lot.first;
  job.batch_size = lot.second;
  job.model_drawn = true;
  job.gpu_types.clear();
}

// Sets model and batch size of each job with GPUs whose model is missing or drawn. The job may then
// run on any GPU type. Throws InputError if `profiles` has no model for a job.
void draw_models(Trace& trace, const Profiles& profiles, const Rng& rng) {
  const ModelChoices choices = choices_in(profiles);
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    if (!draws(job)) continue;
    const std::vector<ModelChoice>& from = choices.of(job.gpus);
    if (from.empty()) {
      throw InputError("models.draw",
                       std::string("--profiles with models measured on ") +
                           (job.gpus > 1 ? "several GPUs" : "one GPU"),
                       "none");
    }
    Rng lot = rng.split(j);
    set_model(job, from[lot.below(static_cast<uint32_t>(from.size()))]);
  }
}

// Returns one job for each GPU count and each model which draw_models() may combine.
Trace all_model_jobs(const Trace& trace, const Profiles& profiles) {
  const ModelChoices choices = choices_in(profiles);
  std::set<int32_t> sizes;
  for (const Job& job : trace.jobs) {
    if (draws(job)) sizes.insert(job.gpus);
  }
  Trace out;
  for (const int32_t gpus : sizes) {
    for (const ModelChoice& lot : choices.of(gpus)) {
      Job job;
      job.gpus = gpus;
      set_model(job, lot);
      out.jobs.push_back(job);
    }
  }
  return out;
}

Scenario with_arrivals(const Scenario& scenario, Trace trace, const Window& window) {
  Scenario replica(std::move(trace), window, scenario.cluster, scenario.cost_scale,
                   scenario.speeds);
  replica.factor = scenario.factor;
  replica.congestion = scenario.congestion;
  replica.opens_test = scenario.opens_test;
  replica.allow(scenario.fixed.allows);
  return replica;
}

Trace with_settled_stages(Trace trace) {
  fill_in_stage_run_times(trace);
  return trace;
}

std::optional<Trace> split_stages(const Trace& trace, std::vector<int32_t>& of) {
  if (!any_job_has_stages(trace)) return std::nullopt;
  StageJobs stages = split_stages(trace.jobs);
  of = std::move(stages.job_of);
  Trace out;
  out.source = trace.source;
  out.jobs = std::move(stages.jobs);
  return out;
}

}  // namespace

AllowedActions parse_allowed_actions(const std::vector<std::string>& words,
                                     const std::string& where) {
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  for (const std::string& word : words) {
    if (word == "start" || word == "preempt" || word == "move") continue;
    throw InputError(where, "start, preempt or move", "'" + word + "'");
  }
  if (!has("start"))
    throw InputError(where, "start, optionally with preempt and move", join(words));
  if (has("move") && !has("preempt")) {
    throw InputError(where, "preempt together with move, since a move stops a job", join(words));
  }
  return {.preempt = has("preempt"), .move = has("move")};
}

std::vector<std::string> allowed_action_words(const AllowedActions& allows) {
  std::vector<std::string> out = {"start"};
  if (allows.preempt) out.emplace_back("preempt");
  if (allows.preempt && allows.move) out.emplace_back("move");
  return out;
}

std::string text_of(const ScenarioOverrides& variation) {
  std::vector<std::string> parts;
  if (variation.allows != AllowedActions{}) {
    parts.push_back(join(allowed_action_words(variation.allows), "+"));
  }
  if (variation.cluster != 1) parts.push_back("cluster x " + shortest_text(variation.cluster));
  if (variation.load != 1) parts.push_back("load x " + shortest_text(variation.load));
  return join(parts);
}

TraceOnCluster load_trace_on_cluster(const ScenarioOptions& options) {
  TraceOnCluster source;
  source.cluster = scale_node_counts(load_cluster(options.cluster), options.variation.cluster);
  source.variation = options.variation;
  const int gpus = source.cluster.total_gpus();
  source.trace = load_trace(options.trace, {.format = options.format,
                                            .skip_unusable = options.skip_unusable,
                                            .seed = options.seed,
                                            .jobs = options.generate_jobs,
                                            .cluster_gpus = gpus,
                                            .settings = options.trace_settings});
  if (is_synthetic(options.trace)) {
    draw_tenants_if_needed(source.trace, source.cluster, Rng(options.seed).split(kTenantStream));
  }
  const std::string tenants = unknown_tenants_note(source.trace, source.cluster);
  if (!tenants.empty()) source.trace.notices.push_back({tenants, 0, source.trace.source});
  fill_run_times(source.trace, options.measured, options.skip_unusable);
  const auto demands = parse<JobAttributeDrawConfig>(options.demands);
  if (demands.draw)
    draw_missing_job_attributes(source.trace, Rng(demands.seed).split(kDemandStream));
  const auto models = parse<JobModelDrawConfig>(options.models);
  const bool known = !options.profiles.empty() || !source.cluster.models.empty();
  if (models.draw && !known) {
    throw InputError("models.draw", "--profiles or a cluster with models to draw from", "none");
  }
  if (known) {
    source.speeds = std::make_shared<Speeds>(options.profiles, source.trace, source.cluster);
    if (models.draw) {
      // The table must hold all models that replicas may draw before the first of them uses it.
      source.speeds->speed_classes_of(all_model_jobs(source.trace, source.speeds->profiles()));
      draw_models(source.trace, source.speeds->profiles(), Rng(models.seed).split(kModelStream));
    }
    source.speeds->remove_unfit_gpu_types(source.trace, source.cluster);
    const std::string unused =
        options.profiles.empty() ? "" : source.speeds->unused_profiles_note(source.trace);
    if (!unused.empty()) source.trace.notices.push_back({unused, 0, source.trace.source});
    fill_checkpoint_costs(source.trace, source.speeds->profiles(),
                          parse<CheckpointCostModel>(options.checkpoints));
  }
  apply_training_curves(source.trace, source.speeds ? source.speeds->profiles() : Profiles{});
  check_jobs_fit_cluster(source.trace, source.cluster, options.skip_unusable);
  if (options.gpus_needed) check_jobs_request_gpus(source.trace, options.skip_unusable);
  if (!options.faults.empty()) source.faults.recorded = read_faults(options.faults, source.cluster);
  source.faults.model = parse<FaultModel>(options.fault_model);
  set_reclaim_notice(source.faults.recorded, source.faults.model.reclaim_notice_us());
  source.faults.seed = options.seed;
  return source;
}

Scenario::Scenario(Trace trace_in, const Window& window_in, ClusterSpec cluster_in, double scale,
                   std::shared_ptr<Speeds> measured)
    : trace(with_settled_stages(std::move(trace_in))),
      window(window_in),
      cluster(std::move(cluster_in)),
      cost_scale(scale),
      load(offered_load(trace, window, cluster.total_gpus())),
      speeds(std::move(measured)),
      stage_jobs(split_stages(trace, job_of_stage)),
      spec(cluster),
      workload(simulated_trace(), cluster,
               speeds ? speeds->incompatible_pairs(simulated_trace()) : GpuSharingConflicts{}),
      fixed{spec.columns(), workload.jobs().columns(), scaled(scale)} {
  fixed.rated = fixed.spec.overloads || speeds;
  if (speeds) {
    workload.set_speed_classes(speeds->speed_classes_of(simulated_trace()));
    fixed.jobs = workload.jobs().columns();
    fixed.speed = speeds->columns();
  }
  isolated_us = merge_stages(isolated_run_us(simulated_trace(), fixed));
}

Outcome Scenario::merge_stages(Outcome outcome) const {
  if (!stage_jobs) return outcome;
  std::vector<JobOutcome> jobs(trace.jobs.size());
  std::vector<char> open(jobs.size(), 0);  // whether a stage has not ended
  for (size_t e = 0; e < outcome.jobs.size(); ++e) {
    const auto j = static_cast<size_t>(job_of_stage[e]);
    const JobOutcome& stage = outcome.jobs[e];
    JobOutcome& job = jobs[j];
    job.preemptions += stage.preemptions;
    job.restarts += stage.restarts;
    job.migrations += stage.migrations;
    job.rapid_repreemptions += stage.rapid_repreemptions;
    job.ended_early = job.ended_early || stage.ended_early;
    job.undone_us += stage.undone_us;
    if (stage.start_us != kNone && (job.start_us == kNone || stage.start_us < job.start_us)) {
      job.start_us = stage.start_us;
    }
    open[j] = open[j] || stage.end_us == kNone;
    job.end_us = open[j] ? kNone : std::max(job.end_us, stage.end_us);
  }
  outcome.jobs = std::move(jobs);
  return outcome;
}

std::vector<int64_t> Scenario::merge_stages(std::vector<int64_t> stage_us) const {
  if (!stage_jobs) return stage_us;
  std::vector<int64_t> out(trace.jobs.size(), 0);
  for (size_t e = 0; e < stage_us.size(); ++e) {
    int64_t begin_us = 0;  // stages come after those on which they depend
    for (int32_t i = fixed.jobs.first_after[e]; i < fixed.jobs.first_after[e + 1]; ++i) {
      const auto before = static_cast<size_t>(fixed.jobs.after_job[i]);
      if (job_of_stage[before] == job_of_stage[e]) begin_us = std::max(begin_us, stage_us[before]);
    }
    stage_us[e] += begin_us;
    int64_t& job_us = out[static_cast<size_t>(job_of_stage[e])];
    job_us = std::max(job_us, stage_us[e]);
  }
  return out;
}

void Scenario::inject_faults(const FaultPlan& plan) {
  inject_faults(plan, Rng(plan.seed).split(kFaultStream));
}

void Scenario::inject_faults(const FaultPlan& plan, const Rng& rng) {
  constexpr double kMonthS = 30 * 24 * 3600;
  faults = plan;
  fault_rng = rng;
  const int64_t first_us = simulated_trace().jobs.front().submit_us;
  double span_s = 3600 * plan.model.until_h;
  if (span_s == 0) {
    // In most cases longer than the replay.
    double gpu_s = 0, longest_s = 0;
    for (int32_t j = 0; j < workload.size(); ++j) {
      const double run_s = 1e-6 * static_cast<double>(workload.truth().work_us[j]);
      gpu_s += run_s * fixed.jobs.gpus[j];
      longest_s = std::max(longest_s, run_s);
    }
    span_s = 1e-6 * static_cast<double>(simulated_trace().jobs.back().submit_us - first_us) +
             kMonthS + 2 * (gpu_s / fixed.spec.total_gpus + longest_s);
  }
  const int64_t until_us = first_us + std::llround(1e6 * std::min<double>(span_s, kMaxTimeS));
  drawn_until_us = plan.model.any() && plan.model.until_h == 0 ? until_us : kNever;
  workload.set_faults(unsorted_faults_until(until_us));
  fixed.faults = workload.has_faults() || plan.model.any();  // a later draw may add the first
}

std::vector<Fault> Scenario::unsorted_faults_until(int64_t until_us) const {
  std::vector<Fault> all = faults.recorded;
  if (faults.model.any()) {
    const std::vector<Fault> drawn = draw_faults(
        cluster, faults.model, simulated_trace().jobs.front().submit_us, until_us, fault_rng);
    all.insert(all.end(), drawn.begin(), drawn.end());
  }
  return all;
}

Scenario perturbed_replica_of(const Scenario& scenario, const Rng& rng) {
  Trace trace = scenario.trace;
  Window window = scenario.window;
  jitter_arrivals(trace, window, rng, kJitterUs, kLoadJitter);
  if (std::ranges::any_of(trace.jobs, &Job::model_drawn)) {
    draw_models(trace, scenario.speeds->profiles(), rng.split(kModelStream));
    scenario.speeds->remove_unfit_gpu_types(trace, scenario.cluster);
  }
  Scenario replica = with_arrivals(scenario, std::move(trace), window);
  replica.inject_faults(scenario.faults, rng.split(kFaultStream));
  return replica;
}

std::vector<Scenario> replicas_of(const Scenario& scenario, int count, uint64_t seed) {
  std::vector<Scenario> replicas;
  replicas.reserve(static_cast<size_t>(count));
  if (count == 1) {
    replicas.push_back(with_arrivals(scenario, scenario.trace, scenario.window));
    replicas.back().inject_faults(scenario.faults);
    return replicas;
  }
  const Rng rng = Rng(seed).split(kReplicaStream);
  for (int r = 0; r < count; ++r) {
    replicas.push_back(perturbed_replica_of(scenario, rng.split(static_cast<uint64_t>(r))));
  }
  return replicas;
}

}  // namespace yard
