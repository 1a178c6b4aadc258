#include "experiments/search/candidate_evaluator.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "experiments/run/parallel.h"

namespace yard {
namespace {

using Json = ResultFolder::Json;

constexpr double kUnfinishedJct = std::numeric_limits<double>::infinity();
constexpr const char* kPlace = "tune";

double work(const Scenario& scenario) {
  return static_cast<double>(scenario.window.scored) * (1 + scenario.congestion);
}

// JSON has no infinity: it becomes null.
Json json_of(const MeanJcts& jct_s) {
  Json out = Json::array();
  for (const double s : jct_s) out.push_back(s < kUnfinishedJct ? Json(s) : Json(nullptr));
  return out;
}

MeanJcts jcts_of(const Json& json) {
  MeanJcts out;
  for (const Json& s : json) out.push_back(s.is_number() ? s.get<double>() : kUnfinishedJct);
  return out;
}

}  // namespace

TuneCell::TuneCell(std::string name_in, Scenario scenario_in, int count, uint64_t seed)
    : name(std::move(name_in)),
      scenario(std::move(scenario_in)),
      replicas(replicas_of(scenario, count, seed)) {}

CandidateEvaluator::CandidateEvaluator(const std::vector<TuneCell>& cells,
                                       const std::string& results)
    : cells_(cells),
      results_(results),
      stops_(std::all_of(cells.begin(), cells.end(),
                         [](const TuneCell& cell) { return cell.scenario.fixed.allows.preempt; })) {
  for (size_t c = 0; c < cells.size(); ++c) {
    for (size_t r = 0; r < cells[c].replicas.size(); ++r) replays_.push_back({c, r});
  }
  // Longest first, so that no core waits long for another at the end.
  std::ranges::stable_sort(replays_, std::greater<>(), [&](const ReplicaIndex& replay) {
    return work(cells[replay.cell].scenario);
  });
}

Json CandidateEvaluator::inputs_of(const PolicySpec& policy_spec) const {
  Json cells = Json::array();
  for (const TuneCell& cell : cells_) cells.push_back({cell.hash, cell.replicas.size()});
  return {{"cells", cells}, {"policy", Json::parse(policy_spec.inputs.at(stops_))}};
}

std::vector<MeanJcts> CandidateEvaluator::evaluate(
    const std::string& policy, const std::vector<RunOptions>& candidates) const {
  std::vector<MeanJcts> out(candidates.size());
  std::vector<PolicySpec> to_run;
  std::vector<size_t> indices;  // indices into candidates
  for (size_t i = 0; i < candidates.size(); ++i) {
    try {
      PolicySpec policy_spec = make_policy_spec(policy, candidates[i]);
      if (results_.enabled()) {
        policy_spec.inputs[stops_] = yard::inputs_of(policy_spec, stops_);
        const Json inputs = inputs_of(policy_spec);
        if (const auto known = results_.find(kPlace, policy, inputs, jcts_of)) {
          out[i] = *known;
          continue;
        }
      }
      to_run.push_back(std::move(policy_spec));
      indices.push_back(i);
    } catch (const InputError&) {
    }
  }
  // (candidates to replay, cells, replicas)
  std::vector<std::vector<std::vector<double>>> jct_s(to_run.size());
  for (auto& of : jct_s) {
    for (const TuneCell& cell : cells_) of.emplace_back(cell.replicas.size());
  }
  parallel_for_each_index(static_cast<int>(replays_.size() * to_run.size()), [&](int i) {
    throw_if_interrupted();
    const size_t p = static_cast<size_t>(i) % to_run.size();
    const ReplicaIndex replay = replays_[static_cast<size_t>(i) / to_run.size()];
    const Scenario& scenario = cells_[replay.cell].replicas[replay.replica];
    const JctSummary all =
        run_prepared(scenario, to_run[p].prepared, to_run[p].options).summary.all;
    jct_s[p][replay.cell][replay.replica] =
        all.finished < all.jobs ? kUnfinishedJct : all.mean_jct_s;
  });
  for (size_t p = 0; p < to_run.size(); ++p) {
    MeanJcts& means = out[indices[p]];
    for (const std::vector<double>& of : jct_s[p]) {
      means.push_back(std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size()));
    }
    if (results_.enabled()) {
      results_.keep(kPlace, policy, inputs_of(to_run[p]), json_of(means));
    }
  }
  return out;
}

}  // namespace yard
