#include "experiments/evaluate/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "experiments/evaluate/test_log.h"
#include "experiments/replay/congestion.h"
#include "experiments/run/progress.h"

namespace yard {
namespace {

// All policies of the comparison, prepared before the first run: rivals, then bounds, candidates by
// seed, and their untrained networks.
struct ComparedPolicies {
  std::vector<PolicySpec> all;
  size_t rivals = 0, bounds = 0, num_candidates = 0;  // counts
  size_t family = 0;  // number of bounds from oracle_family(), which come first
  std::vector<std::vector<size_t>> candidates;  // indices by seed
  std::vector<std::vector<size_t>> untrained;   // of each candidate, without duplicates

  size_t first_candidate() const { return rivals + bounds; }
  size_t end_candidates() const { return first_candidate() + num_candidates; }
};

PolicyScore mean_of(const std::vector<PolicyScore>& scores, const std::string& name) {
  PolicyScore out = scores.front();
  out.name = name;
  const auto n = static_cast<double>(scores.size());
  const auto average = [&](const auto& figure) {
    double sum = 0;
    for (const PolicyScore& score : scores) sum += figure(score);
    return sum / n;
  };
  for (double PolicyScore::*figure :
       {&PolicyScore::mean_jct_s, &PolicyScore::p99_jct_s, &PolicyScore::max_wait_s,
        &PolicyScore::preemptions, &PolicyScore::migrations, &PolicyScore::rapid_repreemptions,
        &PolicyScore::ended_early, &PolicyScore::decisions, &PolicyScore::core_s}) {
    out.*figure = average([&](const PolicyScore& score) { return score.*figure; });
  }
  for (size_t b = 0; b < out.block_jct_s.size(); ++b) {
    out.block_jct_s[b] = average([&](const PolicyScore& score) { return score.block_jct_s[b]; });
  }
  for (size_t c = 0; c < out.class_jct_s.size(); ++c) {
    out.class_jct_s[c] = average([&](const PolicyScore& score) { return score.class_jct_s[c]; });
  }
  out.unfinished = 0;
  for (const PolicyScore& score : scores) out.unfinished += score.unfinished;
  return out;
}

class Evaluator {
 public:
  explicit Evaluator(const EvaluateOptions& options)
      : options_(options), results_(options.results) {
    prepare_policies();
    if (!results_.enabled()) return;
    std::set<bool> stops;
    for (const CellSpec& cell : options.cells) stops.insert(cell.allows_preemption());
    for (const CellSpec& cell : options.validation) stops.insert(cell.allows_preemption());
    for (PolicySpec& policy_spec : compared_.all) {
      for (const bool may : stops) policy_spec.inputs[may] = inputs_of(policy_spec, may);
    }
  }

  Evaluation run() {
    Evaluation out;
    select_reachable_cells(out);
    out.missing_time_limits_notes = notes_on_limits();
    for (const CellSpec& cell : options_.validation)
      validation_.emplace(cell.name, play(cell, true));
    for (const CellSpec& cell : options_.cells) {
      const int64_t openings = open_test(cell);
      const std::vector<PolicyScore> scores = play(cell, false);
      for (size_t c = 0; c < options_.candidates.size(); ++c) {
        out.cells.push_back(result_of(cell, scores, c));
        out.cells.back().test_openings = openings;
      }
    }
    return out;
  }

 private:
  // Skips cells whose target congestion cannot be reached, and cells whose baseline was to be
  // chosen only on such cells. Throws InputError if none is left.
  void select_reachable_cells(Evaluation& out) {
    const auto keep = [&](const CellSpec& cell, bool validation) {
      try {
        add_runner(cell, validation);
        return true;
      } catch (const CongestionUnreachable& error) {
        if (cell.sha256.empty()) throw;
        out.skipped.emplace_back(cell.name, error.what());
        if (options_.progress) options_.progress(std::string(error.what()) + ": left out");
        return false;
      }
    };
    std::erase_if(options_.validation, [&](const CellSpec& cell) { return !keep(cell, true); });
    std::erase_if(options_.cells, [&](CellSpec& cell) {
      const bool chooses = !cell.chosen_on.empty();
      std::erase_if(cell.chosen_on,
                    [&](const std::string& name) { return !runners_.contains(name); });
      if (!chooses || !cell.chosen_on.empty()) return !keep(cell, false);
      out.skipped.emplace_back(cell.name, "no cell is left to choose its baseline on");
      return true;
    });
    if (options_.cells.empty()) throw InputError(out.skipped.front().second);
  }

  void prepare_policies() {
    const RunOptions any = options_.run_of("");
    std::vector<PolicySpec> candidates, bounds = oracle_family(any), rivals;
    compared_.family = bounds.size();
    InformationLevel most = InformationLevel::kBlind;
    // A policy given alone and as a training seed is replayed once.
    std::map<std::string, size_t> spec_of;
    for (const CandidateSpec& candidate : options_.candidates) {
      std::vector<size_t>& indices = compared_.candidates.emplace_back();
      for (const std::string& name : candidate.policies) {
        const auto [known, fresh] = spec_of.emplace(name, candidates.size());
        indices.push_back(known->second);
        if (!fresh) continue;
        candidates.push_back(make_policy_spec(name, options_.run_of(name)));
        most = std::max(most, candidates.back().prepared.level);
      }
    }
    for (const std::string& name : options_.against) {
      PolicySpec policy_spec = make_policy_spec(name, options_.run_of(name));
      (is_oracle_bound(policy_spec.prepared.level) ? bounds : rivals)
          .push_back(std::move(policy_spec));
    }
    if (options_.against.empty()) rivals = servable_heuristics(most, any);
    compared_.rivals = rivals.size();
    compared_.bounds = bounds.size();
    compared_.num_candidates = candidates.size();
    std::vector<PolicySpec> untrained = untrained_of(candidates);
    for (auto* group : {&rivals, &bounds, &candidates, &untrained}) {
      std::move(group->begin(), group->end(), std::back_inserter(compared_.all));
    }
    for (std::vector<size_t>& indices : compared_.candidates) {
      for (size_t& i : indices) i += compared_.first_candidate();
    }
    for (std::vector<size_t>& indices : compared_.untrained) {
      for (size_t& i : indices) i += compared_.end_candidates();
    }
    for (size_t c = 0; c < options_.candidates.size(); ++c) {
      if (!rivals_of(c).empty()) continue;
      throw InputError("--against", "at least one policy that is not an oracle",
                       join(options_.against));
    }
  }

  // Returns the candidates' untrained networks; seeds with equal ones share an entry.
  std::vector<PolicySpec> untrained_of(const std::vector<PolicySpec>& candidates) {
    std::vector<PolicySpec> out;
    std::map<std::string, size_t> spec_of;  // by digest and settings
    for (const std::vector<size_t>& seeds : compared_.candidates) {
      std::vector<size_t>& untrained_specs = compared_.untrained.emplace_back();
      for (const size_t i : seeds) {
        const PolicySpec& trained = candidates[i];
        if (trained.prepared.untrained.empty()) continue;
        PolicySpec self = make_policy_spec(trained.prepared.untrained, trained.options);
        std::string key = self.prepared.digest;
        for (const GivenSetting& s : self.options.policy.entries())
          key += ' ' + s.key + '=' + s.value;
        const auto [known, fresh] = spec_of.emplace(key, out.size());
        if (fresh) out.push_back(std::move(self));
        if (std::ranges::find(untrained_specs, known->second) == untrained_specs.end()) {
          untrained_specs.push_back(known->second);
        }
      }
    }
    return out;
  }

  // Without --against, rivals have no more information than the candidate and are not part of it.
  std::vector<size_t> rivals_of(size_t candidate) const {
    InformationLevel most = InformationLevel::kBlind;
    std::set<std::string> own;
    for (const size_t i : compared_.candidates[candidate]) {
      most = std::max(most, compared_.all[i].prepared.level);
      own.insert(compared_.all[i].name);
    }
    std::vector<size_t> out;
    for (size_t i = 0; i < compared_.rivals; ++i) {
      const PolicySpec& rival = compared_.all[i];
      const bool fair = rival.prepared.level <= most && !own.contains(rival.name);
      if (fair || !options_.against.empty()) out.push_back(i);
    }
    return out;
  }

  // Returns the policies to run in a cell: only rivals where the baseline is chosen; no oracle
  // family where an oracle is no bound.
  std::vector<size_t> policies_in(const CellFacts& facts, bool validation) const {
    std::vector<size_t> out;
    for (size_t i = 0; i < (validation ? compared_.rivals : compared_.all.size()); ++i) {
      if (!in_family(i) || facts.no_bound.empty()) out.push_back(i);
    }
    return out;
  }
  bool in_family(size_t i) const {
    return i >= compared_.rivals && i < compared_.rivals + compared_.family;
  }

  void add_runner(const CellSpec& cell, bool validation) {
    if (options_.progress) options_.progress("preparing cell " + cell.name);
    const auto [it, fresh] =
        runners_.emplace(cell.name, CellRunner(cell, options_.run_of(""), results_, sources_));
    const CellRunner& runner = it->second;
    for (const size_t i : policies_in(runner.facts(), validation)) {
      const PolicySpec& policy_spec = compared_.all[i];
      if (runner.has_stored_score(policy_spec)) continue;
      eta_.expect_work(policy_spec.name, work(runner), cell.replicas);
    }
  }

  static double work(const CellRunner& runner) {
    return static_cast<double>(runner.facts().jobs) * (1 + runner.facts().congestion);
  }

  // Returns scores by index into compared_.all; those of policies that do not run are empty.
  std::vector<PolicyScore> play(const CellSpec& cell, bool validation) {
    CellRunner& runner = runners_.at(cell.name);
    const std::vector<size_t> indices = policies_in(runner.facts(), validation);
    std::vector<const PolicySpec*> to_run;
    for (const size_t i : indices) to_run.push_back(&compared_.all[i]);
    const std::vector<PolicyScore> scores =
        runner.scores(to_run, [&](const PolicySpec& policy_spec, double wall_s) {
          eta_.done(policy_spec.name, work(runner), wall_s);
          if (options_.progress) {
            options_.progress(cell.name + ", " + policy_spec.name + ": " + eta_.text());
          }
        });
    std::vector<PolicyScore> out(compared_.all.size());
    for (size_t k = 0; k < indices.size(); ++k) out[indices[k]] = scores[k];
    return out;
  }

  std::vector<std::string> notes_on_limits() const {
    for (const CellSpec& cell : options_.cells) {
      if (runners_.at(cell.name).facts().limits) return {};
    }
    std::vector<const PreparedPolicy*> policies_in;
    for (size_t i = 0; i < compared_.end_candidates(); ++i) {
      const bool bound = i >= compared_.rivals && i < compared_.rivals + compared_.bounds;
      if (!bound) policies_in.push_back(&compared_.all[i].prepared);
    }
    return missing_time_limits_notes(policies_in);
  }

  // Logs that the candidates open a trace's last fifth: one opening for all congestions, cluster
  // sizes and loads.
  int64_t open_test(const CellSpec& cell) {
    const CellFacts& facts = runners_.at(cell.name).facts();
    if (!facts.opens_test || options_.test_log.empty()) return 0;
    const double length_s = (facts.to_s - facts.from_s) / facts.factor;  // in trace time
    TestSplitOpening opening{.trace = facts.trace,
                             .sha256 = facts.sha256,
                             .cluster = cell.scenario.cluster,
                             .from = shortest_text(std::round(facts.from_s)),
                             .to = shortest_text(std::round(facts.from_s + length_s))};
    std::string inputs;
    for (size_t i = compared_.first_candidate(); i < compared_.end_candidates(); ++i) {
      const PolicySpec& policy_spec = compared_.all[i];
      opening.candidates.push_back(policy_spec.name);
      const std::string& digest = policy_spec.prepared.digest;
      if (!digest.empty()) opening.digests.push_back(digest);
      if (results_.enabled()) inputs += policy_spec.inputs.at(cell.allows_preemption());
    }
    if (results_.enabled()) opening.inputs = sha256_hex(inputs);
    const std::array<std::string, 5> key = {opening.sha256, opening.cluster, opening.from,
                                            opening.to, opening.inputs};
    const auto [it, fresh] = openings_.emplace(key, 0);
    if (fresh) it->second = log_test_split_opening(options_.test_log, opening);
    return it->second;
  }

  CellResult result_of(const CellSpec& spec, const std::vector<PolicyScore>& scores,
                       size_t candidate) {
    CellResult cell;
    cell.cell = spec.name;
    cell.cell_hash = results_.enabled() || !spec.sha256.empty() ? hash_of(spec) : "";
    cell.facts = runners_.at(spec.name).facts();
    cell.rules = options_.run_of("").rules;
    cell.cost_scale = spec.scenario.cost_scale;
    cell.variation = spec.scenario.variation;
    cell.replicas = spec.replicas;
    cell.candidate_name = options_.candidates[candidate].name;
    cell.validated = !spec.chosen_on.empty();
    const std::vector<size_t>& seeds = compared_.candidates[candidate];
    for (const size_t i : seeds) cell.candidates.push_back(scores[i]);
    cell.training_core_s = training_core_s(seeds);
    for (size_t i = compared_.rivals; i < compared_.rivals + compared_.bounds; ++i) {
      if (!in_family(i) || cell.facts.no_bound.empty()) cell.bounds.push_back(scores[i]);
    }
    for (const size_t i : rivals_of(candidate)) {
      cell.rivals.push_back({scores[i], cell.validated ? selection_jct_s(spec, i) : 0, {}});
    }
    for (const std::vector<size_t>& other : compared_.candidates) {
      if (other.size() > 1 || other == seeds) continue;
      cell.others.push_back({scores[other.front()], 0, {}});
    }
    std::vector<PolicyScore> untrained_specs;
    for (const size_t i : compared_.untrained[candidate]) untrained_specs.push_back(scores[i]);
    if (!untrained_specs.empty()) {
      cell.untrained = cell.others.size();
      cell.others.push_back({mean_of(untrained_specs, "untrained"), 0, {}});
    }
    compute_derived_fields(cell);
    return cell;
  }

  // Mean over seeds; 0 if one is unknown.
  double training_core_s(const std::vector<size_t>& seeds) const {
    double sum = 0;
    for (const size_t i : seeds) {
      const double core_s = compared_.all[i].prepared.core_s;
      if (core_s <= 0) return 0;
      sum += core_s;
    }
    return sum / static_cast<double>(seeds.size());
  }

  // Rival `i`'s geometric mean JCT, by which the baseline is chosen; infinite if unfinished.
  double selection_jct_s(const CellSpec& spec, size_t i) const {
    double sum = 0;
    for (const std::string& name : spec.chosen_on) {
      const PolicyScore& score = validation_.at(name)[i];
      if (score.unfinished > 0) return std::numeric_limits<double>::infinity();
      sum += std::log(score.mean_jct_s);
    }
    return std::exp(sum / static_cast<double>(spec.chosen_on.size()));
  }

  EvaluateOptions options_;
  ResultFolder results_;
  TraceOnClusterCache sources_;
  ComparedPolicies compared_;
  std::map<std::string, CellRunner> runners_;
  std::map<std::string, std::vector<PolicyScore>> validation_;  // of rivals, by cell
  std::map<std::array<std::string, 5>, int64_t> openings_;      // of this call
  Eta eta_;
};

}  // namespace

Evaluation evaluate(const EvaluateOptions& options) { return Evaluator(options).run(); }

}  // namespace yard
