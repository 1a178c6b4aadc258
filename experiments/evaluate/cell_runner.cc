#include "experiments/evaluate/cell_runner.h"

#include <cmath>
#include <limits>

#include "experiments/evaluate/bound.h"
#include "experiments/replay/congestion.h"
#include "experiments/scenario/type_notes.h"

namespace yard {
namespace {

using Json = ResultFolder::Json;

// JSON has no NaN or infinity: they become null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Json json_of(const CellFacts& facts) {
  return {{"trace", facts.trace},       {"sha256", facts.sha256},
          {"cluster", facts.cluster},   {"congestion", facts.congestion},
          {"load", number(facts.load)}, {"factor", facts.factor},
          {"from_s", facts.from_s},     {"to_s", facts.to_s},
          {"jobs", facts.jobs},         {"class_jobs", facts.class_jobs},
          {"limits", facts.limits},     {"opens_test", facts.opens_test},
          {"no_bound", facts.no_bound}};
}

// Returns nothing for stored facts without `no_bound`, which an earlier format lacks.
std::optional<CellFacts> read_facts(const Json& json) {
  if (!json.contains("no_bound")) return std::nullopt;
  CellFacts facts;
  json.at("trace").get_to(facts.trace);
  json.at("sha256").get_to(facts.sha256);
  json.at("cluster").get_to(facts.cluster);
  json.at("congestion").get_to(facts.congestion);
  facts.load = number(json.at("load"));
  json.at("factor").get_to(facts.factor);
  json.at("from_s").get_to(facts.from_s);
  json.at("to_s").get_to(facts.to_s);
  json.at("jobs").get_to(facts.jobs);
  json.at("class_jobs").get_to(facts.class_jobs);
  json.at("limits").get_to(facts.limits);
  json.at("opens_test").get_to(facts.opens_test);
  json.at("no_bound").get_to(facts.no_bound);
  return facts;
}

CellFacts facts_of(const Scenario& scenario, const RunOptions& how) {
  CellFacts facts;
  facts.trace = scenario.trace.source;
  facts.sha256 = scenario.trace.sha256;
  facts.cluster = scenario.cluster.text;
  facts.congestion = scenario.congestion > 0 ? scenario.congestion : congestion_of(scenario);
  facts.load = scenario.load;
  facts.factor = scenario.factor;
  facts.from_s = static_cast<double>(scenario.window.from_us) / 1e6;
  facts.to_s = static_cast<double>(scenario.window.to_us) / 1e6;
  facts.jobs = scenario.window.scored;
  for (const Job& job : scenario.trace.jobs) {
    facts.limits = facts.limits || job.limit_us >= 0;
    if (job.scored) ++facts.class_jobs[static_cast<size_t>(size_class_of(job.gpus))];
  }
  facts.opens_test = scenario.opens_test;
  facts.no_bound = why_oracle_is_no_bound(scenario, how.rules);
  facts.notes = scenario_notes(scenario, how.speeds);
  return facts;
}

Json json_of(const PolicyScore& score) {
  return {{"policy", score.name},
          {"information", information_level_name(score.level)},
          {"mean_jct_s", score.mean_jct_s},
          {"p99_jct_s", score.p99_jct_s},
          {"max_wait_s", score.max_wait_s},
          {"preemptions", score.preemptions},
          {"moves", number(score.migrations)},
          {"rapid_repreemptions", number(score.rapid_repreemptions)},
          {"ended_early", score.ended_early},
          {"class_jct_s", score.class_jct_s},
          {"unfinished", score.unfinished},
          {"decisions", score.decisions},
          {"core_s", score.core_s},
          {"block_jct_s", score.block_jct_s}};
}

PolicyScore read_score(const Json& json) {
  PolicyScore score;
  score.level = parse_information_level(json.at("information").get<std::string>());
  json.at("mean_jct_s").get_to(score.mean_jct_s);
  json.at("p99_jct_s").get_to(score.p99_jct_s);
  json.at("max_wait_s").get_to(score.max_wait_s);
  json.at("preemptions").get_to(score.preemptions);
  // Stored scores of earlier formats lack these fields.
  score.decisions = json.value("decisions", 0.0);
  score.core_s = json.value("core_s", 0.0);
  score.migrations = number(json.value("moves", Json()));
  score.rapid_repreemptions = number(json.value("rapid_repreemptions", Json()));
  score.ended_early = json.value("ended_early", 0.0);
  json.at("class_jct_s").get_to(score.class_jct_s);
  json.at("unfinished").get_to(score.unfinished);
  json.at("block_jct_s").get_to(score.block_jct_s);
  return score;
}

}  // namespace

const TraceOnCluster& TraceOnClusterCache::of(const ScenarioOptions& options) {
  const std::string generated =
      is_synthetic(options.trace)
          ? synthetic_parameters_sha256(options.trace, {.seed = options.seed,
                                                        .jobs = options.generate_jobs,
                                                        .settings = options.trace_settings})
          : "";
  std::string drawn;  // settings of attributes drawn for jobs
  for (const auto* settings : {&options.models, &options.demands}) {
    for (const GivenSetting& s : settings->entries()) drawn += s.key + "=" + s.value + "\n";
    drawn += "\n";
  }
  const std::array<std::string, 6> key = {options.trace,    generated, options.cluster,
                                          options.profiles, drawn,     text_of(options.variation)};
  const auto known = by_files_.find(key);
  if (known != by_files_.end()) return known->second;
  return by_files_.emplace(key, load_trace_on_cluster(options)).first->second;
}

std::vector<std::string> TraceOnClusterCache::trace_hashes() const {
  std::vector<std::string> out;
  for (const auto& [files, source] : by_files_) out.push_back(source.trace.sha256);
  return out;
}

CellRunner::CellRunner(CellSpec cell, const RunOptions& how, const ResultFolder& results,
                       TraceOnClusterCache& sources)
    : cell_(std::move(cell)), results_(&results), sources_(&sources) {
  const Json inputs = results.enabled() ? yard::inputs_of(cell_) : Json();
  const auto known = results.find(cell_.name, "cell", inputs, read_facts);
  if (known && *known) {
    facts_ = **known;
    return;
  }
  facts_ = facts_of(scenario_of(cell_, sources.of(cell_.scenario)), how);
  if (results.enabled()) {  // name only: results do not depend on trace folders
    facts_.trace = std::filesystem::path(facts_.trace).filename().string();
  }
  results.keep(cell_.name, "cell", inputs, json_of(facts_));
}

Json CellRunner::inputs_of(const PolicySpec& policy_spec) const {
  return {{"cell", yard::inputs_of(cell_)},
          {"policy", Json::parse(policy_spec.inputs.at(cell_.allows_preemption()))}};
}

std::optional<PolicyScore> CellRunner::find_stored_score(const PolicySpec& policy_spec) const {
  if (!results_->enabled()) return std::nullopt;
  auto score = results_->find(cell_.name, policy_spec.name, inputs_of(policy_spec), read_score);
  if (score) {
    score->name = policy_spec.name;
    score->speeds = policy_spec.options.speeds;
  }
  return score;
}

std::vector<PolicyScore> CellRunner::scores(const std::vector<const PolicySpec*>& policy_specs,
                                            const OnReplayed& on_replayed) {
  std::vector<PolicyScore> out(policy_specs.size());
  std::vector<size_t> missing;
  std::vector<const PolicySpec*> to_run;
  for (size_t i = 0; i < policy_specs.size(); ++i) {
    if (const auto score = find_stored_score(*policy_specs[i])) {
      out[i] = *score;
      continue;
    }
    missing.push_back(i);
    to_run.push_back(policy_specs[i]);
  }
  if (missing.empty()) return out;
  std::optional<ArrivalCalibration> found;
  if (cell_.scenario.congestion) found = ArrivalCalibration{facts_.factor, facts_.congestion};
  const Scenario scenario = scenario_of(cell_, sources_->of(cell_.scenario), found);
  const auto keep = [&](size_t p, const PolicyScore& score) {
    if (!results_->enabled()) return;
    results_->keep(cell_.name, to_run[p]->name, inputs_of(*to_run[p]), json_of(score));
  };
  const std::vector<PolicyScore> fresh =
      score_policies(scenario, replicas_of(scenario, cell_.replicas, cell_.seed), to_run,
                     cell_.max_blocks, keep, on_replayed);
  for (size_t k = 0; k < missing.size(); ++k) out[missing[k]] = fresh[k];
  return out;
}

}  // namespace yard
