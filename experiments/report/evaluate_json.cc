#include "experiments/report/evaluate_json.h"

#include <cmath>
#include <limits>

#include "env/sim/rulesets/speed_estimator.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

// Null if not finite; -0 becomes 0.
Json number(double value) { return std::isfinite(value) ? Json(value + 0.0) : Json(nullptr); }

Json known(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json score_json(const PolicyScore& score) {
  return {{"policy", score.name},
          {"information", information_level_name(score.level)},
          {"speeds", speed_information_name(score.speeds)},
          {"mean_jct_s", score.mean_jct_s},
          {"p99_jct_s", score.p99_jct_s},
          {"max_wait_s", score.max_wait_s},
          {"preemptions", score.preemptions},
          {"moves", number(score.migrations)},
          {"rapid_repreemptions", number(score.rapid_repreemptions)},
          {"ended_early", score.ended_early},
          {"unfinished", score.unfinished},
          {"class_jct_s", score.class_jct_s}};
}

// Ratios of the candidate to other candidates of the same call, on the same blocks.
Json others_json(const CellResult& cell) {
  Json out = Json::array();
  for (const ComparedPolicy& other : cell.others) {
    out.push_back({{"policy", other.score.name},
                   {"ratio", number(other.candidate_ratio.ratio)},
                   {"lo", number(other.candidate_ratio.interval.lo)},
                   {"hi", number(other.candidate_ratio.interval.hi)},
                   {"conclusive", other.conclusive}});
  }
  return out;
}

Json rival_json(const ComparedPolicy& rival, bool validated) {
  Json out = score_json(rival.score);
  out["validation_jct_s"] = validated ? number(rival.validation_jct_s) : Json(nullptr);
  out["candidate_ratio"] = number(rival.candidate_ratio.ratio);
  out["lo"] = number(rival.candidate_ratio.interval.lo);
  out["hi"] = number(rival.candidate_ratio.interval.hi);
  out["conclusive"] = rival.conclusive;
  return out;
}

Json rivals_json(const CellResult& cell) {
  Json out = Json::array();
  for (const ComparedPolicy& rival : cell.rivals) out.push_back(rival_json(rival, cell.validated));
  return out;
}

}  // namespace

Json cell_json(const CellResult& cell) {
  const PolicyScore& first_score = cell.candidates.front();
  const bool whole = cell.unfinished() == 0;  // an unfinished job invalidates the row
  const auto figure = [&](double value) { return whole ? number(value) : Json(nullptr); };
  const std::optional<int> largest = cell.largest_size_class();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const ComparedPolicy* untrained_rival = cell.untrained_result();
  const RatioEstimate untrained =
      untrained_rival != nullptr && untrained_rival->score.unfinished == 0
          ? untrained_rival->candidate_ratio
          : RatioEstimate{kNan, {kNan, kNan}, 0};
  Json bounds = Json::array();
  for (const PolicyScore& bound : cell.bounds) bounds.push_back(score_json(bound));
  return {
      {"cell", cell.cell},
      {"cell_hash", cell.cell_hash},
      {"trace", cell.facts.trace},
      {"sha256", cell.facts.sha256},
      {"from_s", cell.facts.from_s},
      {"to_s", cell.facts.to_s},
      {"cluster", cell.facts.cluster},
      {"congestion", cell.facts.congestion},
      {"arrival_factor", cell.facts.factor},
      {"load", number(cell.facts.load)},
      {"rules", cell.rules},
      {"cost_scale", cell.cost_scale},
      {"allows", allowed_action_words(cell.variation.allows)},
      {"cluster_scale", cell.variation.cluster},
      {"load_scale", cell.variation.load},
      {"policy", cell.candidate_name},
      {"information", information_level_name(first_score.level)},
      {"speeds", speed_information_name(first_score.speeds)},
      {"jobs", cell.facts.jobs},
      {"unfinished", cell.unfinished()},
      {"conclusive", cell.conclusive},
      {"mean_jct_s", figure(cell.mean(&PolicyScore::mean_jct_s))},
      {"p99_jct_s", figure(cell.mean(&PolicyScore::p99_jct_s))},
      {"max_wait_s", figure(cell.mean(&PolicyScore::max_wait_s))},
      {"preemptions", figure(cell.mean(&PolicyScore::preemptions))},
      {"ratio", figure(cell.vs_baseline.ratio)},
      {"lo", figure(cell.vs_baseline.interval.lo)},
      {"hi", figure(cell.vs_baseline.interval.hi)},
      {"ratio_untrained", figure(untrained.ratio)},
      {"ratio_untrained_lo", figure(untrained.interval.lo)},
      {"ratio_untrained_hi", figure(untrained.interval.hi)},
      {"ratio_hindsight", figure(cell.ratio_to_best_in_hindsight())},
      {"oracle_gap_closed", figure(cell.oracle_gap_closed())},
      {"p99_ratio", figure(cell.ratio_to_baseline(&PolicyScore::p99_jct_s))},
      {"regressions", cell.unfinished() > 0 ? Json::array() : Json(cell.regressions())},
      {"largest_class", largest ? Json(size_class_name(*largest)) : Json(nullptr)},
      {"largest_class_jct_ratio", figure(cell.largest_class_jct_ratio())},
      {"max_wait_ratio", figure(cell.ratio_to_baseline(&PolicyScore::max_wait_s))},
      {"preemptions_ratio", figure(cell.ratio_to_baseline(&PolicyScore::preemptions))},
      {"preemptions_per_job", figure(cell.candidate_mean_per_job(&PolicyScore::preemptions))},
      {"moves_per_job", figure(cell.candidate_mean_per_job(&PolicyScore::migrations))},
      {"rapid_repreemptions", figure(cell.mean(&PolicyScore::rapid_repreemptions))},
      {"ended_early", figure(cell.mean(&PolicyScore::ended_early))},
      {"training_core_s", known(cell.training_core_s)},
      {"decisions_per_s", number(cell.decisions_per_core_s())},
      {"seeds", cell.num_training_seeds()},
      {"blocks", cell.vs_baseline.blocks},
      {"replicas", cell.replicas},
      {"baseline", cell.baseline_score().name},
      {"baseline_chosen", cell.validated ? "validation" : "hindsight"},
      {"baseline_jct_s", cell.baseline_score().mean_jct_s},
      {"best_hindsight", cell.rivals[cell.best_hindsight].score.name},
      {"best_hindsight_jct_s", cell.rivals[cell.best_hindsight].score.mean_jct_s},
      {"hindsight_count", cell.rivals.size()},
      {"untrained",
       untrained_rival != nullptr ? rival_json(*untrained_rival, false) : Json(nullptr)},
      {"oracle", cell.oracle ? Json(cell.bounds[*cell.oracle].name) : Json(nullptr)},
      {"oracle_jct_s", cell.oracle ? Json(cell.bounds[*cell.oracle].mean_jct_s) : Json(nullptr)},
      {"no_bound", cell.facts.no_bound.empty() ? Json(nullptr) : Json(cell.facts.no_bound)},
      {"headroom", number(cell.oracle_headroom())},
      {"headroom_hindsight", number(cell.oracle_headroom_vs_best_in_hindsight())},
      {"test_openings", cell.test_openings},
      {"others", others_json(cell)},
      {"policies", rivals_json(cell)},
      {"bounds", bounds}};
}

Json summary_json(const SummaryRow& row) {
  const auto figure = [&](double value) { return row.finished ? number(value) : Json(nullptr); };
  Json out = {{"policy", row.policy}, {"group", row.group},           {"over", row.over},
              {"cells", row.cells},   {"conclusive", row.conclusive}, {"better", row.better},
              {"worse", row.worse}};
  const auto add = [&](const std::string& name, const Estimate& estimate) {
    out[name] = figure(estimate.value);
    out[name + "_lo"] = figure(estimate.interval.lo);
    out[name + "_hi"] = figure(estimate.interval.hi);
  };
  add("ratio", row.pooled.ratio);
  out["ratio_worst"] = figure(row.ratio.worst);
  add("ratio_hindsight", row.hindsight.ratio);
  out["conclusive_hindsight"] = row.hindsight.conclusive;
  add("oracle_gap_closed", row.pooled.oracle_gap_closed);
  add("iqm", row.pooled.iqm);
  add("probability_of_improvement", row.pooled.improvement);
  const auto add_spread = [&](const std::string& name, const MeanAndWorst& spread) {
    out[name] = figure(spread.mean);
    out[name + "_worst"] = figure(spread.worst);
  };
  add_spread("p99_ratio", row.p99);
  add_spread("largest_class_jct_ratio", row.largest_class);
  add_spread("max_wait_ratio", row.max_wait);
  add_spread("preemptions_ratio", row.preemptions);
  out["preemptions_per_job"] = figure(row.preemptions_per_job);
  out["rapid_repreemptions"] = figure(row.rapid_repreemptions);
  out["training_core_s"] = known(row.training_core_s);
  out["decisions_per_s"] = number(row.decisions_per_s);
  out["ratio_untrained"] = nullptr;
  out["against"] = Json::array();
  for (const PooledComparison& one : row.against) {
    if (one.policy == "untrained") {
      out["ratio_untrained"] = number(one.ratio.value);
      out["ratio_untrained_lo"] = number(one.ratio.interval.lo);
      out["ratio_untrained_hi"] = number(one.ratio.interval.hi);
    }
    out["against"].push_back({{"policy", one.policy},
                              {"candidate_ratio", number(one.ratio.value)},
                              {"lo", number(one.ratio.interval.lo)},
                              {"hi", number(one.ratio.interval.hi)},
                              {"conclusive", one.conclusive}});
  }
  return out;
}

}  // namespace yard::sim
